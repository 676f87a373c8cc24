//! Running the project's own commands.

use std::env::consts::EXE_SUFFIX;
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

/// Where cargo puts a program (or `examples/NAME`) that it builds in this profile: in the folder that this process was built into, which
/// `CARGO_TARGET_DIR` and cargo's configuration can put outside the checkout.
pub(crate) fn built(profile: &str, name: &str) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()?;
    let all =
        own.ancestors().nth(2).ok_or_else(|| Failure::usage(format!("{} is in no target folder", own.display())))?;
    Ok(all.join(profile).join(format!("{name}{EXE_SUFFIX}")))
}

/// Prints a heading and runs the command; a non-zero exit code is a failed check.
pub(crate) fn step(out: &mut Stdout, title: &str, command: &mut Command) -> Result<(), Failure> {
    writeln!(out, "== {title}")?;
    out.flush()?;
    let status = command.status().map_err(|e| Failure::usage(format!("{title}: {e}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(Exit::Failed, format!("{title}: {status}"))) }
}
