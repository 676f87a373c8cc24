use std::io;
use std::path::{Path, PathBuf};

use crate::agentdojo::CheckReport;

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a corpus cannot be loaded, built or checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `write`, …
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// No corpus has this name.
    #[error("no corpus is named {name:?}: there are {known}")]
    UnknownCorpus {
        /// The name asked for.
        name: String,
        /// The names that there are, joined by commas.
        known: String,
    },
    /// The corpus is of another kind than the caller wants.
    #[error("corpus {name} holds {holds}")]
    WrongKind {
        /// The corpus.
        name: &'static str,
        /// What it holds.
        holds: &'static str,
    },
    /// The corpus has not been built in this data folder.
    #[error("corpus {name} is not built ({} is not there): `deveval corpora build {name}` builds it", path.display())]
    NotBuilt {
        /// The corpus.
        name: &'static str,
        /// The file that would hold it.
        path: PathBuf,
    },
    /// The file was built by a release with another lock.
    #[error("corpus {name} was built by another release ({}): `deveval corpora build {name}` builds it anew", path.display())]
    Stale {
        /// The corpus.
        name: &'static str,
        /// Its file.
        path: PathBuf,
    },
    /// The file is not what was built.
    #[error(
        "corpus {name} was changed after it was built: {} differs from the lock at line {line} ({record}); \
         `deveval corpora check --regenerate {name}` shows how, `deveval corpora build {name}` builds it anew",
        path.display()
    )]
    Changed {
        /// The corpus.
        name: &'static str,
        /// Its file.
        path: PathBuf,
        /// The first line that differs, from 1.
        line: usize,
        /// The record on it.
        record: String,
    },
    /// The built file is cut, or in another format.
    #[error("{reason}: `deveval corpora build {name}` builds it anew")]
    Damaged {
        /// The corpus.
        name: &'static str,
        /// What is wrong with which file.
        reason: String,
    },
    /// The file ends before its last record.
    #[error("{} is truncated: it ends at line {line}, where {wanted} should stand", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The line that is missing or incomplete, from 1.
        line: usize,
        /// What should stand there.
        wanted: String,
    },
    /// The file is in another format or version.
    #[error("{} is in format {found}, this release reads {expected}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its format and version.
        found: String,
        /// The format and version that can be read.
        expected: String,
    },
    /// A record is not what the format allows.
    #[error("{} line {line}{}: {message}", path.display(), id.as_ref().map(|i| format!(" ({i})")).unwrap_or_default())]
    Record {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The record's id, where it can be read.
        id: Option<String>,
        /// What is wrong.
        message: String,
    },
    /// No Python was found.
    #[error("no Python found (tried {tried}): install CPython 3.10 or later, or name one with --python")]
    NoPython {
        /// The names that were tried, joined by commas.
        tried: String,
    },
    /// Only Pythons before 3.10 were found.
    #[error("{python} is Python {version}, which is too old: CPython 3.10 or later is needed; name one with --python")]
    PythonTooOld {
        /// The newest that was found.
        python: String,
        /// Its version.
        version: String,
    },
    /// The Python cannot make virtual environments, and there is no uv to do it.
    #[error(
        "{python} has no `{module}` module, so it cannot make a virtual environment: install it (Debian: \
         apt install python3-venv), install uv, or name another Python with --python"
    )]
    NoVenv {
        /// The Python.
        python: String,
        /// The module that is missing.
        module: &'static str,
    },
    /// The package registry does not answer.
    #[error("the Python package registry cannot be reached: {detail}")]
    Unreachable {
        /// What the installer said.
        detail: String,
    },
    /// The packages could not be installed for another reason.
    #[error("the exporter's packages cannot be installed ({command}): {detail}")]
    Install {
        /// What was run.
        command: String,
        /// What it said last.
        detail: String,
    },
    /// The exporter failed.
    #[error("the exporter failed ({status}): {detail}")]
    Export {
        /// How it ended.
        status: String,
        /// What it said last.
        detail: String,
    },
    /// Another build is at work in the same data folder.
    #[error("another build is at work in {}: wait for it to end", path.display())]
    Busy {
        /// The data folder.
        path: PathBuf,
    },
    /// What was built is not what the lock says.
    #[error("what was built differs from the lock: {}", .0.summary())]
    Mismatch(Box<CheckReport>),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.into(), source }
    }

    pub(crate) fn record(path: &Path, line: usize, id: Option<&str>, message: impl Into<String>) -> Self {
        Self::Record { path: path.into(), line, id: id.map(str::to_owned), message: message.into() }
    }

    /// Whether a check failed, as opposed to an input that cannot be used.
    pub fn is_failed_check(&self) -> bool {
        matches!(self, Self::Mismatch(_))
    }
}
