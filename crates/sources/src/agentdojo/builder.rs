use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, Read};
use std::num::NonZero;
use std::path::{self, Path, PathBuf};
use std::process::{self, Stdio};
use std::thread;

use super::python::{self, Programs};
use super::store::{digest_file, file, folder};
use super::{CheckReport, CorpusName, check, locked};
use crate::{Error, Result};

/// The exporter, as it is written into a folder of its own before it runs.
const EXPORTER: [(&str, &str); 7] = [
    ("attacks.py", include_str!("../../agentdojo/attacks.py")),
    ("egress.toml", include_str!("../../agentdojo/egress.toml")),
    ("export.py", include_str!("../../agentdojo/export.py")),
    ("hash_order.py", include_str!("../../agentdojo/hash_order.py")),
    ("inbox.py", include_str!("../../agentdojo/inbox.py")),
    ("replay.py", include_str!("../../agentdojo/replay.py")),
    ("suites.py", include_str!("../../agentdojo/suites.py")),
];

/// What a build is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// This Python was found.
    Python {
        /// The program.
        program: String,
        /// Its version.
        version: String,
    },
    /// A virtual environment is made and the packages are fetched.
    Installing,
    /// Tasks are replayed.
    Exporting {
        /// Jobs done.
        done: u64,
        /// Jobs in all.
        total: u64,
    },
    /// What was made is compared with the lock.
    Checking,
}

/// Builds corpora into a data folder.
///
/// Starts Python, which fetches the exporter's packages from the package registry the first time. Only one build at a time works
/// in a data folder. Files appear whole or not at all: they are made in a folder of their own, compared with the lock, and moved.
#[derive(Debug, Clone)]
pub struct Builder {
    data_dir: PathBuf,
    python: Option<PathBuf>,
    workers: Option<NonZero<usize>>,
    programs: Programs,
}

/// What a build did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Built {
    /// The corpus.
    pub name: CorpusName,
    /// Its file.
    pub path: PathBuf,
    /// The file's size in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, in lower-case hex.
    pub sha256: String,
}

/// Files that were made for a comparison. They are removed when this value is dropped.
#[derive(Debug)]
pub struct Regenerated {
    work: WorkFolder,
}

impl Regenerated {
    /// The folder that holds one `<corpus>.jsonl` for each corpus asked for.
    pub fn folder(&self) -> PathBuf {
        self.work.out()
    }
}

