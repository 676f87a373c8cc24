//! Manifests: one [`EmailRecord`](crate::EmailRecord) a line.

mod freeze;
mod reader;
mod writer;

pub use freeze::{Digests, FileDigest, digest_path, freeze};
pub(crate) use freeze::{file_digest, hex};
pub use reader::{ManifestReader, read_manifest};
pub use writer::{ManifestWriter, write_atomically};
