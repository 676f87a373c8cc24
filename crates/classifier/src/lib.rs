//! Text classifiers as defenses on tool calls.

mod defense;
mod error;
mod file;
mod registry;
mod report;
mod table;
mod texts;

pub use defense::{ClassifierDefense, Scope, labels};
pub use error::ClassifierError;
pub use registry::{ModelEntry, Package, Packages, Registry};
pub use report::{ClassifierReport, Drop, Quantiles, ReportError, SWEEP, drop_under_transform, report};
pub use table::{Chunking, ScoreTable};
pub use texts::{ChangedOutput, CorpusTexts, changed_outputs};
