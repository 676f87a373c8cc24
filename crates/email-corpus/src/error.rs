use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// What is wrong with a manifest, a message file, an upstream data set or a seed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A line of a manifest or of an upstream file is wrong.
    #[error("{}: line {line}: {}{message}", file.display(), field_prefix(field))]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The field, as a path such as `label.threat_type`; empty when the whole line is meant.
        field: String,
        /// What is wrong.
        message: String,
    },
    /// Two records have the same id.
    #[error("id {id:?} stands twice: {} and {}", place(first), place(second))]
    DuplicateId {
        /// The id.
        id: String,
        /// Where it stands first: file and line.
        first: (PathBuf, u64),
        /// Where it stands again.
        second: (PathBuf, u64),
    },
    /// A message path that leaves the base folder, or names no ordinary file.
    #[error("record {id:?}: path {path:?} {reason}")]
    MessagePath {
        /// The record.
        id: String,
        /// The path as the record gives it.
        path: String,
        /// Why it is refused.
        reason: String,
    },
    /// An upstream data set, a seed file or another input holds something it should not.
    #[error("{}: {message}", path.display())]
    Input {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A message could not be rendered.
    #[error("record {id:?}: {message}")]
    Render {
        /// The record.
        id: String,
        /// What is wrong.
        message: String,
    },
}

impl CorpusError {
    pub(crate) fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.as_ref().to_owned(), source }
    }
}

fn field_prefix(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("field `{field}`: ") }
}

fn place((file, line): &(PathBuf, u64)) -> String {
    format!("{} line {line}", file.display())
}
