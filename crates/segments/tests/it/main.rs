//! Integration tests, in one binary.

mod common;
mod structure;
mod upstream;
