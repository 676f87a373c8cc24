//! Finding Python, and a virtual environment with the exporter's packages.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::Progress;
use crate::{Error, Result, digest};

/// Tried in this order: the newest version that the packages are locked for comes first.
const NAMES: [&str; 6] = ["python3.13", "python3.12", "python3.11", "python3.10", "python3", "python"];
/// Prints the version, and the modules that a virtual environment needs and this Python lacks.
const PROBE: &str = "import sys, importlib.util as u\n\
    print('%d.%d.%d' % sys.version_info[:3], *[m for m in ('venv', 'ensurepip') if u.find_spec(m) is None])";
pub(crate) const REQUIREMENTS: &str = include_str!("../../agentdojo/requirements.lock");
/// Written last, so that an environment without it is known to be half made.
const COMPLETE: &str = "complete";

/// Variables that would change what a Python that we start does, or where pip installs to.
const UNSET: [&str; 12] = [
    "PYTHONPATH",
    "PYTHONSAFEPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONOPTIMIZE",
    "PYTHONINSPECT",
    "PYTHONWARNINGS",
    "PYTHONPLATLIBDIR",
    "VIRTUAL_ENV",
    "PIP_USER",
    "PIP_TARGET",
    "PIP_PREFIX",
];
const SET: [(&str, &str); 5] =
    [("PYTHONHASHSEED", "0"), ("PYTHONUTF8", "1"), ("PYTHONNOUSERSITE", "1"), ("TZ", "UTC"), ("LC_ALL", "C.UTF-8")];

/// A program in an environment that does not depend on the caller's Python settings or locale.
pub(crate) fn command(program: &OsStr) -> Command {
    let mut command = Command::new(program);
    UNSET.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.envs(SET).stdin(Stdio::null());
    command
}

/// A Python that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Python {
    program: OsString,
    version: (u32, u32, u32),
    missing: Option<&'static str>,
}

impl Python {
    /// What a program says of itself; `None` when it does not run or is no Python 3.
    fn probe(program: &OsStr) -> Option<Self> {
        let output = command(program).args(["-c", PROBE]).output().ok().filter(|o| o.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        let mut words = text.split_whitespace();
        let mut numbers = words.next()?.split('.').map(str::parse);
        let mut number = || numbers.next()?.ok();
        let version = (number()?, number()?, number()?);
        let missing = words.next().map(|m| if m == "venv" { "venv" } else { "ensurepip" });
        Some(Self { program: program.to_owned(), version, missing })
    }

    fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    fn version(&self) -> String {
        let (major, minor, patch) = self.version;
        format!("{major}.{minor}.{patch}")
    }

    fn is_new_enough(&self) -> bool {
        self.version >= (3, 10, 0)
    }
}

/// The Python to use: the one that is named, else the first of [`NAMES`] that is new enough and can make an environment, else
/// the first that is new enough.
fn find(named: Option<&Path>, search: &[OsString]) -> Result<Python> {
    let tried = |names: Vec<String>| Error::NoPython { tried: names.join(", ") };
    if let Some(path) = named {
        let python = Python::probe(path.as_os_str()).ok_or_else(|| tried(vec![path.display().to_string()]))?;
        return if python.is_new_enough() { Ok(python) } else { Err(too_old(&python)) };
    }
    let found: Vec<_> = search.iter().filter_map(|name| Python::probe(name)).collect();
    let usable = || found.iter().filter(|p| p.is_new_enough());
    if let Some(python) = usable().find(|p| p.missing.is_none()).or_else(|| usable().next()) {
        return Ok(python.clone());
    }
    match found.iter().max_by_key(|p| p.version) {
        Some(python) => Err(too_old(python)),
        None => Err(tried(search.iter().map(|n| n.to_string_lossy().into_owned()).collect())),
    }
}

fn too_old(python: &Python) -> Error {
    Error::PythonTooOld { python: python.name(), version: python.version() }
}

/// Programs that are looked for, replaceable for tests.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    pub(crate) pythons: Vec<OsString>,
    pub(crate) uv: OsString,
}

impl Default for Programs {
    fn default() -> Self {
        Self { pythons: NAMES.map(OsString::from).to_vec(), uv: "uv".into() }
    }
}

/// The Python of a virtual environment that holds the exporter's packages, made under `<data folder>/venv` when there is none.
pub(crate) fn environment(
    data_dir: &Path,
    named: Option<&Path>,
    programs: &Programs,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf> {
    let python = find(named, &programs.pythons)?;
    progress(Progress::Python { program: python.name(), version: python.version() });
    let (major, minor, _) = python.version;
    let key = &digest::hex(REQUIREMENTS.as_bytes())[..12];
    let folder = data_dir.join("venv").join(format!("agentdojo-{key}-py{major}.{minor}"));
    let inside = python_inside(&folder);
    if folder.join(COMPLETE).is_file() && Python::probe(inside.as_os_str()).is_some() {
        return Ok(inside);
    }
    progress(Progress::Installing);
    let made = make(&folder, &python, programs);
    if made.is_err() {
        // Whatever the reason was, it is the one to report.
        let _ = fs::remove_dir_all(&folder);
    }
    made.map(|()| inside)
}

fn python_inside(folder: &Path) -> PathBuf {
    if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python") }
}

fn make(folder: &Path, python: &Python, programs: &Programs) -> Result<()> {
    remove_folder(folder)?;
    fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    let requirements = folder.join("requirements.lock");
    fs::write(&requirements, REQUIREMENTS).map_err(|e| Error::io("write", &requirements, e))?;
    let inside = python_inside(folder);
    let has_uv = run(command(&programs.uv).arg("--version")).is_ok();
    if has_uv {
        let mut venv = command(&programs.uv);
        venv.args(["venv", "--quiet", "--no-project", "--no-config", "--allow-existing", "--python"]);
        run(venv.arg(&python.program).arg(folder))?;
        // A user's uv.toml may name a mirror; that of a project in the current folder is none of ours.
        let mut install = command(&programs.uv);
        install.current_dir(folder);
        install.args(["pip", "install", "--quiet", "--python"]).arg(&inside);
        run(install.args(["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r"]).arg(&requirements))?;
    } else {
        if let Some(module) = python.missing {
            return Err(Error::NoVenv { python: python.name(), module });
        }
        run(command(&python.program).args(["-m", "venv"]).arg(folder))?;
        let mut install = command(inside.as_os_str());
        install.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-input",
            "--retries",
            "2",
        ]);
        run(install.args(["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r"]).arg(&requirements))?;
    }
    let complete = folder.join(COMPLETE);
    fs::write(&complete, "").map_err(|e| Error::io("write", &complete, e))
}

