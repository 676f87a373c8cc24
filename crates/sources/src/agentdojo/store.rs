//! Built files: where they lie, and whether they are what the lock says.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::check::{describe, first_difference};
use super::{CorpusName, lock};
use crate::{Corpus, Error, Result, corpus, digest};

/// Whether a corpus can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// There is no file.
    Missing,
    /// The file is what the lock says.
    Built,
    /// The file is as another release built it.
    Stale,
    /// The file was changed after it was built.
    Changed,
}

impl Status {
    /// One lower-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Built => "built",
            Self::Stale => "stale",
            Self::Changed => "changed",
        }
    }
}

/// Where the corpus lies in a data folder.
pub fn file(data_dir: &Path, name: CorpusName) -> PathBuf {
    folder(data_dir).join(name.file_name())
}

pub(crate) fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("agentdojo")
}

/// The digest that was written beside a file when it was built, in the format of `sha256sum`.
pub(crate) fn digest_file(data_dir: &Path, name: CorpusName) -> PathBuf {
    folder(data_dir).join(format!("{}.sha256", name.stem()))
}

/// Whether the corpus can be used. Reads the whole file.
///
/// # Errors
/// A file that is there and cannot be read.
pub fn status(data_dir: &Path, name: CorpusName) -> Result<Status> {
    match read(data_dir, name) {
        Ok(bytes) => Ok(judge(data_dir, name, &bytes)),
        Err(Error::NotBuilt { .. }) => Ok(Status::Missing),
        Err(e) => Err(e),
    }
}

/// Loads a corpus of scenarios whose bytes are what the lock says.
///
/// # Errors
/// [`Error::NotBuilt`], [`Error::Damaged`], [`Error::Stale`] or [`Error::Changed`], each naming the command that mends it; [`Error::WrongKind`] for [`CorpusName::Inbox`].
pub fn load(data_dir: &Path, name: CorpusName) -> Result<Corpus> {
    if name == CorpusName::Inbox {
        return Err(Error::WrongKind { name: name.as_str(), holds: "mails, not scenarios" });
    }
    let bytes = read(data_dir, name)?;
    let path = file(data_dir, name);
    let parsed = Corpus::parse(&path, &bytes);
    verify(data_dir, name, &bytes, parsed.as_ref().ok().map(Corpus::sha256), &parsed)?;
    parsed
}

pub(crate) fn read(data_dir: &Path, name: CorpusName) -> Result<Vec<u8>> {
    let path = file(data_dir, name);
    fs::read(&path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Error::NotBuilt { name: name.as_str(), path },
        _ => Error::io("read", &path, e),
    })
}

/// Refuses bytes that are not what the lock says. `sha256` is their digest where it is known already; `parsed` is consulted for a
/// closer reason.
pub(crate) fn verify<T>(
    data_dir: &Path,
    name: CorpusName,
    bytes: &[u8],
    sha256: Option<&str>,
    parsed: &Result<T>,
) -> Result<()> {
    let path = file(data_dir, name);
    let lock = lock::locked(name);
    if sha256.map_or_else(|| digest::hex(bytes) == lock.sha256(), |d| d == lock.sha256()) {
        return Ok(());
    }
    if judge(data_dir, name, bytes) == Status::Stale {
        return Err(Error::Stale { name: name.as_str(), path });
    }
    // Another version and a cut file have messages of their own, which say more.
    if let Err(reason @ (Error::Version { .. } | Error::Truncated { .. })) = parsed {
        return Err(Error::Damaged { name: name.as_str(), reason: reason.to_string() });
    }
    let line = first_difference(bytes, &lock);
    Err(Error::Changed { name: name.as_str(), path, line, record: describe(bytes, line) })
}

fn judge(data_dir: &Path, name: CorpusName, bytes: &[u8]) -> Status {
    let sha256 = digest::hex(bytes);
    if sha256 == lock::locked_sha256(name) {
        return Status::Built;
    }
    let beside = fs::read_to_string(digest_file(data_dir, name)).unwrap_or_default();
    if beside.split_whitespace().next() == Some(sha256.as_str()) { Status::Stale } else { Status::Changed }
}

pub(crate) use corpus::{check_version, json, record_id};
