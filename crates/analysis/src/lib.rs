//! From predictions of e-mail detectors to graded, compared and explained results.

mod error;
mod fault;
mod input;
mod task;

pub use error::AnalysisError;
pub use fault::{Coverage, Fault};
pub use input::{Column, Layout, Manifest, Predictions, Reading, Record, Row, Run, RunRequest};
pub use task::Task;
