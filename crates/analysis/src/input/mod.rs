//! Reading manifests, predictions and run folders.

mod lines;
mod prediction;
mod record;
mod run;

pub(crate) use lines::hex;
pub use prediction::{Layout, Predictions, Reading, Row};
pub(crate) use record::Records;
pub use record::{Manifest, Record};
pub use run::{Column, Run, RunRequest};
pub(crate) use run::{LayoutVotes, absent_ids, check_detectors, empty_manifest, open_run, prediction_files};
