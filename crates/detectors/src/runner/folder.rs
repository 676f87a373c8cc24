use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use wardline_email_corpus::{ManifestReader, write_atomically};

use super::begun::Begun;
use super::log::sync_folder;
use super::sort::ExternalSort;
use crate::{DetectorError, Task, Usage, View};

/// The format of `run.json`.
pub const RUN_SCHEMA: &str = "wardline-run/1";

const MANIFEST: &str = "manifest_used.jsonl";
const RUN: &str = "run.json";

/// What `run.json` says: everything that the predictions of the folder depend on, and nothing of the machine that made them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunFile {
    /// [`RUN_SCHEMA`].
    pub schema: String,
    /// The version of this crate.
    pub version: String,
    /// The kind of machine: operating system and processor.
    pub platform: String,
    /// SHA-256 of `manifest_used.jsonl`.
    pub manifest_sha256: String,
    /// Records of `manifest_used.jsonl`.
    pub records: u64,
    /// One entry a detector, by name.
    pub detectors: BTreeMap<String, DetectorState>,
}

/// What `run.json` says of one detector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DetectorState {
    /// The predictions file in the folder.
    pub file: String,
    /// What the detector looks for.
    pub task: Task,
    /// The reading of messages that it was given.
    pub view: View,
    /// SHA-256 of the segments file that stood in for extraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments_sha256: Option<String>,
    /// Version, model, prompt digest, parameters.
    pub identity: Map<String, Value>,
    /// Records with a score.
    pub good: u64,
    /// Records with an error.
    pub failed: u64,
    /// Whether every record has a score.
    pub complete: bool,
    /// What the predictions cost.
    #[serde(default, skip_serializing_if = "Usage::is_zero")]
    pub usage: Usage,
}

/// The folder of a run: `manifest_used.jsonl`, `run.json` and one predictions file a detector. One process at a time.
///
/// A folder that was begun and has no detector when this is dropped is taken away again.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    run: RunFile,
    begun: Begun,
}

