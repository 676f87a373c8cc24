use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::Failure;

/// The folder of built corpora, models and score tables, and where the choice came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataDir {
    /// The folder; it need not exist yet.
    pub path: PathBuf,
    /// `--data-dir`, `WARDLINE_DATA`, `checkout` or `user data folder`.
    pub chosen_by: &'static str,
}

/// Chooses the data folder: `--data-dir`, else `WARDLINE_DATA`, else `data/` of the checkout that holds the current folder, else
/// the platform's user data folder.
///
/// # Errors
/// An empty `WARDLINE_DATA`, or no home folder to put the user data folder in.
pub fn data_dir(flag: Option<&Path>) -> Result<DataDir, Failure> {
    if let Some(path) = flag {
        return Ok(DataDir { path: path.to_owned(), chosen_by: "--data-dir" });
    }
    #[expect(clippy::disallowed_methods, reason = "WARDLINE_DATA is the documented setting of the command lines")]
    if let Some(path) = std::env::var_os("WARDLINE_DATA") {
        if path.is_empty() {
            return Err(Failure::usage("WARDLINE_DATA is set but empty"));
        }
        return Ok(DataDir { path: path.into(), chosen_by: "WARDLINE_DATA" });
    }
    let here = std::env::current_dir()?;
    if let Some(root) =
        here.ancestors().find(|d| d.join("crates/defense/Cargo.toml").is_file() && d.join("xtask").is_dir())
    {
        return Ok(DataDir { path: root.join("data"), chosen_by: "checkout" });
    }
    let base = etcetera::choose_base_strategy()
        .map_err(|e| Failure::usage(format!("no user data folder ({e}); give --data-dir")))?;
    Ok(DataDir { path: base.data_dir().join("wardline"), chosen_by: "user data folder" })
}
