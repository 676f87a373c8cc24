use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::freeze::hex;
use super::stats::{Stats, hash};
use super::{Digests, FileDigest, ManifestReader, digest_path};
use crate::{BaseFolder, CorpusError, EmailRecord, EvalRole, ThreatType};

/// Problems that are kept with their text; further ones are only counted.
const KEPT: usize = 200;
/// How far the digest file is read ahead when it and the manifest are out of step.
const AHEAD: usize = 10_000;

/// What [`verify`] found.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Verification {
    /// The counts of the records that could be read.
    pub stats: Stats,
    /// Whether a digest file stands beside the manifest.
    pub frozen: bool,
    /// Message files whose digest was compared.
    pub digests_compared: u64,
    /// How many things are wrong.
    pub problem_count: u64,
    /// The first of them, in the order of the manifest; duplicate ids and the manifest's own digest come last.
    pub problems: Vec<Problem>,
}

impl Verification {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.problem_count == 0
    }

    fn note(&mut self, line: Option<u64>, id: Option<&str>, message: impl Into<String>) {
        self.problem_count += 1;
        if self.problems.len() < KEPT {
            self.problems.push(Problem { line, id: id.map(str::to_owned), message: message.into() });
        }
    }
}

/// One thing that is wrong with a manifest or its files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The line of the manifest, counted from 1.
    pub line: Option<u64>,
    /// The record.
    pub id: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(id) = &self.id {
            write!(f, "{id}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// Checks a manifest and the files it names: schema of every line, unique ids, labels that agree with each other, message paths that
/// stay in the base folder, files that are there and not empty, and the digests of the manifest and of each file where a digest file
/// stands beside it. Works in one pass and little memory: eight bytes a record, and a second pass only when an id seems to stand twice.
///
/// # Errors
/// The manifest or its digest file cannot be read at all. Everything that is wrong with what they hold is in the result.
pub fn verify(manifest: &Path, base: &BaseFolder) -> Result<Verification, CorpusError> {
    let file = File::open(manifest).map_err(CorpusError::io(manifest))?;
    let hashed = Hashed { inner: BufReader::with_capacity(1 << 16, file), hash: Sha256::new() };
    let mut reader = ManifestReader::new(hashed, manifest);
    let mut found = Verification::default();
    let mut digests = Expected::open(&digest_path(manifest))?;
    found.frozen = digests.is_some();
    let mut ids = Vec::new();
    while let Some(record) = reader.next() {
        let line = Some(reader.line());
        match record {
            Ok(record) => {
                ids.push(hash(&record.id));
                for message in contradictions(&record) {
                    found.note(line, Some(&record.id), message);
                }
                let bytes = check_file(&record, base, digests.as_mut(), &mut found, line);
                found.stats.add(&record, bytes);
            }
            Err(CorpusError::Line { field, message, .. }) => {
                let field = if field.is_empty() { field } else { format!("field `{field}`: ") };
                found.note(line, None, format!("{field}{message}"));
            }
            Err(other) => return Err(other),
        }
    }
    found.stats.close();
    if reader.line() > 0 && !reader.line_ended() {
        found.note(Some(reader.line()), None, "the last line does not end in a line break: the file is cut");
    }
    if reader.line() == 0 {
        found.note(None, None, "the manifest is empty");
    }
    duplicates(manifest, ids, &mut found)?;
    let actual = hex(&reader.into_inner().hash.finalize());
    if let Some(digests) = digests {
        digests.close(&actual, &mut found);
    }
    Ok(found)
}

/// Labels that cannot both be true.
fn contradictions(record: &EmailRecord) -> Vec<String> {
    let mut all = Vec::new();
    let threat = record.label.threat_type;
    let injected = matches!(threat, ThreatType::PromptInjectionDirect | ThreatType::PromptInjectionIndirect);
    if record.label.is_malicious && threat == ThreatType::Benign {
        all.push("field `label.is_malicious`: is true although `threat_type` is benign".into());
    }
    if !record.label.is_malicious && (injected || threat == ThreatType::Phishing || threat == ThreatType::Scam) {
        all.push(format!("field `label.is_malicious`: is false although `threat_type` is {threat}"));
    }
    if let Some(role) = record.eval_role
        && (role == EvalRole::Negative) != (threat == ThreatType::Benign)
    {
        all.push(format!("field `eval_role`: is {role} although `label.threat_type` is {threat}"));
    }
    let input = &record.detector_input;
    if record.eml_path.is_none() && input.body.is_none() && input.subject.is_none() {
        all.push("has neither `eml_path` nor a subject or body in `detector_input`".into());
    }
    all
}

/// Looks at the record's file and gives its size.
fn check_file(
    record: &EmailRecord,
    base: &BaseFolder,
    digests: Option<&mut Expected>,
    found: &mut Verification,
    line: Option<u64>,
) -> Option<u64> {
    let path = record.eml_path.as_ref()?;
    let expected = digests.and_then(|d| d.of(path, found, line, &record.id));
    let bytes = match base.read(record) {
        Ok(bytes) => bytes?,
        Err(CorpusError::MessagePath { path, reason, .. }) => {
            found.note(line, Some(&record.id), format!("path {path:?} {reason}"));
            return None;
        }
        Err(other) => {
            found.note(line, Some(&record.id), other.to_string());
            return None;
        }
    };
    if bytes.is_empty() {
        found.note(line, Some(&record.id), format!("{path} is empty"));
    }
    if let Some(expected) = expected {
        found.digests_compared += 1;
        if hex(&Sha256::digest(&bytes)) != expected {
            found.note(line, Some(&record.id), format!("{path} has changed: its SHA-256 is not the frozen one"));
        }
    }
    Some(bytes.len() as u64)
}

fn duplicates(manifest: &Path, mut ids: Vec<u64>, found: &mut Verification) -> Result<(), CorpusError> {
    ids.sort_unstable();
    let suspects: BTreeSet<u64> = ids.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
    drop(ids);
    if suspects.is_empty() {
        return Ok(());
    }
    let mut first = BTreeMap::new();
    let mut reader = ManifestReader::open(manifest)?;
    while let Some(record) = reader.next() {
        let Ok(record) = record else { continue };
        if suspects.contains(&hash(&record.id)) {
            if let Some(at) = first.get(&record.id) {
                found.note(Some(reader.line()), Some(&record.id), format!("the id stands already in line {at}"));
            } else {
                first.insert(record.id, reader.line());
            }
        }
    }
    Ok(())
}

/// The digest file, read in step with the manifest.
struct Expected {
    lines: Digests<BufReader<File>>,
    manifest: Option<FileDigest>,
    ahead: VecDeque<FileDigest>,
    /// Whether the file has a line for each message, not only for the manifest.
    has_messages: bool,
    path: PathBuf,
}

impl Expected {
    fn open(path: &Path) -> Result<Option<Self>, CorpusError> {
        let Some(mut lines) = Digests::open(path)? else { return Ok(None) };
        let manifest = lines.next().transpose()?;
        let mut all = Self { lines, manifest, ahead: VecDeque::new(), has_messages: false, path: path.to_owned() };
        all.fill(1)?;
        all.has_messages = !all.ahead.is_empty();
        Ok(Some(all))
    }

    fn fill(&mut self, n: usize) -> Result<(), CorpusError> {
        while self.ahead.len() < n {
            match self.lines.next().transpose()? {
                Some(line) => self.ahead.push_back(line),
                None => break,
            }
        }
        Ok(())
    }

    /// The frozen digest of the file, or `None` after noting why there is none.
    fn of(&mut self, path: &str, found: &mut Verification, line: Option<u64>, id: &str) -> Option<String> {
        if !self.has_messages {
            return None;
        }
        for reach in [1, AHEAD] {
            if let Err(e) = self.fill(reach) {
                found.note(None, None, e.to_string());
            }
            if let Some(at) = self.ahead.iter().take(reach).position(|d| d.file == path) {
                for skipped in self.ahead.drain(..at) {
                    found.note(None, None, format!("{} is frozen, but no record names it in its place", skipped.file));
                }
                return self.ahead.pop_front().map(|d| d.sha256);
            }
        }
        found.note(line, Some(id), format!("{path} has no digest in {}", self.path.display()));
        None
    }

    fn close(mut self, actual: &str, found: &mut Verification) {
        loop {
            if let Err(e) = self.fill(1) {
                found.note(None, None, e.to_string());
                break;
            }
            match self.ahead.pop_front() {
                Some(left) => found.note(None, None, format!("{} is frozen, but no record names it", left.file)),
                None => break,
            }
        }
        match self.manifest {
            Some(frozen) if frozen.sha256 == actual => {}
            Some(frozen) => found.note(
                None,
                None,
                format!("the manifest has changed: its SHA-256 is {actual}, the frozen one is {}", frozen.sha256),
            ),
            None => found.note(None, None, format!("{} is empty", self.path.display())),
        }
    }
}

/// Hashes what is read through it.
struct Hashed<R> {
    inner: R,
    hash: Sha256,
}

impl<R: BufRead> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.hash.update(&buffer[..n]);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Hashed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        if let Ok(buffer) = self.inner.fill_buf() {
            self.hash.update(&buffer[..n.min(buffer.len())]);
        }
        self.inner.consume(n);
    }
}
