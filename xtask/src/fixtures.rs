//! `cargo xtask fixtures NAME`: expected values of tests, made anew by their generators.

use std::fs;
use std::io::Write;
use std::path::Path;

use wardline_cli::{Exit, Failure, Stdout};

use crate::python;
use crate::shell::{root, step};

/// Make expected values of tests anew with pinned Python packages
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which ones
    name: Name,
    /// Write nothing; exit 1 when a committed number differs by more than 1e-12 or anything else differs at all
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Name {
    Metrics,
}

impl Name {
    /// Name and folder; the folder holds `generate.py`, which writes JSON files to the folder given, and `requirements.lock`.
    fn folder(self) -> (&'static str, &'static str) {
        match self {
            Self::Metrics => ("metrics", "crates/metrics/fixtures"),
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let (name, folder) = args.name.folder();
    let python = python::environment(name, &format!("{folder}/requirements.lock"))?;
    let fresh = root().join("target/fixtures").join(name);
    if fresh.exists() {
        fs::remove_dir_all(&fresh)?;
    }
    fs::create_dir_all(&fresh)?;
    step(out, &format!("{folder}/generate.py"), python::script(&python, &format!("{folder}/generate.py")).arg(&fresh))?;
    let committed = root().join(folder);
    let mut differing = Vec::new();
    let mut files = 0;
    for entry in fs::read_dir(&fresh)? {
        let entry = entry?;
        let file = committed.join(entry.file_name());
        files += 1;
        if args.check {
            if !same(&fs::read_to_string(entry.path())?, &fs::read_to_string(&file).unwrap_or_default()) {
                differing.push(entry.file_name().to_string_lossy().into_owned());
            }
        } else {
            replace(&entry.path(), &file)?;
        }
    }
    differing.sort();
    if !differing.is_empty() {
        return Err(Failure::new(Exit::Failed, format!("{folder}: fresh values differ in {}", differing.join(", "))));
    }
    let what = if args.check { "agree with fresh ones" } else { "written" };
    writeln!(out, "{folder}: {files} files {what}")?;
    Ok(Exit::Ok)
}

/// Copies beside, then renames.
fn replace(from: &Path, to: &Path) -> Result<(), Failure> {
    let beside = to.with_extension("json.new");
    fs::copy(from, &beside)?;
    Ok(fs::rename(&beside, to)?)
}

/// Whether two JSON texts are the same but for the last digits of their numbers, which depend on the processor.
fn same(a: &str, b: &str) -> bool {
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
                        a.chars().last() == b.chars().last() && (x - y).abs() <= 1e-12 * x.abs().max(1.0)
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
        assert!(same(r#"{"a":[0.1,null]}"#, r#"{"a":[0.1000000000000001,null]}"#));
        assert!(!same(r#"{"a":[0.1,null]}"#, r#"{"a":[0.100001,null]}"#));
        assert!(!same(r#"{"a":[0.1,null]}"#, r#"{"a":[0.1,0]}"#));
        assert!(!same(r#"{"a":[0.1,2]}"#, r#"{"a":[0.1]}"#));
        assert!(!same(r#"{"a":1}"#, r#"{"b":1}"#));
    }
}
