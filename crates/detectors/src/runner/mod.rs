//! Runs a detector over a manifest and keeps every answer.

mod begun;
mod folder;
mod lock;
mod log;
mod run;
mod segments_file;
mod sort;
mod work;

pub(crate) use folder::hex;
pub use folder::{DetectorState, RUN_SCHEMA, RunFile, RunFolder, file_digest, file_name};
pub use log::read_predictions;
pub(crate) use log::sync_folder;
pub use run::{Progress, RunOptions, Summary, score};
pub(crate) use sort::ExternalSort;

#[cfg(test)]
mod tests;
