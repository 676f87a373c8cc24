//! Private Python environments for the scripts that maintainers run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wardline_cli::{Exit, Failure};

use crate::shell::root;

/// The interpreter of a virtual environment under `target/` that holds exactly the packages of a hash-pinned requirements file
/// (relative to the checkout); made anew when the file has changed.
pub(crate) fn environment(name: &str, requirements: &str) -> Result<PathBuf, Failure> {
    let lock = root().join(requirements);
    let wanted = fs::read(&lock).map_err(|e| Failure::usage(format!("{requirements}: {e}")))?;
    let folder = root().join("target/python").join(name);
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let installed = folder.join("installed.lock");
    if fs::read(&installed).is_ok_and(|found| found == wanted) && runs(&python) {
        return Ok(python);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let interpreter = ["python3", "python"].into_iter().find(|p| runs(Path::new(p)));
    let interpreter = interpreter.ok_or_else(|| Failure::usage("no Python interpreter: python3 is not to be found"))?;
    if runs(Path::new("uv")) {
        let mut make = Command::new("uv");
        step(make.args(["venv", "--quiet", "--python", interpreter]).arg(&folder))?;
        let mut install = Command::new("uv");
        install
            .args(["pip", "install", "--quiet", "--require-hashes", "--no-deps", "--python"])
            .arg(&python)
            .arg("-r")
            .arg(&lock);
        step(&mut install)?;
    } else {
        if !succeeds(Command::new(interpreter).args(["-c", "import venv, ensurepip"])) {
            return Err(Failure::usage(format!(
                "{interpreter} has no venv or ensurepip module (Debian has them in python3-venv); installing uv does as well"
            )));
        }
        step(Command::new(interpreter).args(["-m", "venv"]).arg(&folder))?;
        let mut install = Command::new(&python);
        install.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "--no-deps",
        ]);
        step(install.arg("-r").arg(&lock))?;
    }
    fs::write(&installed, wanted)?;
    Ok(python)
}

/// A command for the interpreter, with nothing of the user's own Python settings.
pub(crate) fn script(python: &Path, script: &str) -> Command {
    let mut command = Command::new(python);
    command.arg("-I").arg(root().join(script)).current_dir(root());
    command
}

fn runs(program: &Path) -> bool {
    succeeds(Command::new(program).arg("--version"))
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn step(command: &mut Command) -> Result<(), Failure> {
    let shown = format!("{command:?}");
    let status = command.status().map_err(|e| Failure::usage(format!("{shown}: {e}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(Exit::Failed, format!("{shown}: {status}"))) }
}