impl Builder {
    /// Builds into `data_dir`, which is made when it is not there.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self { data_dir: data_dir.into(), python: None, workers: None, programs: Programs::default() }
    }

    /// Uses this Python instead of the first that is found on the search path.
    #[must_use]
    pub fn python(mut self, program: impl Into<PathBuf>) -> Self {
        self.python = Some(program.into());
        self
    }

    /// Uses this many processes instead of one a processor, at most eight. The bytes do not depend on it.
    #[must_use]
    pub fn workers(mut self, count: NonZero<usize>) -> Self {
        self.workers = Some(count);
        self
    }

    /// Builds the corpora, replacing what is there.
    ///
    /// # Errors
    /// No fitting Python, packages that cannot be had, a failing exporter, a full disk, [`Error::Busy`] when another build is at
    /// work, and [`Error::Mismatch`] when what was made is not what the lock says. The data folder's corpora are then as before.
    pub fn build(&self, names: &[CorpusName], progress: &mut dyn FnMut(Progress)) -> Result<Vec<Built>> {
        let made = self.regenerate(names, progress)?;
        progress(Progress::Checking);
        let mut report = check(&self.data_dir, names, Some(&made.folder()))?;
        report.files.retain(|f| f.fresh);
        if !report.is_ok() {
            return Err(Error::Mismatch(Box::new(report)));
        }
        names.iter().collect::<BTreeSet<_>>().into_iter().map(|&name| self.install(name, &made)).collect()
    }

    /// Makes the corpora anew beside what is there, and leaves both for a comparison.
    ///
    /// # Errors
    /// As [`Builder::build`], but for the comparison.
    pub fn regenerate(&self, names: &[CorpusName], progress: &mut dyn FnMut(Progress)) -> Result<Regenerated> {
        let data_dir = path::absolute(&self.data_dir).map_err(|e| Error::io("find", &self.data_dir, e))?;
        let work = WorkFolder::new(&data_dir)?;
        let python = python::environment(&data_dir, self.python.as_deref(), &self.programs, progress)?;
        self.export(&python, &work, names, progress)?;
        Ok(Regenerated { work })
    }

    /// Makes the corpora anew and compares what is built, and what was made, with the lock.
    ///
    /// # Errors
    /// As [`Builder::regenerate`]. Differences are no error but in the report.
    pub fn check(&self, names: &[CorpusName], progress: &mut dyn FnMut(Progress)) -> Result<CheckReport> {
        let made = self.regenerate(names, progress)?;
        progress(Progress::Checking);
        check(&self.data_dir, names, Some(&made.folder()))
    }

    fn export(
        &self,
        python: &Path,
        work: &WorkFolder,
        names: &[CorpusName],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<()> {
        let scripts = work.scripts();
        for (name, text) in EXPORTER {
            let path = scripts.join(name);
            fs::write(&path, text).map_err(|e| Error::io("write", &path, e))?;
        }
        let mut command = python::command(python.as_os_str());
        command.arg(scripts.join("export.py")).arg("--out").arg(work.out());
        command.arg("--egress").arg(scripts.join("egress.toml"));
        if let Some(workers) = self.workers {
            command.arg("--workers").arg(workers.to_string());
        }
        command.args(names.iter().map(|n| n.stem())).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| Error::io("run", python, e))?;
        let mut stderr = child.stderr.take();
        let errors = thread::spawn(move || {
            let mut text = Vec::new();
            // What could be read is shown; a broken pipe only shortens it.
            let _ = stderr.as_mut().map(|s| s.read_to_end(&mut text));
            String::from_utf8_lossy(&text).into_owned()
        });
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines().map_while(|l| l.ok()) {
                if let Some((done, total)) = parse_progress(&line) {
                    progress(Progress::Exporting { done, total });
                }
            }
        }
        let status = child.wait().map_err(|e| Error::io("wait for", python, e))?;
        let said = errors.join().unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        Err(Error::Export { status: status.to_string(), detail: python::last_lines(&said, 1) })
    }

    fn install(&self, name: CorpusName, made: &Regenerated) -> Result<Built> {
        let from = made.folder().join(name.file_name());
        let sha256 = locked(name).sha256().to_owned();
        let bytes = fs::metadata(&from).map_err(|e| Error::io("read", &from, e))?.len();
        // The digest file goes last: a crash between the two leaves a file that the lock accepts without it.
        let digest = made.folder().join(format!("{}.sha256", name.stem()));
        write_synced(&digest, format!("{sha256}  {}\n", name.file_name()).as_bytes())?;
        let path = file(&self.data_dir, name);
        rename(&from, &path)?;
        rename(&digest, &digest_file(&self.data_dir, name))?;
        sync_folder(&folder(&self.data_dir))?;
        Ok(Built { name, path, bytes, sha256 })
    }
}

fn parse_progress(line: &str) -> Option<(u64, u64)> {
    let (done, total) = line.strip_prefix("done ")?.split_once(" of ")?;
    Some((done.parse().ok()?, total.parse().ok()?))
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(|e| Error::io("write", path, e))?;
    File::open(path).and_then(|f| f.sync_all()).map_err(|e| Error::io("write", path, e))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|e| Error::io("replace", to, e))
}

fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        File::open(folder).and_then(|f| f.sync_all()).map_err(|e| Error::io("sync", folder, e))
    } else {
        Ok(())
    }
}

/// The folder that one build works in, locked against a second build and removed at the end.
#[derive(Debug)]
struct WorkFolder {
    path: PathBuf,
    /// Held for its lock.
    _lock: File,
}

/// How the folders of builds begin.
const WORK: &str = ".work-";

fn left_behind(agentdojo: &Path) -> Result<Vec<PathBuf>> {
    let failed = |e| Error::io("read", agentdojo, e);
    let mut found = Vec::new();
    for entry in fs::read_dir(agentdojo).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().to_string_lossy().starts_with(WORK) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

impl WorkFolder {
    fn new(data_dir: &Path) -> Result<Self> {
        let agentdojo = folder(data_dir);
        fs::create_dir_all(&agentdojo).map_err(|e| Error::io("create", &agentdojo, e))?;
        let lock_path = agentdojo.join(".lock");
        let lock = File::create(&lock_path).map_err(|e| Error::io("create", &lock_path, e))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { path: data_dir.into() }),
            Err(TryLockError::Error(e)) => return Err(Error::io("lock", &lock_path, e)),
        }
        // What killed builds left behind. An exporter that outlives its build may still write into such a folder, so each build
        // has one of its own.
        for left in left_behind(&agentdojo)? {
            python::remove_folder(&left)?;
        }
        let work = Self { path: agentdojo.join(format!("{WORK}{}", process::id())), _lock: lock };
        for folder in [work.scripts(), work.out()] {
            fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, e))?;
        }
        Ok(work)
    }

    fn scripts(&self) -> PathBuf {
        self.path.join("exporter")
    }

    fn out(&self) -> PathBuf {
        self.path.join("out")
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // The next build removes what cannot be removed now.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests;
