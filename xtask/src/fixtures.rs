//! `cargo xtask fixtures NAME`: expected values of tests, made anew by their generators.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use wardline_cli::{Exit, Failure, Stdout, data_dir};

use crate::python;
use crate::shell::{cargo, root, step};

/// Make expected values of tests anew with pinned Python packages
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which ones
    name: Name,
    /// Write nothing; exit 1 when a committed number differs by more than rounding or anything else differs at all
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Name {
    /// The published protocol on a synthetic run
    Analysis,
    /// Tiny models and their logits; needs Linux on x86-64, Python 3.11 and 6 GB for PyTorch
    Classifier,
    Metrics,
}

impl Name {
    /// How far a number may be from the committed one, of its size or of 1.
    fn tolerance(self) -> f64 {
        match self {
            // Logits in single precision; the weights are drawn and must be equal.
            Self::Classifier => 1e-5,
            Self::Analysis | Self::Metrics => 1e-12,
        }
    }

    /// Name and folder; the folder holds `generate.py`, which writes files to the folder given, and mostly `requirements.lock`.
    fn folder(self) -> (&'static str, &'static str) {
        match self {
            Self::Analysis => ("analysis", "crates/analysis/fixtures"),
            Self::Classifier => ("classifier", "crates/classifier/tests/fixtures"),
            Self::Metrics => ("metrics", "crates/metrics/fixtures"),
        }
    }
}

/// The files below a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { all.extend(files(&path)?) } else { all.push(path) }
    }
    all.sort();
    Ok(all)
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let (name, folder) = args.name.folder();
    // The analysis needs what the statistics need.
    let python = match args.name {
        Name::Analysis => python::environment("metrics", "crates/metrics/fixtures/requirements.lock")?,
        _ => python::environment(name, &format!("{folder}/requirements.lock"))?,
    };
    let fresh = root().join("target/fixtures").join(name);
    if fresh.exists() {
        fs::remove_dir_all(&fresh)?;
    }
    fs::create_dir_all(&fresh)?;
    let mut generate = python::script(&python, &format!("{folder}/generate.py"));
    generate.arg(&fresh);
    if matches!(args.name, Name::Analysis) {
        let run = root().join("target/synthetic-run");
        let mut write =
            cargo(&["run", "--quiet", "--package", "wardline-analysis", "--example", "synthetic_run", "--"]);
        step(out, "the synthetic run", write.arg(&run))?;
        generate.args([run.join("run"), run.join("naive")]);
    }
    step(out, &format!("{folder}/generate.py"), &mut generate)?;
    let model = data_dir(None)?.path.join("models").join(crate::models::MODEL);
    if matches!(args.name, Name::Classifier) && model.is_dir() {
        // What an independent computation says of the model that packages carry, where it has been fetched.
        let script = format!("{folder}/jailguard.py");
        step(out, &script, python::script(&python, &script).arg(&model).arg(fresh.join("jailguard.json")))?;
    }
    let committed = root().join(folder);
    let mut differing = Vec::new();
    let fresh_files = files(&fresh)?;
    for file in &fresh_files {
        let name = file.strip_prefix(&fresh).unwrap_or(file);
        if args.check {
            let (made, kept) = (fs::read(file)?, fs::read(committed.join(name)).unwrap_or_default());
            let text = |bytes: &[u8]| std::str::from_utf8(bytes).map(str::to_owned);
            let equal = match (text(&made), text(&kept)) {
                (Ok(made), Ok(kept)) => same(&made, &kept, args.name.tolerance()),
                _ => made == kept,
            };
            if !equal {
                differing.push(name.display().to_string());
            }
        } else {
            replace(file, &committed.join(name))?;
        }
    }
    let files = fresh_files.len();
    if !differing.is_empty() {
        return Err(Failure::new(Exit::Failed, format!("{folder}: fresh values differ in {}", differing.join(", "))));
    }
    let what = if args.check { "agree with fresh ones" } else { "written" };
    writeln!(out, "{folder}: {files} files {what}")?;
    Ok(Exit::Ok)
}

/// Copies beside, then renames.
fn replace(from: &Path, to: &Path) -> Result<(), Failure> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = to.with_extension("new");
    fs::copy(from, &beside)?;
    Ok(fs::rename(&beside, to)?)
}

/// Whether two JSON texts are the same but for the last digits of their numbers, which depend on the processor.
fn same(a: &str, b: &str, tolerance: f64) -> bool {
    let tokens = |text: &str| -> Vec<String> {
        text.split_inclusive([',', ':', '[', ']', '{', '}', '\n']).map(str::to_owned).collect()
    };
    let (a, b) = (tokens(a), tokens(b));
    let number = |token: &str| token.trim_end_matches([',', ':', '[', ']', '{', '}', '\n']).parse::<f64>().ok();
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| {
            a == b
                || match (number(a), number(b)) {
                    (Some(x), Some(y)) => {
                        a.chars().last() == b.chars().last() && (x - y).abs() <= tolerance * x.abs().max(1.0)
                    }
                    _ => false,
                }
        })
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn last_digits_may_differ_and_nothing_else() {
        assert!(same(r#"{"a":[0.1,null]}"#, r#"{"a":[0.1000000000000001,null]}"#, 1e-12));
        assert!(!same(r#"{"a":[0.1,null]}"#, r#"{"a":[0.100001,null]}"#, 1e-12));
        assert!(!same(r#"{"a":[0.1,null]}"#, r#"{"a":[0.1,0]}"#, 1e-12));
        assert!(!same(r#"{"a":[0.1,2]}"#, r#"{"a":[0.1]}"#, 1e-12));
        assert!(!same(r#"{"a":1}"#, r#"{"b":1}"#, 1e-12));
    }
}
