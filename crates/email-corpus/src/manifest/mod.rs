//! Manifests: one [`EmailRecord`](crate::EmailRecord) a line.

mod combine;
mod diff;
mod freeze;
mod reader;
mod stats;
mod verify;
mod writer;

pub use combine::{Paths, combine};
pub use diff::{ManifestDiff, diff};
pub use freeze::{Digests, FileDigest, digest_path, freeze};
#[cfg(feature = "build")]
pub(crate) use freeze::{file_digest, hex};
pub use reader::{ManifestReader, read_manifest};
pub use stats::Stats;
pub use verify::{Problem, Verification, verify};
pub use writer::{ManifestWriter, write_atomically};
