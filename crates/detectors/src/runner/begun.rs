use std::fs;
use std::path::{Path, PathBuf};

use super::lock::{FolderLock, LOCK};
use crate::DetectorError;

/// What a start has put in place. Unless it is kept, all of it is taken away again, still under the folder's lock.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) kept: bool,
    files: Vec<PathBuf>,
    /// The innermost first.
    folders: Vec<PathBuf>,
    _lock: Option<FolderLock>,
}

impl Begun {
    /// Makes a folder, where it is missing, and locks it.
    pub(crate) fn folder(path: &Path) -> Result<Self, DetectorError> {
        let missing = path.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists());
        let folders = missing.map(Path::to_owned).collect();
        let mut begun = Self { kept: false, files: Vec::new(), folders, _lock: None };
        fs::create_dir_all(path).map_err(DetectorError::io(path))?;
        let lock = path.join(LOCK);
        let new = !lock.exists();
        begun._lock = Some(FolderLock::take(path)?);
        if new {
            begun.files.push(lock);
        }
        Ok(begun)
    }

    /// A file that this start is about to make; one that stands there already is not its own.
    pub(crate) fn file(&mut self, path: PathBuf) {
        if !path.exists() {
            self.files.push(path);
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // The lock's file goes last of the files, so that nobody comes in before. What is not there, or holds more, stays as it is.
        for file in self.files.iter().rev() {
            let _ = fs::remove_file(file);
        }
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}
