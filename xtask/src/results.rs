//! `cargo xtask results`: the figures of `docs/results.md`, from the corpora to the tables.
//!
//! A block begins with `<!-- results PROFILE TABLE -->` and ends with `<!-- / -->`; what stands between is written anew.

mod tables;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use wardline_cli::{Exit, Failure, Stdout, data_dir};

use crate::shell::{built, cargo, root, step};

/// Write the tables of docs/results.md anew: corpora, training, scores, analysis
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; exit 1 when a table is not fresh
    #[arg(long)]
    check: bool,
    /// Folder of the upstream data sets, for the full profile; without it only the core profile is measured
    #[arg(long, value_name = "DIR")]
    upstream: Option<PathBuf>,
    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Python for the exporter, 3.10 or later [default: the newest found]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
}

/// Detectors by the name in the tables. Those of one task are trained for it.
pub(crate) const TRAINED: [(&str, &str); 2] = [("ngram-injection", "injection"), ("ngram-phishing", "phishing")];

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let data = std::path::absolute(data_dir(args.data_dir.as_deref())?.path)?;
    let mailbench = build(out)?;
    let python = args.python.as_deref();
    refresh(&mailbench, &data, python, args.upstream.as_deref(), args.check, out)?;
    Ok(Exit::Ok)
}

/// Builds `mailbench` for measuring.
pub(crate) fn build(out: &mut Stdout) -> Result<PathBuf, Failure> {
    step(out, "build mailbench", &mut cargo(&["build", "--release", "--locked", "--package", "mailbench"]))?;
    built("release", "mailbench")
}

/// Measures what can be built here and writes, or checks, its tables in the document.
pub(crate) fn refresh(
    mailbench: &Path,
    data: &Path,
    python: Option<&Path>,
    upstream: Option<&Path>,
    check: bool,
    out: &mut Stdout,
) -> Result<(), Failure> {
    let path = root().join("docs/results.md");
    let before = fs::read_to_string(&path)?;
    let mut text = before.clone();
    for (profile, upstream) in [("core", None), ("full", upstream)] {
        if profile == "full" && upstream.is_none() {
            continue;
        }
        let folder = measure(mailbench, profile, data, python, upstream, out)?;
        let analysis: Value = serde_json::from_slice(&fs::read(folder.join("analysis.json"))?)?;
        text = rewritten(&text, profile, |name| tables::table(name, &analysis))?;
    }
    match (text == before, check) {
        (true, _) => writeln!(out, "{} is fresh", path.display())?,
        (false, false) => {
            fs::write(&path, text)?;
            writeln!(out, "written: {}", path.display())?;
        }
        (false, true) => {
            let first = before.lines().zip(text.lines()).find(|(a, b)| a != b);
            let (old, new) = first.unwrap_or(("", ""));
            let message = format!("{} is not fresh, run cargo xtask results: {old:?} is now {new:?}", path.display());
            return Err(Failure::new(Exit::Failed, message));
        }
    }
    Ok(())
}

/// Builds a profile, trains on its dev half, scores both views and analyzes; gives the folder with the results and their page.
pub(crate) fn measure(
    mailbench: &Path,
    profile: &str,
    data: &Path,
    python: Option<&Path>,
    upstream: Option<&Path>,
    out: &mut Stdout,
) -> Result<PathBuf, Failure> {
    let command = |args: &[&str]| {
        let mut command = Command::new(mailbench);
        command.args(args);
        command
    };
    let mut build = command(&["corpus", "build", "--profile", profile, "--data-dir"]);
    build.arg(data);
    for (flag, value) in [("--python", python), ("--upstream", upstream)] {
        if let Some(value) = value {
            build.arg(flag).arg(value);
        }
    }
    step(out, &format!("build the mail benchmark's {profile} profile"), &mut build)?;

    let results = data.join("mail").join(format!("{profile}-results"));
    if results.exists() {
        fs::remove_dir_all(&results)?;
    }
    fs::create_dir_all(&results)?;
    let manifest = data.join("mail").join(profile).join("manifest.jsonl");
    let mut detectors = vec!["heuristics".to_owned()];
    for (name, task) in TRAINED {
        let model = results.join(format!("{name}.json"));
        let mut train = command(&["train", "--task", task, "--manifest"]);
        step(out, &format!("train {name} on the dev half"), train.arg(&manifest).arg("--out").arg(&model))?;
        detectors.push(format!("{name}=ngram:{}", model.display()));
    }
    for view in ["canonical", "naive"] {
        let mut score = command(&["score", "--view", view, "--manifest"]);
        score.arg(&manifest).arg("--out-dir").arg(results.join(view));
        for detector in &detectors {
            score.arg("--detector").arg(detector);
        }
        scored(&format!("score the {view} view"), &mut score, out)?;
    }
    let title = format!("Heuristics and n-grams on the {profile} corpus");
    let mut analyze = command(&["analyze", "--group-by", "base_scenario_id", "--title", &title]);
    analyze.arg(results.join("canonical")).arg("--naive").arg(results.join("naive")).arg("--output-dir").arg(&results);
    writeln!(out, "== analyze")?;
    out.flush()?;
    let analyzed = analyze.output()?;
    if !analyzed.status.success() {
        return Err(Failure::new(Exit::Failed, String::from_utf8_lossy(&analyzed.stderr).trim().to_owned()));
    }
    writeln!(out, "the page: {}", results.join("index.html").display())?;
    Ok(results)
}

/// A run in which a trained model refuses the records that it has seen is incomplete, and meant to be.
fn scored(title: &str, score: &mut Command, out: &mut Stdout) -> Result<(), Failure> {
    writeln!(out, "== {title}")?;
    out.flush()?;
    let output = score.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let refused = output.status.code() == Some(3) && said.contains("the model was trained on this record");
    write!(out, "{}", String::from_utf8_lossy(&output.stdout))?;
    if output.status.success() || refused {
        return Ok(());
    }
    Err(Failure::new(Exit::Failed, format!("{title}: {}", said.trim())))
}

/// The document with the blocks of a profile written anew.
fn rewritten(
    text: &str,
    profile: &str,
    mut table: impl FnMut(&str) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let begin = format!("<!-- results {profile} ");
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(&begin) {
        let wrong = || Failure::new(Exit::Failed, format!("a block of results {profile} has no end"));
        let (name, after) = after.split_once(" -->").ok_or_else(wrong)?;
        let (_, after) = after.split_once("<!-- / -->").ok_or_else(wrong)?;
        done.push_str(&format!("{before}{begin}{name} -->\n\n{}\n<!-- / -->", table(name)?));
        rest = after;
    }
    Ok(done + rest)
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn blocks_of_the_profile_are_written_anew() {
        let text = "a\n<!-- results core x -->\nold\n<!-- / -->\nb\n<!-- results full x -->\nkept\n<!-- / -->\n";
        let found = rewritten(text, "core", |name| Ok(format!("new {name}\n"))).unwrap();
        let want = "a\n<!-- results core x -->\n\nnew x\n\n<!-- / -->\nb\n<!-- results full x -->\nkept\n<!-- / -->\n";
        assert_eq!(found, want);
        assert_eq!(rewritten(&found, "core", |name| Ok(format!("new {name}\n"))).unwrap(), found);
        assert!(rewritten("<!-- results core x -->", "core", |_| Ok(String::new())).is_err());
    }
}
