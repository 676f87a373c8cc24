//! `cargo xtask bench NAME`: ratios and bounds, measured in release builds, side by side in one run. One file a subject.

mod agent;
mod analyze;
mod classifier;
mod detectors;
mod metrics;
mod segments;

use clap::Subcommand;
use wardline_cli::{Exit, Failure, Stdout};

/// Measure speed and memory against the stated bounds
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Subcommand)]
enum Subject {
    Agent(agent::Args),
    Classifier(classifier::Args),
    Analyze(analyze::Args),
    Detectors(detectors::Args),
    Metrics(metrics::Args),
    Segments(segments::Args),
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    match &args.subject {
        Subject::Agent(args) => agent::run(args, out),
        Subject::Classifier(args) => classifier::run(args, out),
        Subject::Analyze(args) => analyze::run(args, out),
        Subject::Detectors(args) => detectors::run(args, out),
        Subject::Metrics(args) => metrics::run(args, out),
        Subject::Segments(args) => segments::run(args, out),
    }
}

/// The median of the measurements; the mean of the middle two of an even number.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { f64::NAN } else { f64::midpoint(values[(n - 1) / 2], values[n / 2]) }
}
