//! `fetched.json`: where the files of a model's folder came from.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ClassifierError;
use crate::file::read;
#[cfg(feature = "hub")]
use crate::file::write_beside;

const NAME: &str = "fetched.json";

/// What was fetched from a hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fetched {
    /// The hub repository.
    pub model: String,
    /// The commit that the files are of.
    pub revision: String,
    /// What was asked for instead of the pinned commit; else empty.
    pub requested_revision: String,
    /// SHA-256 of each file in lower-case hex.
    pub files: BTreeMap<String, String>,
}

impl Fetched {
    /// What the folder's files are, if a hub gave them.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, ClassifierError> {
        let path = folder.join(NAME);
        if !path.is_file() {
            return Ok(None);
        }
        serde_json::from_slice(&read(&path)?).map(Some).map_err(|e| ClassifierError::Model {
            model: folder.display().to_string(),
            message: format!("{NAME} cannot be read: {e}"),
        })
    }

    #[cfg(feature = "hub")]
    pub(crate) fn write(&self, folder: &Path) -> Result<(), ClassifierError> {
        let json = serde_json::to_string_pretty(self).unwrap_or_default();
        write_beside(&folder.join(NAME), json.as_bytes())
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}
