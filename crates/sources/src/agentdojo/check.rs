use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::lock::{Lock, lines};
use super::store::{file, record_id};
use super::{CorpusName, locked};
use crate::{Error, Result};

/// Bytes shown on each side of the first differing byte.
const BEFORE: usize = 16;
const AFTER: usize = 48;

/// The outcome of a check: one entry a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// What was built and, where it was made, what was regenerated, corpus by corpus.
    pub files: Vec<FileReport>,
}

/// One file against the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileReport {
    /// The corpus.
    pub name: CorpusName,
    /// Whether the file was regenerated for this check, rather than built earlier.
    pub fresh: bool,
    /// The file.
    pub path: PathBuf,
    /// What the check says of it.
    pub state: FileState,
}

/// What a check says of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileState {
    /// It is what the lock says.
    Same,
    /// It is not there.
    Missing,
    /// It has these differences, in the order of the file.
    Differs(Vec<Difference>),
}

/// One record that is not what the lock says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Its line, from 1: in the file, or where it should stand when it is missing.
    pub line: usize,
    /// The record: a scenario's id, or `text N` with the scenario that first reads it.
    pub record: String,
    /// What is wrong, for instance `differs`, `missing` or `not in the lock`.
    pub what: &'static str,
    /// The first differing byte, where bytes that the lock accepts are at hand.
    pub bytes: Option<ByteDifference>,
}

/// The first differing byte of a record, with some bytes around it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ByteDifference {
    /// Offset in the record's line, from 0.
    pub offset: usize,
    /// What the lock accepts there; bytes outside printable ASCII are escaped.
    pub expected: String,
    /// What the file has there.
    pub found: String,
}

impl CheckReport {
    /// Whether every file is there and is what the lock says.
    pub fn is_ok(&self) -> bool {
        self.files.iter().all(|f| f.state == FileState::Same)
    }

    /// One line: which files differ, and the first record of each.
    pub fn summary(&self) -> String {
        let parts: Vec<_> = self
            .files
            .iter()
            .filter_map(|f| match &f.state {
                FileState::Same => None,
                FileState::Missing => Some(format!("{} is missing", f.name)),
                FileState::Differs(d) => {
                    let first =
                        d.first().map(|d| format!(", first line {} ({})", d.line, d.record)).unwrap_or_default();
                    Some(format!("{} in {} record(s){first}", f.name, d.len()))
                }
            })
            .collect();
        if parts.is_empty() { "nothing differs".to_owned() } else { parts.join("; ") }
    }
}

/// Compares built files with the lock and, when `fresh` names a folder of regenerated files, those too.
///
/// A file that is what the lock says serves as the other side of the byte differences.
///
/// # Errors
/// A file that is there and cannot be read.
pub fn check(data_dir: &Path, names: &[CorpusName], fresh: Option<&Path>) -> Result<CheckReport> {
    let mut files = Vec::new();
    for &name in names {
        let lock = locked(name);
        let built = (false, file(data_dir, name));
        let regenerated = fresh.map(|folder| (true, folder.join(name.file_name())));
        let candidates: Vec<_> = [Some(built), regenerated]
            .into_iter()
            .flatten()
            .map(|(fresh, path)| Ok((fresh, read_if_there(&path)?, path)))
            .collect::<Result<_>>()?;
        let good = candidates.iter().filter_map(|(_, bytes, _)| bytes.as_deref()).find(|b| Lock::of(b) == lock);
        for (fresh, bytes, path) in &candidates {
            let state = bytes.as_deref().map_or(FileState::Missing, |b| compare(b, &lock, good));
            files.push(FileReport { name, fresh: *fresh, path: path.clone(), state });
        }
    }
    Ok(CheckReport { files })
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("read", path, e)),
    }
}

/// The records of `bytes` that are not what the lock says; `good` are bytes that are.
pub(crate) fn compare(bytes: &[u8], lock: &Lock, good: Option<&[u8]>) -> FileState {
    let own = Lock::of(bytes);
    if own == *lock {
        return FileState::Same;
    }
    let (ours, theirs) = (own.records(), lock.records());
    let prefix = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    let rest = ours.len().min(theirs.len()) - prefix;
    let suffix = ours.iter().rev().zip(theirs.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (ours, theirs) = (&ours[prefix..ours.len() - suffix], &theirs[prefix..theirs.len() - suffix]);
    let file: Vec<_> = lines(bytes).collect();
    let accepted: Vec<_> = good.map(|b| lines(b).collect()).unwrap_or_default();
    let names = Names::new(if accepted.is_empty() { &file } else { &accepted });
    let own_names = Names::new(&file);
    let mut found = Vec::new();
    if ours.len() == theirs.len() {
        for (n, _) in ours.iter().zip(theirs).enumerate().filter(|(_, (a, b))| a != b) {
            let index = prefix + n;
            let bytes = accepted.get(index).zip(file.get(index)).map(|(a, b)| first_byte(a, b));
            found.push(Difference { line: index + 1, record: names.name(index), what: "differs", bytes });
        }
    } else {
        // Lines were put in or left out, so positions do not match: what is not on the other side is told apart by its digest.
        found.extend(unmatched(ours, theirs).into_iter().map(|n| {
            let record = own_names.name(prefix + n);
            Difference { line: prefix + n + 1, record, what: "not in the lock", bytes: None }
        }));
        found.extend(unmatched(theirs, ours).into_iter().map(|n| {
            let record = match (accepted.is_empty(), prefix + n) {
                (false, at) => names.name(at),
                // The lock has digests only: the nearest record that is there says where to look.
                (true, 0) => "the header".to_owned(),
                (true, at) => format!("a record after {}", own_names.name((at - 1).min(file.len().saturating_sub(1)))),
            };
            Difference { line: prefix + n + 1, record, what: "missing", bytes: None }
        }));
    }
    if found.is_empty() {
        // The same lines: the last line feed is missing, or lines changed places.
        let line = file.len();
        found.push(Difference {
            line,
            record: own_names.name(line.saturating_sub(1)),
            what: "ends otherwise",
            bytes: None,
        });
    }
    FileState::Differs(found)
}

/// Positions in `a` of entries that `b` lacks, counting repeats.
fn unmatched(a: &[String], b: &[String]) -> Vec<usize> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for entry in b {
        *left.entry(entry).or_default() += 1;
    }
    (0..a.len())
        .filter(|&n| match left.get_mut(a[n].as_str()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        })
        .collect()
}

