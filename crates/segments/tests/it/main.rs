//! Integration tests, in one binary.

mod bounds;
mod common;
#[path = "../../examples/common/files.rs"]
mod files;
#[path = "../../examples/common/mbox.rs"]
mod mbox;
mod structure;
mod upstream;
