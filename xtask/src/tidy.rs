//! `cargo xtask tidy`: rules of the repository that no compiler checks.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use wardline_cli::{Exit, Failure, Stdout};

use crate::shell::root;

/// Check the rules of the repository that no compiler checks
#[derive(clap::Args)]
pub(crate) struct Args {}

/// A tracked file above this size is a built product or somebody else's data.
const MAX_SIZE: u64 = 1 << 20;

pub(crate) fn run(_: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let root = root();
    let mut problems = Vec::new();
    let files = tracked(&root)?;
    for file in &files {
        let path = root.join(file);
        // A deleted file that is still in the index is no concern here.
        let Ok(bytes) = fs::read(&path) else { continue };
        if bytes.len() as u64 > MAX_SIZE {
            problems.push(format!("{file}: {} bytes, more than {MAX_SIZE}", bytes.len()));
        }
        if let Ok(text) = std::str::from_utf8(&bytes) {
            check_text(file, text, &mut problems);
        }
    }
    for manifest in files.iter().filter(|f| f.ends_with("Cargo.toml") && f.contains('/') && !f.starts_with("fuzz/")) {
        let text = fs::read_to_string(root.join(manifest))?;
        if !text.contains("[lints]\nworkspace = true") {
            problems.push(format!("{manifest}: does not take the workspace's lints"));
        }
        if !text.contains("description = ") {
            problems.push(format!("{manifest}: has no description"));
        }
    }
    dependencies_are_explained(&root, &files, &mut problems)?;
    for problem in &problems {
        writeln!(out, "{problem}")?;
    }
    if !problems.is_empty() {
        return Err(Failure::new(Exit::Failed, format!("{} problems", problems.len())));
    }
    writeln!(out, "{} tracked files are tidy", files.len())?;
    Ok(Exit::Ok)
}

fn tracked(root: &Path) -> Result<Vec<String>, Failure> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output()?;
    if !output.status.success() {
        return Err(Failure::usage("git ls-files failed: tidy needs a git checkout".to_owned()));
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(names.split('\0').filter(|n| !n.is_empty()).map(str::to_owned).collect())
}

fn check_text(file: &str, text: &str, problems: &mut Vec<String>) {
    let beside = concat!("../", "shared");
    let may_name_it = ["CONTRIBUTING.md", ".ci/", "xtask/"].iter().any(|p| file.starts_with(p));
    let is_rust = file.ends_with(".rs");
    for (i, line) in text.lines().enumerate() {
        let mut problem = |what: &str| problems.push(format!("{file}:{}: {what}", i + 1));
        if !may_name_it && line.contains(beside) {
            problem("names the optional test-data folder");
        }
        if is_rust && line.contains(concat!("#[", "ignore")) {
            problem("an ignored test");
        }
        if is_rust && line.contains(concat!("FIX", "ME")) && !line.contains("docs/") {
            problem("an open end without a page in docs/ that states it");
        }
    }
    if (is_rust || file.ends_with(".md") || file.ends_with(".toml")) && !text.is_empty() && !text.ends_with('\n') {
        problems.push(format!("{file}: does not end with a newline"));
    }
}

/// Every direct dependency of a manifest has a row in `docs/dependencies.md`.
fn dependencies_are_explained(root: &Path, files: &[String], problems: &mut Vec<String>) -> Result<(), Failure> {
    let explained = fs::read_to_string(root.join("docs/dependencies.md"))?;
    let first_cells: Vec<&str> = explained.lines().filter_map(|l| l.strip_prefix("| ")?.split('|').next()).collect();
    let named = |name: &str| first_cells.iter().any(|cell| cell.split([',', ' ']).any(|word| word.trim() == name));
    for manifest in files.iter().filter(|f| f.ends_with("Cargo.toml") && f.contains('/')) {
        let toml: toml::Table =
            fs::read_to_string(root.join(manifest))?.parse().map_err(|e| Failure::usage(format!("{manifest}: {e}")))?;
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = toml.get(section).and_then(toml::Value::as_table) else { continue };
            for name in table.keys().filter(|n| !n.starts_with("wardline-") && !named(n)) {
                problems.push(format!("{manifest}: {name} has no row in docs/dependencies.md"));
            }
        }
    }
    Ok(())
}
