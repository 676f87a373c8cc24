use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::file::read;
use crate::{Chunking, ClassifierError};

const BUILT_IN: &str = include_str!("../models.toml");

/// The models that are known by name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    models: BTreeMap<String, ModelEntry>,
}

/// One model of the registry.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelEntry {
    /// `publisher/name`: the hub repository, or a name for what packages carry.
    pub model: String,
    /// The pinned commit, or a package's version; `None` where no commit is pinned.
    pub revision: Option<String>,
    /// The label whose probability is the score.
    pub positive_label: String,
    /// The licence as its publisher states it, where it has been read.
    pub licence: Option<String>,
    /// Whether the hub gives it only to those who accepted its terms.
    pub gated: bool,
    /// The `model_type` that its config must have, where it is known.
    pub architecture: Option<String>,
    /// Tokens of a window, where they differ from the published 510.
    pub window_tokens: Option<usize>,
    /// Tokens from window to window, where they differ from the published 256.
    pub stride_tokens: Option<usize>,
    /// The packages that carry the files, for a model that no hub is needed for.
    pub packages: Option<Packages>,
    /// SHA-256 of files, in lower-case hex, by name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

/// The packages that carry a model's files.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Packages {
    /// A wheel on PyPI that carries the encoder.
    pub wheel: Package,
    /// A crate on the crate registry that carries the head.
    #[serde(rename = "crate")]
    pub krate: Package,
}

/// A package at one version.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Package {
    /// Its name in its registry.
    pub name: String,
    /// The version.
    pub version: String,
    /// SHA-256 of the package file, in lower-case hex.
    pub sha256: String,
}

impl ModelEntry {
    /// How texts are cut for this model unless the user says otherwise.
    ///
    /// # Errors
    /// A stride longer than the window.
    pub fn chunking(&self) -> Result<Chunking, ClassifierError> {
        let window = self.window_tokens.unwrap_or(Chunking::PUBLISHED.window_tokens);
        Chunking::new(window, self.stride_tokens.unwrap_or(Chunking::PUBLISHED.stride_tokens), None)
    }
}

impl Registry {
    /// The registry that comes with the library.
    ///
    /// # Errors
    /// None in a released library; a test reads it.
    pub fn built_in() -> Result<Self, ClassifierError> {
        Self::parse("models.toml", BUILT_IN)
    }

    /// A registry of one's own, in the same format.
    ///
    /// # Errors
    /// A file that cannot be read or is no registry.
    pub fn read(path: &Path) -> Result<Self, ClassifierError> {
        let name = path.display().to_string();
        let bytes = read(path)?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| ClassifierError::Registry { file: name.clone(), message: "not UTF-8".to_owned() })?;
        Self::parse(&name, text)
    }

    fn parse(file: &str, text: &str) -> Result<Self, ClassifierError> {
        let refused = |message: String| ClassifierError::Registry { file: file.to_owned(), message };
        let registry: Self = toml::from_str(text).map_err(|e| refused(e.to_string()))?;
        for (key, entry) in &registry.models {
            entry.chunking().map_err(|e| refused(format!("{key}: {e}")))?;
        }
        Ok(registry)
    }

    /// A model by its key.
    ///
    /// # Errors
    /// A key that is not there, listing those that are.
    pub fn get(&self, key: &str) -> Result<&ModelEntry, ClassifierError> {
        self.models.get(key).ok_or_else(|| ClassifierError::UnknownModel {
            key: key.to_owned(),
            known: self.models.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }

    /// The models by key, in order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ModelEntry)> {
        self.models.iter().map(|(k, e)| (k.as_str(), e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_registry_reads() {
        let registry = Registry::built_in().unwrap();
        assert_eq!(registry.iter().count(), 8);
        let protectai = registry.get("protectai").unwrap();
        assert_eq!(protectai.chunking().unwrap(), Chunking::PUBLISHED);
        for (key, entry) in registry.iter() {
            for digest in entry.files.values() {
                assert!(digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{key} {digest}");
            }
        }
        let error = registry.get("nobody").unwrap_err().to_string();
        assert!(error.contains("nobody") && error.contains("protectai"), "{error}");
    }

    #[test]
    fn what_is_no_registry_is_refused() {
        let error = Registry::parse("mine.toml", "[models.x]\nmodel = 1").unwrap_err().to_string();
        assert!(error.starts_with("mine.toml: "), "{error}");
        let long = "[models.x]\nmodel='a/b'\nrevision='r'\npositive_label='X'\ngated=false\nwindow_tokens=10\nstride_tokens=11";
        assert!(Registry::parse("mine.toml", long).unwrap_err().to_string().contains("unread"));
    }
}
