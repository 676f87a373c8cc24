use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// What went wrong, and with which file, table, model or label.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClassifierError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is no score table.
    #[error("{table} is no score table: {message}")]
    Table {
        /// The table's file or model.
        table: String,
        /// What is wrong with it.
        message: String,
    },
    /// A table is of another model, label, cut or set of files.
    #[error("{table} is of another run: its {what} is {theirs}, not {ours}")]
    OtherRun {
        /// The table's file.
        table: String,
        /// What differs.
        what: &'static str,
        /// What the table says.
        theirs: String,
        /// What the model says.
        ours: String,
    },
    /// A table that another engine began, so that its header would be wrong for the scores that are added.
    #[error("{table} was begun with {theirs}, not {ours}; go on with that engine or write another table")]
    OtherEngine {
        /// The table's file.
        table: String,
        /// The engine that the table names.
        theirs: String,
        /// The engine of this run.
        ours: String,
    },
    /// A table does not cover a corpus.
    #[error("{table} lacks {count} texts of the corpus: {first}")]
    Missing {
        /// The table's file.
        table: String,
        /// How many texts it lacks.
        count: usize,
        /// The first keys, in order.
        first: String,
    },
    /// Windows that cannot be cut.
    #[error("chunking: {0}")]
    Chunking(String),
    /// A threshold outside 0..=1.
    #[error("threshold {0} is outside 0..=1")]
    Threshold(f64),
    /// Two tables would have one name.
    #[error("two score tables are named {0}; give each a name, as in NAME=TABLE")]
    SameName(String),
    /// A baseline that does not fit.
    #[error("{0}")]
    Baseline(String),
    /// The registry has no such model.
    #[error("no model {key} in the registry; it has {known}")]
    UnknownModel {
        /// The key that was asked for.
        key: String,
        /// The keys there are.
        known: String,
    },
    /// The registry cannot be read.
    #[error("{file}: {message}")]
    Registry {
        /// The registry's file.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// A model's files cannot be run.
    #[error("{model}: {message}")]
    Model {
        /// The model's key or folder.
        model: String,
        /// Why.
        message: String,
    },
    /// A label that the model does not have.
    #[error("{model} has no label {label}; it has {known}")]
    Label {
        /// The model's key or folder.
        model: String,
        /// The label that was asked for.
        label: String,
        /// The labels there are.
        known: String,
    },
    /// A file is not the one that is pinned.
    #[error("{}: its SHA-256 is {found}, not {expected}", path.display())]
    Digest {
        /// The file.
        path: PathBuf,
        /// What was computed.
        found: String,
        /// What is pinned.
        expected: String,
    },
    /// A model or a runtime could not be fetched.
    #[error("fetching {what}: {message}")]
    Fetch {
        /// What was asked for.
        what: String,
        /// Why it did not come.
        message: String,
    },
}
