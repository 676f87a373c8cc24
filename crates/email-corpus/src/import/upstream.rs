use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{MailFile, read_mail};
use crate::CorpusError;
use crate::manifest::{file_digest, hex};

/// A data set of other people that the benchmark is built from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Source {
    /// Short name.
    pub name: String,
    /// Full name.
    pub title: String,
    /// Where its owners publish it.
    pub address: String,
    /// The licence as they state it.
    pub licence: String,
    /// Whether that licence lets everyone pass the data on.
    pub redistributable: bool,
    /// What to know of it.
    pub note: String,
    /// The files it is read from.
    #[serde(default, rename = "input")]
    pub inputs: Vec<Input>,
}

/// A file, folder or archive of a source.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Input {
    /// Short name.
    pub name: String,
    /// Where it may stand in the upstream folder; the first that is there is read.
    pub paths: Vec<String>,
    /// Items it holds, where known.
    #[serde(default)]
    pub items: Option<u64>,
    /// SHA-256, where known: of the file, or of a set of messages as the lock computes it.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// The sources of the benchmark, from the embedded `dataset/sources.toml`.
///
/// # Errors
/// The embedded file does not parse.
pub fn sources() -> Result<Vec<Source>, CorpusError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(rename = "schema")]
        _schema: u32,
        source: Vec<Source>,
    }
    let wrong = |e: toml::de::Error| CorpusError::Input { path: "sources.toml".into(), message: e.to_string() };
    toml::from_str(wardline_dataset::SOURCES).map(|file: File| file.source).map_err(wrong)
}

/// An input that a build has read, for the lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct UsedInput {
    /// The input's name.
    pub name: String,
    /// SHA-256 as [`Input::sha256`].
    pub sha256: String,
    /// Whether that was known before.
    pub pinned: bool,
}

/// The user's folder of other people's data sets.
#[derive(Debug)]
pub struct Upstream {
    folder: PathBuf,
    accept_unpinned: bool,
    inputs: Vec<Input>,
    used: Vec<UsedInput>,
}

impl Upstream {
    /// Opens the folder. With `accept_unpinned` an input whose digest is not the pinned one is taken all the same.
    ///
    /// # Errors
    /// The folder is missing.
    pub fn open(folder: &Path, accept_unpinned: bool) -> Result<Self, CorpusError> {
        if !folder.is_dir() {
            return Err(CorpusError::Input { path: folder.to_owned(), message: "is no folder".into() });
        }
        let inputs = sources()?.into_iter().flat_map(|s| s.inputs).collect();
        Ok(Self { folder: folder.to_owned(), accept_unpinned, inputs, used: Vec::new() })
    }

    /// What has been read so far, by name.
    #[must_use]
    pub fn used(&self) -> Vec<UsedInput> {
        let mut used = self.used.clone();
        used.sort();
        used
    }

    /// The path of an input that is one file, its digest checked.
    ///
    /// # Errors
    /// It is missing, or its digest is not the pinned one.
    pub fn file(&mut self, name: &str) -> Result<PathBuf, CorpusError> {
        let (input, path) = self.find(name)?;
        self.note(&input, &path, hex(&file_digest(&path)?))?;
        Ok(path)
    }

    /// The messages of an input that is a folder, an archive or a mailbox file, their digest checked.
    ///
    /// # Errors
    /// It is missing, cannot be read, or its digest is not the pinned one.
    pub fn mail(&mut self, name: &str) -> Result<Vec<MailFile>, CorpusError> {
        let (input, path) = self.find(name)?;
        let mail = read_mail(&path)?;
        let mut all = Sha256::new();
        for file in &mail {
            all.update(format!("{}  {}\n", hex(&Sha256::digest(&file.bytes)), file.name));
        }
        self.note(&input, &path, hex(&all.finalize()))?;
        Ok(mail)
    }

    /// Whether the input is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    fn find(&self, name: &str) -> Result<(Input, PathBuf), CorpusError> {
        let wrong = |message: String| CorpusError::Input { path: self.folder.clone(), message };
        let input =
            self.inputs.iter().find(|i| i.name == name).ok_or_else(|| wrong(format!("no input is named {name:?}")))?;
        let path = input.paths.iter().map(|p| self.folder.join(p)).find(|p| p.exists());
        let path = path.ok_or_else(|| wrong(format!("has no {} (input {name})", input.paths.join(" nor "))))?;
        Ok((input.clone(), path))
    }

    fn note(&mut self, input: &Input, path: &Path, sha256: String) -> Result<(), CorpusError> {
        let pinned = input.sha256.as_ref();
        if let Some(pinned) = pinned.filter(|pinned| **pinned != sha256 && !self.accept_unpinned) {
            let message = format!("has the SHA-256 {sha256}, and {pinned} is pinned");
            return Err(CorpusError::Input { path: path.to_owned(), message });
        }
        self.used.push(UsedInput { name: input.name.clone(), pinned: pinned == Some(&sha256), sha256 });
        Ok(())
    }
}
