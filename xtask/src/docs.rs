//! `cargo xtask docs`: the tables and command references in the documents, written by the commands they show.
//!
//! A block begins with `<!-- $ COMMAND -->`, where the command is one of ours, and ends with `<!-- / -->`. What the command prints
//! stands between; `<!-- $ COMMAND | fence -->` puts it in a code block.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use wardline_cli::{Exit, Failure, Stdout, data_dir};

use crate::shell::{built, cargo, root, step};

/// Write the tables and command references of the documents anew
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; exit 1 when a document is not fresh
    #[arg(long)]
    check: bool,
    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let data = std::path::absolute(data_dir(args.data_dir.as_deref())?.path)?;
    step(out, "build the binaries", &mut cargo(&["build", "--package", "deveval", "--package", "mailbench"]))?;
    refresh(&data, args.check, out)?;
    Ok(Exit::Ok)
}

/// Writes the blocks of every document anew, or with `check` fails when one is not what its command prints. The binaries must
/// have been built.
pub(crate) fn refresh(data: &Path, check: bool, out: &mut Stdout) -> Result<(), Failure> {
    let mut stale = Vec::new();
    for path in documents()? {
        let before = fs::read_to_string(&path)?;
        let after = rewritten(&before, |command| output_of(command, data)).map_err(|e| {
            let failure = format!("{}: {e}", path.display());
            Failure::new(Exit::Failed, failure)
        })?;
        if before != after {
            stale.push(path.display().to_string());
            if !check {
                fs::write(&path, after)?;
            }
        }
    }
    match (stale.is_empty(), check) {
        (true, _) => writeln!(out, "the documents are fresh")?,
        (false, false) => writeln!(out, "written: {}", stale.join(" "))?,
        (false, true) => {
            let message = format!("not fresh, run cargo xtask docs: {}", stale.join(" "));
            return Err(Failure::new(Exit::Failed, message));
        }
    }
    Ok(())
}

fn documents() -> Result<Vec<PathBuf>, Failure> {
    let mut found = vec![root().join("README.md")];
    for entry in fs::read_dir(root().join("docs"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn rewritten(text: &str, mut output: impl FnMut(&str) -> Result<String, String>) -> Result<String, String> {
    let mut result = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        result.push_str(line);
        result.push('\n');
        let Some(marker) = line.strip_prefix("<!-- $ ").and_then(|l| l.strip_suffix(" -->")) else { continue };
        let (command, fence) = match marker.strip_suffix(" | fence") {
            Some(command) => (command, "```\n"),
            None => (marker, ""),
        };
        if !lines.by_ref().any(|l| l == "<!-- / -->") {
            return Err(format!("block {command} has no end"));
        }
        result.push_str(&format!("\n{fence}{}\n{fence}\n<!-- / -->\n", output(command)?.trim_end()));
    }
    Ok(result)
}

fn output_of(command: &str, data: &Path) -> Result<String, String> {
    let mut words = command.split_whitespace();
    let program =
        words.next().filter(|p| ["deveval", "mailbench"].contains(p)).ok_or("only our own commands are run")?;
    let output = Command::new(built("debug", program).map_err(|e| e.to_string())?)
        .args(words)
        .current_dir(root())
        .env("WARDLINE_DATA", data)
        .env("COLUMNS", "110")
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("{command}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|e| format!("{command}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn blocks_are_replaced_and_the_rest_stays() {
        let text = "a\n<!-- $ deveval x -->\nold\n<!-- / -->\nb\n<!-- $ deveval y | fence -->\n<!-- / -->\n";
        let new = rewritten(text, |command| Ok(format!("<{command}>\n"))).unwrap();
        let expected = "a\n<!-- $ deveval x -->\n\n<deveval x>\n\n<!-- / -->\nb\n<!-- $ deveval y | fence -->\n\n```\n\
                        <deveval y>\n```\n\n<!-- / -->\n";
        assert_eq!(new, expected);
        assert_eq!(rewritten(&new, |command| Ok(format!("<{command}>"))).unwrap(), expected);
        assert!(rewritten("<!-- $ deveval x -->\n", |_| Ok(String::new())).is_err());
        assert!(rewritten(text, |_| Err("no".to_owned())).is_err());
    }
}
