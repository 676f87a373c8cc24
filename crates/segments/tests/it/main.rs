//! Integration tests, in one binary.

mod bounds;
mod common;
mod structure;
mod upstream;
