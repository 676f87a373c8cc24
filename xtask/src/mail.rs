//! The mail side of `cargo xtask reproduce`: the core profile, scored by the heuristics on both views, and its page.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use wardline_cli::{Failure, Stdout};

use crate::shell::{cargo, root, step};

pub(crate) fn core_profile(data: &Path, python: Option<&Path>, out: &mut Stdout) -> Result<(), Failure> {
    step(out, "build mailbench", &mut cargo(&["build", "--release", "--locked", "--package", "mailbench"]))?;
    let program = root().join(format!("target/release/mailbench{}", std::env::consts::EXE_SUFFIX));
    let mailbench = |args: &[&str]| {
        let mut command = Command::new(&program);
        command.args(args);
        command
    };
    let mut build = mailbench(&["corpus", "build", "--profile", "core", "--data-dir"]);
    build.arg(data);
    if let Some(python) = python {
        build.arg("--python").arg(python);
    }
    step(out, "build the mail benchmark's core profile", &mut build)?;

    let results = data.join("mail/core-results");
    if results.exists() {
        fs::remove_dir_all(&results)?;
    }
    let manifest = data.join("mail/core/manifest.jsonl");
    for view in ["canonical", "naive"] {
        let mut score = mailbench(&["score", "--detector", "heuristics", "--view", view, "--manifest"]);
        step(out, &format!("heuristics, {view} view"), score.arg(&manifest).arg("--out-dir").arg(results.join(view)))?;
    }
    let mut analyze =
        mailbench(&["analyze", "--group-by", "base_scenario_id", "--title", "Heuristics on the core corpus"]);
    analyze.arg(results.join("canonical")).arg("--naive").arg(results.join("naive"));
    step(out, "analyze", analyze.arg("--output-dir").arg(&results))?;
    writeln!(out, "the page: {}", results.join("index.html").display())?;
    Ok(())
}
