//! `cargo xtask reproduce`: from nothing to every published figure beside ours.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use wardline_cli::{Exit, Failure, Stdout, data_dir};

use crate::figures::{self, Run};
use crate::models;
use crate::results;
use crate::shell::{built, cargo, step};

/// Build everything and compare every published figure with ours
///
/// Exit codes: 1 a figure differs, 2 something that everything needs is missing, 3 all but the classifier was reproduced, since it could
/// not be built, fetched or run here.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Python for the exporter, 3.10 or later [default: the newest found]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// Leave the classifier that packages carry out: no engine is built, and its rows come from the committed score tables
    #[arg(long)]
    without_models: bool,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let data = data_dir(args.data_dir.as_deref())?.path;
    let mut left_out: Option<String> = None;
    let deveval = match args.without_models {
        true => plain(out)?,
        false => match models::build(out) {
            Ok(deveval) => deveval,
            Err(failure) => {
                left_out = Some(failure.to_string());
                plain(out)?
            }
        },
    };

    let mut build = Command::new(&deveval);
    build.args(["corpora", "build", "--data-dir"]).arg(&data);
    if let Some(python) = &args.python {
        build.arg("--python").arg(python);
    }
    step(out, "build the AgentDojo corpora", &mut build)?;
    step(
        out,
        "check them against the lock",
        Command::new(&deveval).args(["corpora", "check", "--data-dir"]).arg(&data),
    )?;

    let mut fresh = None;
    if !args.without_models && left_out.is_none() {
        match models::score(&deveval, &data, out)? {
            Ok(table) => fresh = Some(table),
            Err(why) => left_out = Some(why.to_string()),
        }
    }
    if let Some(why) = &left_out {
        writeln!(out, "the classifier was not run here ({why}); its rows come from the committed score tables")?;
    }
    models::show(&deveval, &data, fresh.as_deref(), out)?;
    agent_page(&deveval, &data, fresh.as_deref(), out)?;
    let mailbench = results::build(out)?;
    results::measure(&mailbench, "core", &data, args.python.as_deref(), None, out)?;
    compare_figures(&deveval, &data, out)?;
    match left_out {
        None => Ok(Exit::Ok),
        Some(why) => {
            let message = format!("all else is reproduced, but the classifier was not run here ({why})");
            Err(Failure::new(Exit::Incomplete, message))
        }
    }
}

/// `deveval` without models.
fn plain(out: &mut Stdout) -> Result<PathBuf, Failure> {
    step(out, "build deveval", &mut cargo(&["build", "--release", "--locked", "--package", "deveval"]))?;
    built("release", "deveval")
}

/// The page of the reference defenses and the classifier on pairs.
fn agent_page(deveval: &Path, data: &Path, fresh: Option<&Path>, out: &mut Stdout) -> Result<(), Failure> {
    let page = data.join("agent-results/index.html");
    if let Some(folder) = page.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut show = Command::new(deveval);
    show.args(["--corpus", "pairs", "--versus", "flow-guard", "--data-dir"]).arg(data).arg("--html").arg(&page);
    show.arg("--scores").arg(models::pairs_table(fresh));
    step(out, "the page of the agent side", &mut show)?;
    writeln!(out, "the page: {}", page.display())?;
    Ok(())
}

/// Prints every published figure beside ours; any difference is a failed check.
pub(crate) fn compare_figures(deveval: &Path, data: &Path, out: &mut Stdout) -> Result<(), Failure> {
    let (mut equal, mut differ) = (0, 0);
    for run in figures::agent()? {
        let result = deveval_json(deveval, data, &run)?;
        writeln!(out, "\n== {} (deveval {})\n", run.title, run.args.join(" "))?;
        let (table, different) = figures::compare(&run, &result)?;
        write!(out, "{}", table.to_text())?;
        out.flush()?;
        differ += different;
        equal += run.len() - different;
    }
    if differ > 0 {
        return Err(Failure::new(Exit::Failed, format!("{differ} of {} figures differ", equal + differ)));
    }
    writeln!(out, "\nall {equal} published figures are reproduced")?;
    Ok(())
}

fn deveval_json(deveval: &Path, data: &Path, run: &Run) -> Result<Value, Failure> {
    let output = Command::new(deveval).args(&run.args).args(["--format", "json", "--data-dir"]).arg(data).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(Exit::Failed, format!("deveval {}: {}", run.args.join(" "), said.trim())));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
