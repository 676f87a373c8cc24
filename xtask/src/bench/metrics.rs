use std::fs;
use std::io::Write;
use std::process::Command;

use wardline_cli::{Exit, Failure, Stdout};

use crate::python;
use crate::shell::{built, cargo, root, step};

/// Replicates that the plain way is timed on; its time for 1,000 is scaled from their median.
const PLAIN: usize = 100;
const REPLICATES: usize = 1000;
/// What the crate promises.
const MOST_MILLISECONDS: f64 = 60.0;
const LEAST_RATIO: f64 = 300.0;

/// 1,000 cluster-bootstrap replicates beside numpy and scikit-learn
#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let python = python::environment("metrics", "crates/metrics/fixtures/requirements.lock")?;
    let speed = ["--package", "wardline-metrics", "--no-default-features", "--example", "bootstrap_speed"];
    step(out, "build", cargo(&["build", "--quiet", "--release"]).args(speed))?;
    let folder = root().join("target/bench");
    fs::create_dir_all(&folder)?;
    let rows = folder.join("metrics-rows.txt");

    let mut plain = python::script(&python, "crates/metrics/benches/plain_bootstrap.py");
    plain.arg(&rows).arg(PLAIN.to_string());
    // One core for both: the libraries below numpy would otherwise take all of them.
    for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        plain.env(threads, "1");
    }
    let plain = read(&mut plain)?;
    let ours = |replicates: usize| {
        let mut speed = Command::new(built("release", "examples/bootstrap_speed")?);
        speed.arg(&rows).arg(replicates.to_string());
        read(&mut speed)
    };
    let same_replicate = ours(PLAIN)?;
    let ours = ours(REPLICATES)?;

    let scale = REPLICATES as f64;
    writeln!(
        out,
        "{REPLICATES} cluster-bootstrap replicates, 5,000 rows, 700 groups, one core, milliseconds of its time"
    )?;
    writeln!(out, "{:<28} {:>12} {:>12} {:>8}", "median of repeats", "this crate", "plain way", "ratio")?;
    for (name, what) in [("area", "AUC alone"), ("all", "AUC and both TPR estimators")] {
        for of in ["median", "fastest"] {
            let (ours, plain) = (ours.number(&format!("{of}-{name}"))?, scale * plain.number(&format!("{of}-{name}"))?);
            let what = if of == "median" { what } else { "  fastest" };
            writeln!(out, "{what:<28} {ours:>12.2} {plain:>12.0} {:>8.0}", plain / ours)?;
        }
    }
    writeln!(
        out,
        "The plain way draws with numpy and reads with scikit-learn; timed on {PLAIN} replicates and scaled."
    )?;
    let agree = same_replicate.numbers("last")?.iter().zip(plain.numbers("last")?).all(|(a, b)| (a - b).abs() <= 1e-12);
    // For the record: the plain way reads the area alone, this crate all three, and on one core only.
    let ratio_to_area = scale * plain.number("median-area")? / ours.number("median-all")?;
    writeln!(out, "plain AUC alone / this crate's AUC and both TPR estimators: {ratio_to_area:.0}")?;
    writeln!(out, "replicate {PLAIN} of the two {}", if agree { "agrees to 1e-12" } else { "differs" })?;
    if !agree {
        return Err(Failure::new(Exit::Failed, "the two programs read different numbers"));
    }
    let milliseconds = ours.number("median-all")?;
    let ratio = scale * plain.number("median-all")? / milliseconds;
    if milliseconds > MOST_MILLISECONDS || ratio < LEAST_RATIO {
        return Err(Failure::new(
            Exit::Failed,
            format!("the aim is at most {MOST_MILLISECONDS} ms and a ratio of at least {LEAST_RATIO}"),
        ));
    }
    Ok(Exit::Ok)
}

/// Lines of a name and numbers that a program printed.
struct Printed(String);

impl Printed {
    fn numbers(&self, name: &str) -> Result<Vec<f64>, Failure> {
        let line = self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let numbers = line.and_then(|line| line.split(' ').map(|n| n.parse().ok()).collect());
        numbers
            .ok_or_else(|| Failure::new(Exit::Failed, format!("no line `{name}` with numbers in: {}", self.0.trim())))
    }

    fn number(&self, name: &str) -> Result<f64, Failure> {
        Ok(self.numbers(name)?[0])
    }
}

fn read(command: &mut Command) -> Result<Printed, Failure> {
    let output = command.output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::new(Exit::Failed, format!("{command:?}: {}: {why}", output.status)));
    }
    Ok(Printed(String::from_utf8_lossy(&output.stdout).into_owned()))
}
