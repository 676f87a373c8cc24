use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use wardline_metrics::MetricsError;

/// What is wrong with a run, a prediction or a request.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A line of a file is wrong.
    #[error("{}: line {line}: {message}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// A file or folder does not hold what it should.
    #[error("{}: {message}", path.display())]
    Input {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A request that cannot be met, or a setting out of range.
    #[error("{0}")]
    Request(String),
    /// The statistics refuse their input.
    #[error("{what}: {source}")]
    Metrics {
        /// The number that was wanted.
        what: String,
        /// Why it is refused.
        source: MetricsError,
    },
}

impl AnalysisError {
    pub(crate) fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.as_ref().to_owned(), source }
    }

    pub(crate) fn input(path: impl AsRef<Path>, message: impl Into<String>) -> Self {
        Self::Input { path: path.as_ref().to_owned(), message: message.into() }
    }

    pub(crate) fn metrics(what: impl Into<String>) -> impl FnOnce(MetricsError) -> Self {
        move |source| Self::Metrics { what: what.into(), source }
    }
}
