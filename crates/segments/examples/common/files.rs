//! The files of a folder, for examples and tests.

use std::path::{Path, PathBuf};

/// A file, or every file under a folder, sorted.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut inside: Vec<PathBuf> =
        entries.map(|e| e.unwrap_or_else(|e| panic!("{}: {e}", path.display())).path()).collect();
    inside.sort();
    inside.iter().flat_map(|p| files(p)).collect()
}