pub(crate) fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", folder, e)),
        _ => Ok(()),
    }
}

fn run(command: &mut Command) -> Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let failed = |detail: String| Error::Install { command: shown.clone(), detail };
    let output = command.output().map_err(|e| failed(e.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = said(&output);
    Err(match unreachable(&said) {
        Some(cause) => Error::Unreachable { detail: cause },
        None => failed(last_lines(&said, 4)),
    })
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b)).join("\n")
}

/// The last lines that say something, joined by ` | `.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join(" | ")
}

/// Why the registry does not answer, in the words of pip or uv that say so; `None` when something else went wrong.
fn unreachable(said: &str) -> Option<String> {
    const CAUSES: [&str; 8] = [
        "Temporary failure in name resolution",
        "Name or service not known",
        "nodename nor servname provided",
        "Network is unreachable",
        "Connection refused",
        "Connection reset by peer",
        "timed out",
        "dns error",
    ];
    const SIGNS: [&str; 9] = [
        "NewConnectionError",
        "Failed to establish a new connection",
        "ConnectTimeoutError",
        "ReadTimeoutError",
        "ProxyError",
        "error sending request",
        "Failed to fetch",
        "network was disabled",
        "Network connectivity is disabled",
    ];
    if let Some(cause) = CAUSES.into_iter().find(|cause| said.contains(cause)) {
        return Some(cause.to_owned());
    }
    let line = said.lines().find(|line| SIGNS.iter().any(|sign| line.contains(sign)))?;
    Some(line.trim().chars().take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn script(folder: &Path, name: &str, body: &str) -> OsString {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.into_os_string()
    }

    #[cfg(unix)]
    #[test]
    fn the_first_python_that_can_make_environments_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let old = script(folder.path(), "old", "echo 3.9.18");
        let bare = script(folder.path(), "bare", "echo 3.12.1 ensurepip");
        let good = script(folder.path(), "good", "echo 3.10.13");
        let broken = script(folder.path(), "broken", "exit 127");
        let absent = folder.path().join("absent").into_os_string();
        let all = [absent.clone(), broken.clone(), old.clone(), bare.clone(), good.clone()];
        assert_eq!(find(None, &all).unwrap().program, good);
        let python = find(None, &all[..4]).unwrap();
        assert_eq!((python.program, python.missing), (bare, Some("ensurepip")));
        let error = find(None, &all[..3]).unwrap_err().to_string();
        assert!(error.contains("is Python 3.9.18, which is too old"), "{error}");
        let error = find(None, &all[..2]).unwrap_err().to_string();
        assert!(error.starts_with("no Python found (tried "), "{error}");
        let error = find(Some(Path::new(&old)), &all).unwrap_err().to_string();
        assert!(error.contains("too old"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_python_without_ensurepip_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let bare = script(folder.path(), "bare", "echo 3.12.1 ensurepip");
        let programs = Programs { pythons: vec![bare], uv: folder.path().join("no-uv").into_os_string() };
        let error = environment(folder.path(), None, &programs, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::NoVenv { module: "ensurepip", .. }), "{error}");
        assert_eq!(fs::read_dir(folder.path().join("venv")).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn an_installer_that_reaches_nothing_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let python = script(folder.path(), "python", "echo 3.12.1");
        let uv = script(
            folder.path(),
            "uv",
            "[ \"$1\" = pip ] || exit 0\necho 'error: Failed to fetch: `https://…`' >&2\necho '  Caused by: dns error' >&2\nexit 2",
        );
        let programs = Programs { pythons: vec![python.clone()], uv };
        let error = environment(folder.path(), None, &programs, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::Unreachable { .. }), "{error}");
        let uv = script(folder.path(), "uv", "[ \"$1\" = pip ] || exit 0\necho 'hashes do not match' >&2\nexit 2");
        let programs = Programs { pythons: vec![python], uv };
        let error = environment(folder.path(), None, &programs, &mut |_| {}).unwrap_err();
        assert!(error.to_string().ends_with("hashes do not match"), "{error}");
        assert_eq!(fs::read_dir(folder.path().join("venv")).unwrap().count(), 0);
    }

    #[test]
    fn every_requirement_is_pinned_with_hashes() {
        let pins: Vec<_> = REQUIREMENTS.lines().filter(|l| !l.starts_with([' ', '#'])).collect();
        assert!(pins.len() >= 10 && pins.iter().all(|p| p.contains("==") && p.ends_with('\\')), "{pins:?}");
        assert!(pins.contains(&"agentdojo==0.1.35 \\"));
    }
}
