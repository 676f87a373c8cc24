use std::fs;
use std::path::{Path, PathBuf};

use crate::AnalysisError;

/// A folder that results are written to, found to be writable before anything is computed.
#[derive(Debug, Clone)]
pub struct OutputFolder(PathBuf);

impl OutputFolder {
    /// Makes the folder if it is missing, and tries it.
    ///
    /// # Errors
    /// The folder cannot be made or written to.
    pub fn open(path: &Path) -> Result<Self, AnalysisError> {
        fs::create_dir_all(path).map_err(AnalysisError::io(path))?;
        let probe = path.join(".wardline-probe");
        fs::write(&probe, b"").map_err(AnalysisError::io(path))?;
        fs::remove_file(&probe).map_err(AnalysisError::io(&probe))?;
        Ok(Self(path.to_owned()))
    }

    /// Writes a file beside its final name and moves it there.
    ///
    /// # Errors
    /// The file cannot be written or moved.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, AnalysisError> {
        let path = self.0.join(name);
        let partial = self.0.join(format!("{name}.partial"));
        fs::write(&partial, bytes).map_err(AnalysisError::io(&partial))?;
        fs::rename(&partial, &path).map_err(AnalysisError::io(&path))?;
        Ok(path)
    }
}
