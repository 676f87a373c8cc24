use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use wardline_cli::{Exit, Failure, Stdout};

use super::median;
use crate::python;
use crate::shell::{built, cargo, root, step};

/// What `mailbench` promises.
const MOST_MILLISECONDS: f64 = 1500.0;
const LEAST_RATIO: f64 = 100.0;
const MOST_GRADE_SECONDS: f64 = 20.0;
const REPEATS: usize = 5;

/// The analysis of twelve detectors beside numpy and scikit-learn; grading of millions of predictions
#[derive(clap::Args)]
pub(super) struct Args {
    /// Predictions to grade
    #[arg(long, default_value_t = 5_000_000)]
    predictions: u64,
}

pub(super) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let python = python::environment("metrics", "crates/metrics/fixtures/requirements.lock")?;
    for example in ["analysis_speed", "synthetic_run"] {
        let build = ["build", "--quiet", "--release", "--package", "wardline-analysis", "--example", example];
        step(out, &format!("build {example}"), &mut cargo(&build))?;
    }
    let folder = root().join("target/bench/analyze");
    fs::create_dir_all(&folder)?;
    step(out, "write the synthetic run", example("synthetic_run")?.arg(&folder))?;
    let (run, naive) = (folder.join("run"), folder.join("naive"));

    let mut ours: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for _ in 0..REPEATS {
        for (name, value) in
            printed(example("analysis_speed")?.arg("analyze").args([&run, &naive]).arg(folder.join("ours.json")))?
        {
            ours.entry(name).or_default().push(value);
        }
    }
    let mut script = python::script(&python, "crates/analysis/fixtures/generate.py");
    script.arg(&folder).args([&run, &naive]);
    for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        script.env(threads, "1");
    }
    #[expect(clippy::disallowed_methods, reason = "the other program is timed from outside")]
    let begin = Instant::now();
    step(out, "the protocol in Python", &mut script)?;
    let theirs = begin.elapsed().as_secs_f64() * 1000.0;

    writeln!(out, "\n12 detectors, both tasks, 1,000 replicates, 5,955 records; reading and writing included")?;
    let median_of = |name: &str| median(ours.get(name).cloned().unwrap_or_default());
    let (numpy, usual) = (median_of("numpy"), median_of("usual"));
    writeln!(out, "the protocol in Python             {theirs:>7.0} ms (once)")?;
    writeln!(
        out,
        "analyze, the same numbers          {numpy:>7.0} ms (median of {REPEATS}): {:.0} times",
        theirs / numpy
    )?;
    writeln!(
        out,
        "analyze, with its further intervals {usual:>6.0} ms (median of {REPEATS}): {:.0} times",
        theirs / usual
    )?;

    let graded = grading(args.predictions, &folder, out)?;
    // The script computes what the first does; the second adds intervals that the script has not.
    if numpy.max(usual) > MOST_MILLISECONDS || theirs / numpy < LEAST_RATIO || graded > MOST_GRADE_SECONDS {
        let aim = format!(
            "the aim is at most {MOST_MILLISECONDS} ms, a ratio of at least {LEAST_RATIO}, and {MOST_GRADE_SECONDS} s for the grading"
        );
        return Err(Failure::new(Exit::Failed, aim));
    }
    Ok(Exit::Ok)
}

fn example(name: &str) -> Result<Command, Failure> {
    built("release", &format!("examples/{name}")).map(Command::new)
}

/// Seconds to grade many predictions; the memory of a fifth of them stands beside.
fn grading(predictions: u64, folder: &Path, out: &mut Stdout) -> Result<f64, Failure> {
    let mut seconds = 0.0;
    for n in [predictions / 5, predictions] {
        let many = folder.join("many");
        step(
            out,
            &format!("write {n} predictions"),
            example("analysis_speed")?.arg("write").arg(&many).args([&n.to_string(), "1001"]),
        )?;
        let found = printed(example("analysis_speed")?.arg("grade").arg(&many))?;
        let of = |name: &str| found.iter().find(|(n, _)| n == name).map_or(f64::NAN, |(_, v)| *v);
        seconds = of("grade") / 1000.0;
        writeln!(
            out,
            "grade {n} predictions: {seconds:.1} s, {:.0} MiB at most, {} scored",
            of("memory") / 1024.0,
            of("scored")
        )?;
        fs::remove_dir_all(&many)?;
    }
    Ok(seconds)
}

/// Names and numbers that a program printed, one pair a line.
fn printed(command: &mut Command) -> Result<Vec<(String, f64)>, Failure> {
    let output = command.output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::new(Exit::Failed, format!("{command:?}: {}: {why}", output.status)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .lines()
        .filter_map(|l| l.split_once(' '))
        .filter_map(|(n, v)| Some((n.to_owned(), v.parse().ok()?)))
        .collect())
}
