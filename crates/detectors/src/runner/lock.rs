use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::DetectorError;

/// The lock's file in the folder.
pub(crate) const LOCK: &str = ".lock";

/// Keeps a second run out of a folder. The system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    pub(crate) fn take(folder: &Path) -> Result<Self, DetectorError> {
        let path = folder.join(LOCK);
        let mut options = OpenOptions::new();
        let file = options.create(true).write(true).truncate(false).open(&path).map_err(DetectorError::io(&path))?;
        match file.try_lock() {
            // A run that leaves nothing takes its lock's file away: a lock on that one would keep nobody out.
            Ok(()) if !stands_at(&file, &path) => Err(DetectorError::Locked { path: folder.to_owned() }),
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(DetectorError::Locked { path: folder.to_owned() }),
            Err(TryLockError::Error(e)) => Err(DetectorError::io(&path)(e)),
        }
    }
}

#[cfg(unix)]
fn stands_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |m: std::fs::Metadata| (m.dev(), m.ino());
    match (file.metadata(), path.metadata()) {
        (Ok(ours), Ok(there)) => place(ours) == place(there),
        _ => false,
    }
}

#[cfg(not(unix))]
fn stands_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = FolderLock::take(folder.path()).unwrap();
        let error = FolderLock::take(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("another run is at work in this folder"), "{error}");
        drop(first);
        FolderLock::take(folder.path()).unwrap();
    }
}