/// The first line, from 1, that is not what the lock says.
pub(crate) fn first_difference(bytes: &[u8], lock: &Lock) -> usize {
    match compare(bytes, lock, None) {
        FileState::Differs(d) => d.iter().map(|d| d.line).min().unwrap_or(1),
        FileState::Same | FileState::Missing => 1,
    }
}

/// Names the record on a line, from 1.
pub(crate) fn describe(bytes: &[u8], line: usize) -> String {
    let lines: Vec<_> = lines(bytes).collect();
    Names::new(&lines).name(line.saturating_sub(1))
}

/// Names of records, from the file's own lines.
struct Names<'a> {
    lines: &'a [&'a [u8]],
    /// The first scenario that reads each text; made when the first text is named.
    readers: OnceCell<HashMap<usize, String>>,
}

impl<'a> Names<'a> {
    fn new(lines: &'a [&'a [u8]]) -> Self {
        Self { lines, readers: OnceCell::new() }
    }

    fn name(&self, index: usize) -> String {
        let Some(line) = self.lines.get(index) else { return format!("line {}", index + 1) };
        if index == 0 {
            return "the header".to_owned();
        }
        if let Some(id) = record_id(line) {
            return id;
        }
        if line.starts_with(b"{\"text\":") {
            let text = index - 1;
            return match self.first_use(text) {
                Some(id) => format!("text {text}, first read in {id}"),
                None => format!("text {text}"),
            };
        }
        // Broken JSON: the id may be legible all the same.
        legible_id(line).unwrap_or_else(|| format!("line {}", index + 1))
    }

    /// The first scenario that has the text among its outputs.
    fn first_use(&self, text: usize) -> Option<&str> {
        #[derive(serde::Deserialize)]
        struct Scenario {
            id: String,
            calls: Vec<Call>,
        }
        #[derive(serde::Deserialize)]
        struct Call {
            output: Option<usize>,
        }
        let readers = self.readers.get_or_init(|| {
            let mut readers = HashMap::new();
            for scenario in self.lines.iter().filter_map(|l| serde_json::from_slice::<Scenario>(l).ok()) {
                for output in scenario.calls.iter().filter_map(|c| c.output) {
                    readers.entry(output).or_insert_with(|| scenario.id.clone());
                }
            }
            readers
        });
        readers.get(&text).map(String::as_str)
    }
}

fn legible_id(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let (_, after) = text.rsplit_once("\"id\":\"")?;
    let (id, _) = after.split_once('"')?;
    Some(id.to_owned())
}

fn first_byte(expected: &[u8], found: &[u8]) -> ByteDifference {
    let offset = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    let excerpt = |line: &[u8]| {
        let from = offset.saturating_sub(BEFORE);
        let to = line.len().min(offset + AFTER);
        line.get(from..to).unwrap_or_default().escape_ascii().to_string()
    };
    ByteDifference { offset, expected: excerpt(expected), found: excerpt(found) }
}

/// Differences of one file that are written out; the rest is counted.
const SHOWN: usize = 20;

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.iter().try_for_each(|file| write!(f, "{file}"))
    }
}

/// A line that says what the file is, then for each difference a line, with the two excerpts below where there are any.
impl fmt::Display for FileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = if self.fresh { "regenerated" } else { "built" };
        match &self.state {
            FileState::Same => writeln!(f, "{} ({which}): same as the lock", self.name),
            FileState::Missing => writeln!(f, "{} ({which}): missing: {}", self.name, self.path.display()),
            FileState::Differs(differences) => {
                let count = differences.len();
                writeln!(
                    f,
                    "{} ({which}): {count} record(s) differ from the lock: {}",
                    self.name,
                    self.path.display()
                )?;
                differences.iter().take(SHOWN).try_for_each(|d| write!(f, "{d}"))?;
                if count > SHOWN { writeln!(f, "  … and {} more", count - SHOWN) } else { Ok(()) }
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  line {}, {}: {}", self.line, self.record, self.what)?;
        match &self.bytes {
            None => writeln!(f),
            Some(b) => {
                writeln!(f, " from byte {} on", b.offset)?;
                writeln!(f, "    expected …{}…", b.expected)?;
                writeln!(f, "    found    …{}…", b.found)
            }
        }
    }
}

#[cfg(test)]
mod tests;
