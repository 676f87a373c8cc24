//! Files: every error names the path, and a file is written beside its place and renamed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::ClassifierError;

pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> ClassifierError + '_ {
    move |source| ClassifierError::Io { path: path.to_owned(), source }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, ClassifierError> {
    fs::read(path).map_err(io(path))
}

/// Writes to `<name>.part` in the same folder, which is made when it is missing, and renames. What is no file, such as a device, is not
/// replaced.
pub(crate) fn write_beside(path: &Path, bytes: &[u8]) -> Result<(), ClassifierError> {
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(io(path)(std::io::Error::other("is there and is no file")));
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io(folder))?;
    }
    let part = part(path);
    let written = fs::File::create(&part).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(source) = written.and_then(|()| fs::rename(&part, path)) {
        // The error of the write is the one to tell; a part that stays is overwritten next time.
        let _ = fs::remove_file(&part);
        return Err(ClassifierError::Io { path: path.to_owned(), source });
    }
    Ok(())
}

pub(crate) fn part(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}
