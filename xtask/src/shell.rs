//! Running the project's own commands.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use wardline_cli::{Exit, Failure, Stdout};

/// The checkout's root folder.
pub(crate) fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// `cargo` with the arguments, run in the checkout's root.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(args).current_dir(root());
    command
}

/// Prints a heading and runs the command; a non-zero exit code is a failed check.
pub(crate) fn step(out: &mut Stdout, title: &str, command: &mut Command) -> Result<(), Failure> {
    writeln!(out, "== {title}")?;
    out.flush()?;
    let status = command.status().map_err(|e| Failure::usage(format!("{title}: {e}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(Exit::Failed, format!("{title}: {status}"))) }
}
