//! What Wardline's command lines share: exit codes, the data folder, output that survives a closed pipe, progress.

mod data_dir;
mod exit;
#[cfg(feature = "models")]
mod model;
mod parse;
mod progress;

pub use data_dir::{DataDir, data_dir};
pub use exit::{Exit, Failure, Stdout, run};
pub use indicatif::ProgressBar;
#[cfg(feature = "inference")]
pub use model::runtime_folder;
#[cfg(feature = "models")]
pub use model::{EngineArg, ModelArgs, model_folder, without_inference};
pub use parse::parse;
pub use progress::{progress_bar, set_length};