impl RunFolder {
    /// Opens or begins a run over the first `limit` records of a manifest.
    ///
    /// A folder that holds a run already is taken up again when its records are the same, or are the first ones of the manifest.
    ///
    /// # Errors
    /// Another process works in the folder; it holds a run over other records; the manifest has a wrong line or an id twice, or no
    /// record; a file cannot be read or written.
    pub fn open(path: &Path, manifest: &Path, limit: Option<u64>) -> Result<Self, DetectorError> {
        let mut begun = Begun::folder(path)?;
        let file = path.join(RUN);
        begun.file(path.join(MANIFEST));
        begun.file(file.clone());
        let (digest, records) = take_manifest(path, manifest, limit)?;
        let detectors = match fs::read(&file) {
            Ok(bytes) => {
                let run: RunFile = serde_json::from_slice(&bytes)
                    .map_err(|e| DetectorError::file(&file, format!("is no run description: {e}")))?;
                if run.schema != RUN_SCHEMA {
                    return Err(DetectorError::file(&file, format!("has schema {:?}, not {RUN_SCHEMA:?}", run.schema)));
                }
                run.detectors
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(e) => return Err(DetectorError::io(&file)(e)),
        };
        let run = RunFile {
            schema: RUN_SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            manifest_sha256: digest,
            records,
            detectors,
        };
        let mut folder = Self { path: path.to_owned(), run, begun };
        folder.save()?;
        Ok(folder)
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What `run.json` says.
    #[must_use]
    pub fn run(&self) -> &RunFile {
        &self.run
    }

    /// The records of the run.
    #[must_use]
    pub fn manifest(&self) -> PathBuf {
        self.path.join(MANIFEST)
    }

    /// Enters a detector, or checks that the predictions it has are of the same detector.
    pub(crate) fn enter(&mut self, name: &str, state: DetectorState) -> Result<PathBuf, DetectorError> {
        let other = |message: String| DetectorError::OtherRun { path: self.path.clone(), message };
        if let Some((taken, _)) = self.run.detectors.iter().find(|(n, s)| n.as_str() != name && s.file == state.file) {
            return Err(other(format!("{} is the file of detector {taken}", state.file)));
        }
        if let Some(what) = self.run.detectors.get(name).and_then(|old| difference(old, &state)) {
            return Err(other(format!("detector {name} had {what}")));
        }
        let file = self.path.join(&state.file);
        let state = match self.run.detectors.remove(name) {
            Some(old) => DetectorState { identity: state.identity, ..old },
            None if file.exists() => {
                return Err(other(format!("{} stands there and {RUN} has no such detector", state.file)));
            }
            None => state,
        };
        self.run.detectors.insert(name.to_owned(), state);
        self.save()?;
        Ok(file)
    }

    /// Enters a detector in the place of whatever had its name.
    pub(crate) fn replace(&mut self, name: &str, state: DetectorState) -> Result<(), DetectorError> {
        if let Some((taken, _)) = self.run.detectors.iter().find(|(n, s)| n.as_str() != name && s.file == state.file) {
            let message = format!("{} is the file of detector {taken}", state.file);
            return Err(DetectorError::OtherRun { path: self.path.clone(), message });
        }
        self.run.detectors.insert(name.to_owned(), state);
        self.save()
    }

    pub(crate) fn update(&mut self, name: &str, change: impl FnOnce(&mut DetectorState)) -> Result<(), DetectorError> {
        if let Some(state) = self.run.detectors.get_mut(name) {
            change(state);
        }
        self.save()
    }

    /// Takes a detector out again that has no prediction.
    pub(crate) fn withdraw(&mut self, name: &str) -> Result<(), DetectorError> {
        let Some(state) = self.run.detectors.get(name) else { return Ok(()) };
        let file = self.path.join(&state.file);
        if fs::metadata(&file).is_ok_and(|m| m.len() > 0) {
            return Ok(());
        }
        self.run.detectors.remove(name);
        // It may not even have been made.
        let _ = fs::remove_file(&file);
        self.save()
    }

    fn save(&mut self) -> Result<(), DetectorError> {
        self.begun.kept = !self.run.detectors.is_empty();
        let path = self.path.join(RUN);
        let mut text =
            serde_json::to_string_pretty(&self.run).map_err(|e| DetectorError::file(&path, e.to_string()))?;
        text.push('\n');
        Ok(write_atomically(&path, text.as_bytes())?)
    }
}

/// The first thing in which a detector differs from the one that made the predictions.
fn difference(old: &DetectorState, new: &DetectorState) -> Option<String> {
    if old.view != new.view {
        return Some("another view".into());
    }
    if old.segments_sha256 != new.segments_sha256 {
        return Some("other segments".into());
    }
    let mut keys: Vec<&String> = old.identity.keys().chain(new.identity.keys()).collect();
    keys.sort();
    let key = keys.into_iter().find(|k| old.identity.get(*k) != new.identity.get(*k))?;
    let show = |v: Option<&Value>| v.map_or("nothing".into(), Value::to_string);
    Some(format!("{key} {} and now has {}", show(old.identity.get(key)), show(new.identity.get(key))))
}

/// The name of a detector's predictions file: what is neither a letter, digit, dot nor hyphen becomes an underscore.
///
/// ```
/// use wardline_detectors::file_name;
/// assert_eq!(file_name("judge:openai/gpt"), "judge_openai_gpt.jsonl");
/// assert_eq!(file_name("manifest_used"), "manifest_used_.jsonl");
/// ```
#[must_use]
pub fn file_name(detector: &str) -> String {
    let mut name: String =
        detector.chars().map(|c| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' }).collect();
    if name.starts_with('.') || name.is_empty() {
        name.insert(0, '_');
    }
    if name == "manifest_used" {
        name.push('_');
    }
    name + ".jsonl"
}

/// Copies the records used beside the old copy, checks them, and puts them in its place. Gives digest and count.
fn take_manifest(folder: &Path, manifest: &Path, limit: Option<u64>) -> Result<(String, u64), DetectorError> {
    let path = folder.join(MANIFEST);
    let partial = folder.join(format!("{MANIFEST}.partial"));
    let taken = copy_manifest(folder, manifest, &partial, limit).and_then(|taken| {
        if !begins_with(&partial, &path)? {
            let message = "its records are not the first ones of this manifest".into();
            return Err(DetectorError::OtherRun { path: folder.to_owned(), message });
        }
        fs::rename(&partial, &path).map_err(DetectorError::io(&path))?;
        sync_folder(folder)?;
        Ok(taken)
    });
    if taken.is_err() {
        // It may not even have been made.
        let _ = fs::remove_file(&partial);
    }
    taken
}

fn copy_manifest(
    folder: &Path,
    manifest: &Path,
    partial: &Path,
    limit: Option<u64>,
) -> Result<(String, u64), DetectorError> {
    let io = || DetectorError::io(partial);
    let mut reader = ManifestReader::open(manifest)?;
    let mut out = BufWriter::with_capacity(1 << 16, File::create(partial).map_err(io())?);
    let mut digest = Sha256::new();
    let mut ids = ExternalSort::new(folder);
    let mut records = 0;
    while limit.is_none_or(|limit| records < limit) {
        let Some(record) = reader.next() else { break };
        let record = record?;
        records += 1;
        ids.push(record.id.as_bytes(), &reader.line().to_le_bytes()).map_err(DetectorError::io(folder))?;
        for bytes in [reader.raw_line(), b"\n"] {
            digest.update(bytes);
            out.write_all(bytes).map_err(io())?;
        }
    }
    if records == 0 {
        return Err(DetectorError::file(manifest, "holds no record"));
    }
    let mut previous = Vec::new();
    for entry in ids.finish().map_err(DetectorError::io(folder))? {
        let entry = entry.map_err(DetectorError::io(folder))?;
        if previous == entry.key {
            let line = u64::from_le_bytes(entry.payload.try_into().unwrap_or_default());
            let message = format!("id {:?} stands twice", String::from_utf8_lossy(&entry.key));
            return Err(DetectorError::Line { path: manifest.to_owned(), line, message });
        }
        previous = entry.key;
    }
    out.into_inner().map_err(|e| io()(e.into_error()))?.sync_all().map_err(io())?;
    Ok((hex(&digest.finalize()), records))
}

/// Whether the first file begins with all of the second, which may be missing.
fn begins_with(new: &Path, old: &Path) -> Result<bool, DetectorError> {
    let old_file = match File::open(old) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        Err(e) => return Err(DetectorError::io(old)(e)),
    };
    let mut old_input = BufReader::with_capacity(1 << 16, old_file);
    let mut new_input = BufReader::with_capacity(1 << 16, File::open(new).map_err(DetectorError::io(new))?);
    let mut block = Vec::new();
    loop {
        let expected = old_input.fill_buf().map_err(DetectorError::io(old))?;
        if expected.is_empty() {
            return Ok(true);
        }
        block.resize(expected.len(), 0);
        match new_input.read_exact(&mut block) {
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
            other => other.map_err(DetectorError::io(new))?,
        }
        if block != expected {
            return Ok(false);
        }
        let read = expected.len();
        old_input.consume(read);
    }
}

/// The SHA-256 of a file, in lower-case hexadecimal.
///
/// # Errors
/// The file cannot be read.
pub fn file_digest(path: &Path) -> Result<String, DetectorError> {
    let mut input = BufReader::with_capacity(1 << 16, File::open(path).map_err(DetectorError::io(path))?);
    let mut digest = Sha256::new();
    loop {
        let block = input.fill_buf().map_err(DetectorError::io(path))?;
        if block.is_empty() {
            return Ok(hex(&digest.finalize()));
        }
        digest.update(block);
        let read = block.len();
        input.consume(read);
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, b| {
        // Writing to a string cannot fail.
        let _ = write!(out, "{b:02x}");
        out
    })
}
