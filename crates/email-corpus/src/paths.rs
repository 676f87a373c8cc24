use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{CorpusError, EmailRecord};

/// The folder that message paths are relative to, and nothing outside it.
#[derive(Debug, Clone)]
pub struct BaseFolder {
    /// With every symlink resolved.
    canonical: PathBuf,
}

impl BaseFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// It is missing or no folder.
    pub fn open(path: &Path) -> Result<Self, CorpusError> {
        let canonical = fs::canonicalize(path).map_err(CorpusError::io(path))?;
        if !canonical.is_dir() {
            return Err(CorpusError::Input { path: path.to_owned(), message: "is no folder".into() });
        }
        Ok(Self { canonical })
    }

    /// The file that holds the record's message, or `None` for a record that is scored from its fields.
    ///
    /// # Errors
    /// The path is absolute, has a `..`, a backslash or a NUL, leaves the folder through a symlink, is missing, or is no ordinary file.
    pub fn locate(&self, record: &EmailRecord) -> Result<Option<PathBuf>, CorpusError> {
        record.eml_path.as_ref().map(|path| self.find(&record.id, path)).transpose()
    }

    /// The file at a path that a record of this id gives.
    ///
    /// # Errors
    /// Those of [`BaseFolder::locate`].
    pub fn find(&self, id: &str, path: &str) -> Result<PathBuf, CorpusError> {
        self.resolve(path).map_err(|reason| CorpusError::MessagePath {
            id: id.to_owned(),
            path: path.to_owned(),
            reason,
        })
    }

    /// The bytes of the record's message, or `None` for a record that is scored from its fields.
    ///
    /// # Errors
    /// Those of [`BaseFolder::locate`], and a file that cannot be read.
    pub fn read(&self, record: &EmailRecord) -> Result<Option<Vec<u8>>, CorpusError> {
        let Some(file) = self.locate(record)? else { return Ok(None) };
        fs::read(&file).map(Some).map_err(CorpusError::io(file))
    }

    fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        relative(path)?;
        let full = self.canonical.join(path);
        let real = fs::canonicalize(&full).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => "is missing".to_owned(),
            _ => format!("cannot be opened: {e}"),
        })?;
        if !real.starts_with(&self.canonical) {
            return Err("leaves the base folder through a symlink".into());
        }
        if !real.is_file() {
            return Err("is no ordinary file".into());
        }
        Ok(real)
    }
}

/// Checks that the path is relative, goes only downwards and means the same on every system.
pub(crate) fn relative(path: &str) -> Result<(), String> {
    if path.is_empty() {
        return Err("is empty".into());
    }
    if path.contains(['\\', '\0']) {
        return Err("holds a backslash or NUL".into());
    }
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with('/') || drive {
        return Err("is absolute".into());
    }
    for part in Path::new(path).components() {
        match part {
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => return Err("leaves the base folder with `..`".into()),
            Component::RootDir | Component::Prefix(_) => return Err("is absolute".into()),
        }
    }
    Ok(())
}
