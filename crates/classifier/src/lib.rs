//! Text classifiers as defenses on tool calls.

#[cfg(feature = "inference")]
mod arch;
#[cfg(feature = "inference")]
mod backend;
mod defense;
mod error;
#[cfg(any(feature = "hub", feature = "packages"))]
mod fetch;
#[cfg(feature = "inference")]
mod fetched;
mod file;
#[cfg(feature = "inference")]
mod model;
mod registry;
mod report;
mod table;
mod texts;
#[cfg(feature = "inference")]
mod weights;
#[cfg(feature = "inference")]
mod windows;

#[cfg(feature = "inference")]
pub use backend::{Backend, TokenBatch};
pub use defense::{ClassifierDefense, Scope, labels};
pub use error::ClassifierError;
#[cfg(feature = "packages")]
pub use fetch::{Clients, RUNTIME, fetch_packages, fetch_runtime};
#[cfg(feature = "hub")]
pub use fetch::{HubOptions, fetch_hub};
#[cfg(feature = "inference")]
pub use fetched::Fetched;
#[cfg(feature = "ort")]
pub use model::export_onnx;
#[cfg(feature = "inference")]
pub use model::{Classifier, Engine, LoadOptions, Progress};
pub use registry::{ModelEntry, Package, Packages, Registry};
pub use report::{ClassifierReport, Drop, Quantiles, ReportError, SWEEP, drop_under_transform, report};
pub use table::{Chunking, ScoreTable};
pub use texts::{ChangedOutput, CorpusTexts, changed_outputs};
