use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{CorpusError, EmailRecord};

/// Writes a manifest beside its final name and moves it there at the end, so that a half-written one is never seen.
///
/// Dropping the writer without [`ManifestWriter::finish`] leaves what stood at the path untouched.
pub struct ManifestWriter {
    out: Option<BufWriter<File>>,
    partial: PathBuf,
    path: PathBuf,
    written: u64,
}

impl ManifestWriter {
    /// Begins a manifest that will stand at the path; its folder is made if it is missing.
    ///
    /// # Errors
    /// The folder or the file beside the path cannot be made.
    pub fn create(path: &Path) -> Result<Self, CorpusError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(CorpusError::io(folder))?;
        }
        let partial = partial_name(path);
        let file = File::create(&partial).map_err(CorpusError::io(&partial))?;
        Ok(Self { out: Some(BufWriter::with_capacity(1 << 16, file)), partial, path: path.to_owned(), written: 0 })
    }

    /// Writes one record as one line.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, record: &EmailRecord) -> Result<(), CorpusError> {
        let mut line =
            record.to_line().map_err(|e| CorpusError::Render { id: record.id.clone(), message: e.to_string() })?;
        line.push('\n');
        if let Some(out) = &mut self.out {
            out.write_all(line.as_bytes()).map_err(CorpusError::io(&self.partial))?;
        }
        self.written += 1;
        Ok(())
    }

    /// Puts the manifest in its place and gives the number of records.
    ///
    /// # Errors
    /// The file cannot be written or moved.
    pub fn finish(mut self) -> Result<u64, CorpusError> {
        if let Some(out) = self.out.take() {
            let file = out.into_inner().map_err(|e| CorpusError::io(&self.partial)(e.into_error()))?;
            file.sync_all().map_err(CorpusError::io(&self.partial))?;
            fs::rename(&self.partial, &self.path).map_err(CorpusError::io(&self.path))?;
        }
        Ok(self.written)
    }
}

impl Drop for ManifestWriter {
    fn drop(&mut self) {
        if self.out.take().is_some() {
            // The file is rubbish now; nothing can be done when it cannot be removed.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    path.with_file_name(name)
}

/// Writes a whole file beside its final name and moves it there; its folder is made if it is missing.
///
/// # Errors
/// The folder or the file cannot be written or moved.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), CorpusError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(CorpusError::io(folder))?;
    }
    let partial = partial_name(path);
    fs::write(&partial, bytes).map_err(CorpusError::io(&partial))?;
    fs::rename(&partial, path).map_err(CorpusError::io(path))
}
