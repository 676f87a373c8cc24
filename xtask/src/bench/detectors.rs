//! `cargo xtask bench detectors`: messages a second of the heuristics, and what the runner costs for a record.

use wardline_cli::{Exit, Failure, Stdout};

use crate::shell::{cargo, step};

/// Heuristics on one core (bound: 5,000 messages/s), and the runner with a detector that does nothing (bound: 50 µs a record)
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    step(out, "detectors", &mut cargo(&["bench", "--package", "wardline-detectors", "--bench", "detectors"]))?;
    Ok(Exit::Ok)
}
