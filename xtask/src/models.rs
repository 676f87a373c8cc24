//! The classifier that packages carry: fetched, scored, and its committed tables checked.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use wardline_cli::{Exit, Failure, Stdout};

use crate::shell::{cargo, root, step};

/// Its key in the registry.
pub(crate) const MODEL: &str = "jailguard";

/// Corpora that may have a committed table.
const CORPORA: [&str; 5] = ["pairs", "attacks", "attacks-framing", "attacks-field_split", "attacks-leet"];

/// Builds `deveval` with models in it.
pub(crate) fn build(out: &mut Stdout) -> Result<PathBuf, Failure> {
    let args = ["build", "--release", "--locked", "--package", "deveval", "--features", "deveval/inference"];
    step(out, "build deveval with models", &mut cargo(&args))?;
    Ok(root().join("target/release/deveval"))
}

/// Fetches the model unless it is there.
pub(crate) fn fetch(deveval: &Path, data: &Path, out: &mut Stdout) -> Result<(), Failure> {
    if data.join("models").join(MODEL).join("head.json").is_file() {
        return Ok(());
    }
    let mut fetch = Command::new(deveval);
    step(out, "fetch the classifier", fetch.args(["models", "fetch", MODEL, "--data-dir"]).arg(data))
}

/// Scores the pairs corpus on this machine and prints its tables with the classifier's rows.
pub(crate) fn score_and_show(deveval: &Path, data: &Path, out: &mut Stdout) -> Result<(), Failure> {
    fetch(deveval, data, out)?;
    let table = data.join("scores/pairs").join(format!("{MODEL}.json"));
    let mut score = Command::new(deveval);
    score.args(["score", "--model", MODEL, "--corpus", "pairs", "--data-dir"]).arg(data).arg("--out").arg(&table);
    step(out, "score the pairs corpus with it", &mut score)?;
    let mut show = Command::new(deveval);
    show.args(["--corpus", "pairs", "--data-dir"]).arg(data).arg("--scores").arg(named(&table));
    step(out, "defenses on pairs, with the classifier", &mut show)?;
    if !committed("attacks").is_file() {
        return Ok(());
    }
    let mut show = Command::new(deveval);
    show.args(["--corpus", "attacks", "--data-dir"]).arg(data).arg("--scores").arg(named(&committed("attacks")));
    step(out, "defenses under attacks, with the classifier", &mut show)
}

/// Compares the committed tables with what the model gives: all texts, or forty of each table.
pub(crate) fn check(data: &Path, full: bool, out: &mut Stdout) -> Result<Exit, Failure> {
    let deveval = build(out)?;
    fetch(&deveval, data, out)?;
    let mut differ = Vec::new();
    for corpus in CORPORA.into_iter().filter(|c| committed(c).is_file()) {
        let mut check = Command::new(&deveval);
        check.args(["score", "--model", MODEL, "--corpus", corpus, "--data-dir"]).arg(data);
        check.arg("--check").arg(committed(corpus));
        if !full {
            check.args(["--sample", "40"]);
        }
        out.flush()?;
        if !check.status()?.success() {
            differ.push(corpus);
        }
    }
    if differ.is_empty() {
        return Ok(Exit::Ok);
    }
    Err(Failure::new(Exit::Failed, format!("score tables differ: {}", differ.join(", "))))
}

fn committed(corpus: &str) -> PathBuf {
    root().join("sources/agentdojo/scores").join(MODEL).join(format!("{corpus}.json"))
}

/// What `--scores` takes for the committed table of a corpus, when there is one.
pub(crate) fn committed_table(corpus: &str) -> Option<String> {
    Some(committed(corpus)).filter(|table| table.is_file()).map(|table| named(&table))
}

fn named(table: &Path) -> String {
    format!("{MODEL}={}", table.display())
}
