//! The classifier that packages carry: fetched, scored, and its committed tables checked.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use wardline_cli::{Exit, Failure, Stdout};

use crate::shell::{built, cargo, root, step};

/// Its key in the registry.
pub(crate) const MODEL: &str = "jailguard";

/// Corpora with a committed table; transforms of attacks last.
const CORPORA: [&str; 5] = ["pairs", "attacks", "attacks-framing", "attacks-field_split", "attacks-leet"];

/// Engines and processors differ by less.
const TOLERANCE: f64 = 1e-4;

/// Builds `deveval` with models in it.
pub(crate) fn build(out: &mut Stdout) -> Result<PathBuf, Failure> {
    let args = ["build", "--release", "--locked", "--package", "deveval", "--features", "deveval/inference"];
    step(out, "build deveval with models", &mut cargo(&args))?;
    built("release", "deveval")
}

/// Fetches the model unless it is there.
pub(crate) fn fetch(deveval: &Path, data: &Path, out: &mut Stdout) -> Result<(), Failure> {
    if data.join("models").join(MODEL).join("head.json").is_file() {
        return Ok(());
    }
    let mut fetch = Command::new(deveval);
    step(out, "fetch the classifier", fetch.args(["models", "fetch", MODEL, "--data-dir"]).arg(data))
}

/// Fetches ONNX Runtime's library unless it is there; returns its path.
pub(crate) fn runtime(deveval: &Path, data: &Path, out: &mut Stdout) -> Result<PathBuf, Failure> {
    let folder = data.join("runtime");
    let library = || {
        let versions = fs::read_dir(&folder).ok()?.filter_map(|e| Some(e.ok()?.path()));
        versions.filter_map(|v| fs::read_dir(v).ok()?.next()?.ok()).map(|e| e.path()).max()
    };
    if library().is_none() {
        let mut runtime = Command::new(deveval);
        step(out, "fetch ONNX Runtime", runtime.args(["models", "runtime", "--data-dir"]).arg(data))?;
    }
    library().ok_or_else(|| Failure::usage(format!("no library in {}", folder.display())))
}

/// Fetches the model, scores the pairs corpus on this machine, and compares with the committed table; returns the fresh table, or why
/// there is none. Scores that differ are a failed check.
pub(crate) fn score(deveval: &Path, data: &Path, out: &mut Stdout) -> Result<Result<PathBuf, Failure>, Failure> {
    #[expect(clippy::disallowed_methods, reason = "how long it took is printed")]
    let start = std::time::Instant::now();
    if let Err(why) = fetch(deveval, data, out) {
        return Ok(Err(why));
    }
    let table = data.join("scores/pairs").join(format!("{MODEL}.json"));
    // A table of an earlier run would be taken as it is.
    if table.exists() {
        fs::remove_file(&table)?;
    }
    let mut score = Command::new(deveval);
    score.args(["score", "--model", MODEL, "--corpus", "pairs", "--data-dir"]).arg(data).arg("--out").arg(&table);
    if let Err(why) = step(out, "score the pairs corpus with it", &mut score) {
        return Ok(Err(why));
    }
    let apart = furthest(&fs::read(&table)?, &fs::read(committed("pairs"))?)?;
    let seconds = start.elapsed().as_secs_f64();
    writeln!(
        out,
        "fetched and scored in {seconds:.0} s; the furthest score from the committed table's is {apart:.1e} away"
    )?;
    if apart > TOLERANCE {
        return Err(Failure::new(
            Exit::Failed,
            format!("{} is not what the model gives here", committed("pairs").display()),
        ));
    }
    Ok(Ok(table))
}

/// Prints the defenses with the classifier's rows: on pairs by a fresh table or the committed one, under attacks and transforms by the
/// committed ones.
pub(crate) fn show(deveval: &Path, data: &Path, fresh: Option<&Path>, out: &mut Stdout) -> Result<(), Failure> {
    let run = |corpus: &str, scores: &Path, more: &[String]| {
        let mut command = Command::new(deveval);
        command.args(["--corpus", corpus, "--data-dir"]).arg(data).arg("--scores").arg(named(scores)).args(more);
        command
    };
    let mut pairs = Command::new(deveval);
    pairs.args(["--corpus", "pairs", "--data-dir"]).arg(data).arg("--scores").arg(pairs_table(fresh));
    step(out, "defenses on pairs", &mut pairs)?;
    step(out, "defenses under attacks", &mut run("attacks", &committed("attacks"), &[]))?;
    for corpus in &CORPORA[2..] {
        let baseline = ["--baseline-scores".to_owned(), named(&committed("attacks"))];
        step(out, &format!("the classifier under {corpus}"), &mut run(corpus, &committed(corpus), &baseline))?;
    }
    Ok(())
}

/// How far two tables are apart at most; texts that one of them lacks are an error.
fn furthest(fresh: &[u8], committed: &[u8]) -> Result<f64, Failure> {
    let scores = |json: &[u8]| -> Result<BTreeMap<String, f64>, Failure> {
        let table: serde_json::Value = serde_json::from_slice(json)?;
        Ok(serde_json::from_value(table["scores"].clone())?)
    };
    let (fresh, committed) = (scores(fresh)?, scores(committed)?);
    if !fresh.keys().eq(committed.keys()) {
        return Err(Failure::new(Exit::Failed, "the committed table is of other texts than the corpus has"));
    }
    Ok(fresh.iter().map(|(key, score)| (score - committed[key]).abs()).fold(0.0, f64::max))
}

/// Compares the committed tables with what the model gives: all texts, or forty of each table.
pub(crate) fn check(data: &Path, full: bool, out: &mut Stdout) -> Result<Exit, Failure> {
    let deveval = build(out)?;
    fetch(&deveval, data, out)?;
    let mut differ = Vec::new();
    for corpus in CORPORA {
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

/// The fresh table of the pairs, or the committed one, as `deveval` takes it.
pub(crate) fn pairs_table(fresh: Option<&Path>) -> String {
    named(fresh.unwrap_or(&committed("pairs")))
}

fn named(table: &Path) -> String {
    format!("{MODEL}={}", table.display())
}

#[cfg(test)]
mod tests {
    use super::furthest;

    #[test]
    fn tables_are_compared_text_by_text() {
        let table = |scores: &str| format!("{{\"scores\": {{{scores}}}}}").into_bytes();
        let apart = furthest(&table(r#""a": 0.5, "b": 0.25"#), &table(r#""a": 0.5, "b": 0.5"#)).unwrap();
        assert!((apart - 0.25).abs() < 1e-12);
        assert!(furthest(&table(r#""a": 0.5"#), &table(r#""b": 0.5"#)).is_err());
        assert!(furthest(&table(r#""a": 0.5"#), &table(r#""a": 0.5, "b": 0.5"#)).is_err());
        assert!(furthest(b"{}", b"{}").is_err());
    }
}
