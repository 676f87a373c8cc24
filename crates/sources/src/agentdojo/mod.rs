//! AgentDojo's corpora (benchmark version v1.2, package `agentdojo` 0.1.35): building, checking and loading them.
//!
//! The files lie in `<data folder>/agentdojo/`. They are derived from other people's work, so none comes with this crate: the
//! embedded exporter makes them from AgentDojo's package, and the embedded lock holds their digests.

mod builder;
mod check;
mod inbox;
mod lock;
mod name;
mod python;
mod store;

pub use builder::{Builder, Built, Progress, Regenerated};
pub use check::{ByteDifference, CheckReport, Difference, FileReport, FileState, check};
pub use inbox::{Carrier, InboxRecord, inbox};
pub use lock::{Lock, locked};
pub use name::CorpusName;
pub use store::{Status, file, load, status};
