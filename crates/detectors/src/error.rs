use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use wardline_email_corpus::CorpusError;

/// Why a detector could not be made, or a run could not begin or go on. What concerns one record is a [`crate::Failure`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DetectorError {
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A line of a predictions, segments or score file is wrong.
    #[error("{}: line {line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// A file is not what it should be.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// Another run works in the folder.
    #[error("{}: another run is at work in this folder", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds a run that was made differently.
    #[error("{}: this folder holds another run: {message}; choose another folder", path.display())]
    OtherRun {
        /// The folder.
        path: PathBuf,
        /// The difference.
        message: String,
    },
    /// A detector's name or settings are wrong.
    #[error("detector {name}: {message}")]
    Detector {
        /// The detector.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// A manifest or message could not be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
}

impl DetectorError {
    pub(crate) fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.as_ref().to_owned(), source }
    }

    pub(crate) fn file(path: impl AsRef<Path>, message: impl Into<String>) -> Self {
        Self::File { path: path.as_ref().to_owned(), message: message.into() }
    }

    pub(crate) fn detector(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Detector { name: name.into(), message: message.into() }
    }
}
