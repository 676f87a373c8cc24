//! `cargo xtask features`: the features that are tested and linted.

use std::io::Write;

use serde_json::Value;
use wardline_cli::{Exit, Failure, Stdout};

use crate::shell::cargo;

/// Print the features that can be built on any machine, for cargo's --features
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Features that need more than a Rust toolchain to build.
const LEFT_OUT: [&str; 1] = ["cuda"];

pub(crate) fn run(_: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    writeln!(out, "{}", all()?)?;
    Ok(Exit::Ok)
}

/// Every feature of every package of the workspace, `package/feature` with commas, except those that need a toolkit.
pub(crate) fn all() -> Result<String, Failure> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1", "--locked"]).output()?;
    if !output.status.success() {
        return Err(Failure::usage(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim())));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let mut all = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        for feature in package["features"].as_object().into_iter().flat_map(|f| f.keys()) {
            if !LEFT_OUT.contains(&feature.as_str()) {
                all.push(format!("{name}/{feature}"));
            }
        }
    }
    all.sort();
    Ok(all.join(","))
}
