//! What Wardline's command lines share: exit codes, the data folder, output that survives a closed pipe, progress.

mod data_dir;
mod exit;
mod parse;
mod progress;

pub use data_dir::{DataDir, data_dir};
pub use exit::{Exit, Failure, Stdout, run};
pub use indicatif::ProgressBar;
pub use parse::parse;
pub use progress::{progress_bar, set_length};
