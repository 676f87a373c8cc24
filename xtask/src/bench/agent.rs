//! The agent side: how long a corpus takes to build and to score, and how much memory scoring needs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4;
use wardline_cli::{Exit, Failure, Stdout, data_dir};
use wardline_report::{Column, Table};

use super::median;
use crate::shell::{built, cargo, step};

/// Scoring the corpora, and with --build building them
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also build all corpora anew in a folder of its own, with packages that are already installed
    #[arg(long)]
    build: bool,
    /// Runs of each command; the median is printed
    #[arg(long, default_value_t = 11)]
    repeat: usize,
    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// Bounds that the project promises on two cores, in seconds of wall time.
const SCORING: [(&[&str], f64); 3] = [
    (&["--corpus", "pairs"], 0.15),
    (&["--corpus", "agentdojo", "--sweep"], 0.3),
    (&["--corpus", "attacks"], f64::INFINITY),
];
const MEMORY_MIB: f64 = 150.0;
const BUILDING: f64 = 180.0;

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let data = data_dir(args.data_dir.as_deref())?.path;
    step(out, "build deveval", &mut cargo(&["build", "--release", "--package", "deveval"]))?;
    let deveval = built("release", "deveval")?;
    let columns = ["command", "median", "bound", ""];
    let mut table = Table::new(columns.map(Column::text));
    let mut missed = 0;
    let mut row = |what: String, value: f64, unit: &str, bound: f64| {
        let verdict = if value <= bound { "met" } else { "MISSED" };
        missed += usize::from(value > bound);
        let bound = if bound.is_finite() { format!("{bound} {unit}") } else { "none".to_owned() };
        table.row([what, format!("{value:.3} {unit}"), bound, verdict.to_owned()]);
    };

    for (command, bound) in SCORING {
        let runs =
            (0..args.repeat.max(1)).map(|_| measured(&deveval, command, &data)).collect::<Result<Vec<_>, _>>()?;
        let (seconds, mib): (Vec<f64>, Vec<f64>) = runs.into_iter().unzip();
        row(command.join(" "), median(seconds), "s", bound);
        row(format!("{}, peak memory", command.join(" ")), median(mib), "MiB", MEMORY_MIB);
    }
    if args.build {
        let scratch = data.join("bench-build");
        // The first build fetches the packages; the second is measured.
        let built = ["first", "second"].map(|_| measured(&deveval, &["corpora", "build", "--rebuild"], &scratch));
        std::fs::remove_dir_all(&scratch)?;
        let [first, second] = built;
        first?;
        row("corpora build, all of them".to_owned(), second?.0, "s", BUILDING);
    }
    write!(out, "{}", table.to_text())?;
    if missed > 0 {
        return Err(Failure::new(Exit::Failed, format!("{missed} bounds missed; on a busy machine, measure again")));
    }
    Ok(Exit::Ok)
}

/// Wall time in seconds and peak resident memory in MiB of one run.
#[expect(clippy::disallowed_methods, reason = "measuring time is what this command is for")]
fn measured(deveval: &Path, command: &[&str], data: &Path) -> Result<(f64, f64), Failure> {
    let start = Instant::now();
    let mut child = Command::new(deveval).args(command).arg("--data-dir").arg(data).stdout(Stdio::null()).spawn()?;
    let usage = child.wait4()?;
    let seconds = start.elapsed().as_secs_f64();
    if !usage.status.success() {
        return Err(Failure::new(Exit::Failed, format!("deveval {}: {}", command.join(" "), usage.status)));
    }
    Ok((seconds, usage.rusage.maxrss as f64 / f64::from(1 << 20)))
}
