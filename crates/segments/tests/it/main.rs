//! Integration tests, in one binary.

mod common;
mod upstream;
