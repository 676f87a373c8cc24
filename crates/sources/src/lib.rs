//! Corpora of agent scenarios.
//!
//! [`bundled`] holds ten scenarios of our own that need nothing else. [`agentdojo`] builds the corpora that are made from the
//! AgentDojo benchmark, checks them byte for byte against the lock, and loads them. [`Corpus::parse`] takes any file in the
//! same format, which `docs/formats.md` describes.
//!
//! ```
//! use wardline_defense::Source;
//!
//! let corpus = wardline_sources::bundled();
//! assert_eq!(corpus.name(), "bundled");
//! assert_eq!(corpus.scenarios().len(), 10);
//! ```
//!
//! Nothing here opens a socket or starts a program except [`agentdojo::Builder`], which runs Python.

pub mod agentdojo;
mod bundled;
mod corpus;
mod digest;
mod error;
mod format;

pub use bundled::{BUNDLED, bundled};
pub use corpus::Corpus;
pub use error::{Error, Result};
