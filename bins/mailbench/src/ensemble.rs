//! `mailbench ensemble`: the mean of several detectors.

use std::io::Write;
use std::path::PathBuf;

use wardline_cli::{Exit, Failure, Stdout};
use wardline_detectors::{RunFolder, ensemble};

/// Write the mean score of several detectors of a run as predictions of their own
///
/// Covers the records that all of them have a score for.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of the run
    #[arg(long, value_name = "DIR")]
    run: PathBuf,
    /// A detector of the run; two or more
    #[arg(long = "detector", value_name = "NAME", required = true)]
    detectors: Vec<String>,
    /// The ensemble's name
    #[arg(long, value_name = "NAME", default_value = "ensemble")]
    name: String,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let manifest = args.run.join("manifest_used.jsonl");
    let mut folder = RunFolder::open(&args.run, &manifest, None)?;
    let summary = ensemble(&mut folder, &args.detectors, &args.name)?;
    writeln!(out, "{}: {} records, {} left out", args.name, summary.covered, summary.left_out)?;
    Ok(Exit::Ok)
}
