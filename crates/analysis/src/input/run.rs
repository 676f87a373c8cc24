use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Deserialize;

use super::{Layout, Manifest, Predictions, Reading, Record, Row};
use crate::{AnalysisError, Coverage, Fault, Task};

const MANIFEST: &str = "manifest_used.jsonl";
const RUN: &str = "run.json";

/// What to read, and how strict to be.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// The folder with one predictions file a detector.
    pub folder: PathBuf,
    /// The manifest; `manifest_used.jsonl` of the folder when `None`.
    pub manifest: Option<PathBuf>,
    /// The detectors that must be there and that are read; all of the folder when empty.
    pub detectors: Vec<String>,
    /// Detectors that are judges, beside those whose rows or names (`judge…`) say so.
    pub judges: Vec<String>,
    /// Goes on without detectors or ids that are absent.
    pub allow_missing: bool,
    /// Only the first so many records of the manifest.
    pub limit: Option<NonZeroU64>,
}

impl RunRequest {
    /// Everything in a run folder, strictly.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), ..Self::default() }
    }
}

/// One detector's scores, in the manifest's order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Column {
    /// The detector's name.
    pub detector: String,
    /// SHA-256 of the predictions file; empty of scores that come from no file.
    pub sha256: String,
    /// What the run says of the detector: version, model, parameters.
    pub identity: BTreeMap<String, serde_json::Value>,
    /// The one task that the detector is for, where the run says that it has no other.
    pub only: Option<Task>,
    /// How rows give scores.
    pub layout: Layout,
    /// Whether the detector is a judge: it defines the population and gets a tuned threshold.
    pub judge: bool,
    /// Scores for prompt injection.
    pub pi: Vec<Reading>,
    /// Scores for phishing.
    pub phishing: Vec<Reading>,
    /// Scores for either.
    pub any: Vec<Reading>,
    /// Latencies in milliseconds of the rows that have one, ascending.
    pub latencies: Vec<f64>,
    /// Requests, tokens sent and tokens answered, over all rows.
    pub usage: [u64; 3],
    /// Failed rows that a later row of the same id makes good.
    pub retried: u64,
}

impl Column {
    /// The scores of a task.
    pub fn of(&self, task: Task) -> &[Reading] {
        match task {
            Task::Injection => &self.pi,
            Task::Phishing => &self.phishing,
            Task::AnyMalicious => &self.any,
        }
    }

    /// Scores that come from no file: a reading for prompt injection, phishing and either, for each record in the manifest's order.
    #[must_use]
    pub fn new(detector: impl Into<String>, readings: impl IntoIterator<Item = [Reading; 3]>) -> Self {
        let mut column = Self {
            detector: detector.into(),
            sha256: String::new(),
            identity: BTreeMap::new(),
            only: None,
            layout: Layout::TaskScores,
            judge: false,
            pi: Vec::new(),
            phishing: Vec::new(),
            any: Vec::new(),
            latencies: Vec::new(),
            usage: [0; 3],
            retried: 0,
        };
        for [pi, phishing, any] in readings {
            column.pi.push(pi);
            column.phishing.push(phishing);
            column.any.push(any);
        }
        column
    }

    /// Whether a judge covers the record: it has a score for both tasks.
    pub(crate) fn covers(&self, row: usize) -> bool {
        self.pi[row].is_ok() && self.phishing[row].is_ok()
    }

    /// Coverage of the rows for a task.
    pub(crate) fn coverage(&self, task: Task, rows: impl Iterator<Item = usize>) -> Coverage {
        let mut coverage = Coverage::default();
        rows.for_each(|row| coverage.count(&self.of(task)[row]));
        coverage
    }
}

/// A run: the records and what every detector said of them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Run {
    /// The records.
    pub manifest: Manifest,
    /// The detectors, by name.
    pub columns: Vec<Column>,
    /// Wanted detectors without a file; only when missing ones are allowed.
    pub absent: Vec<String>,
    /// SHA-256 of the manifest that the detectors were asked with, as the folder's `run.json` states it.
    pub asked_with: Option<String>,
}

impl Run {
    /// A run that comes from no folder.
    ///
    /// # Errors
    /// A column without a reading for each record, or two of one name.
    pub fn new(manifest: Manifest, mut columns: Vec<Column>) -> Result<Self, AnalysisError> {
        columns.sort_by(|a, b| a.detector.cmp(&b.detector));
        let records = manifest.records.len();
        for column in &columns {
            if [&column.pi, &column.phishing, &column.any].iter().any(|readings| readings.len() != records) {
                let message =
                    format!("detector {:?} has not one reading for each of {records} records", column.detector);
                return Err(AnalysisError::Request(message));
            }
        }
        if let Some(pair) = columns.windows(2).find(|pair| pair[0].detector == pair[1].detector) {
            return Err(AnalysisError::Request(format!("two columns are of detector {:?}", pair[0].detector)));
        }
        Ok(Self { manifest, columns, absent: Vec::new(), asked_with: None })
    }

    /// The scores of a detector.
    #[must_use]
    pub fn column(&self, detector: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.detector == detector)
    }

    /// Reads a run folder.
    ///
    /// # Errors
    /// The manifest or a file cannot be read, or has a wrong line; a wanted detector has no file; a file has an id that the
    /// manifest has not, or twice; a file lacks an id (unless missing ones are allowed, or the detector is a judge, which may
    /// leave records out); files or rows of two runs are mixed.
    pub fn read(request: &RunRequest) -> Result<Self, AnalysisError> {
        let (path, about) = open_run(request)?;
        let mut manifest = Manifest::read(&path)?;
        if manifest.records.is_empty() {
            return Err(empty_manifest(&path));
        }
        if let Some(about) = &about {
            about.check(request, &manifest.sha256)?;
        }
        let beyond_limit: BTreeSet<String> = match request.limit {
            Some(limit) => {
                let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX).min(manifest.records.len());
                manifest.records.drain(limit..).map(|r| r.id).collect()
            }
            None => BTreeSet::new(),
        };
        let files = prediction_files(&request.folder)?;
        let index: HashMap<&str, u32> = manifest.records.iter().zip(0..).map(|(r, n)| (r.id.as_str(), n)).collect();
        let columns: Result<Vec<Option<Column>>, AnalysisError> =
            files.par_iter().map(|file| read_column(file, &manifest.records, &index, &beyond_limit, request)).collect();
        let mut columns: Vec<Column> = columns?.into_iter().flatten().collect();
        columns.sort_by(|a, b| a.detector.cmp(&b.detector));
        for column in &mut columns {
            let known = about.as_ref().and_then(|a| a.detectors.get(&column.detector));
            column.identity = known.map(|d| d.identity.clone()).unwrap_or_default();
            column.only = known.and_then(RunDetector::only);
        }
        let names: Vec<&str> = columns.iter().map(|c| c.detector.as_str()).collect();
        let absent = check_detectors(request, about.as_ref(), &names)?;
        Ok(Self { manifest, columns, absent, asked_with: about.map(|a| a.manifest_sha256) })
    }
}

pub(crate) fn empty_manifest(path: &Path) -> AnalysisError {
    AnalysisError::input(path, "holds no record")
}

/// The manifest's path and what the run says of itself.
pub(crate) fn open_run(request: &RunRequest) -> Result<(PathBuf, Option<RunFile>), AnalysisError> {
    let manifest = request.manifest.clone().unwrap_or_else(|| request.folder.join(MANIFEST));
    let about = read_run_file(&request.folder)?;
    if let Some(about) = &about {
        about.check_files(&request.folder)?;
    }
    Ok((manifest, about))
}

/// Whether the detectors, in sorted order, are those that were asked for; gives the ones that are absent, if that is allowed.
pub(crate) fn check_detectors(
    request: &RunRequest,
    about: Option<&RunFile>,
    names: &[&str],
) -> Result<Vec<String>, AnalysisError> {
    let refuse = |message: String| AnalysisError::input(&request.folder, message);
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(refuse(format!("two files are of detector {:?}: two runs are mixed", pair[0])));
    }
    if let Some(name) = request.judges.iter().find(|n| !names.contains(&n.as_str())) {
        return Err(refuse(format!("judge {name:?} has no predictions file")));
    }
    let mut wanted: BTreeSet<&str> = request.detectors.iter().map(String::as_str).collect();
    if let (true, Some(about)) = (wanted.is_empty(), about) {
        wanted = about.detectors.keys().map(String::as_str).collect();
    }
    let absent: Vec<String> = wanted.into_iter().filter(|name| !names.contains(name)).map(str::to_owned).collect();
    if !absent.is_empty() && !request.allow_missing {
        return Err(refuse(format!("no predictions file of {}", absent.join(", "))));
    }
    if names.is_empty() {
        return Err(refuse("holds no predictions file".into()));
    }
    Ok(absent)
}

/// Every `.jsonl` of the folder save the manifest, by name.
pub(crate) fn prediction_files(folder: &Path) -> Result<Vec<PathBuf>, AnalysisError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(AnalysisError::io(folder))? {
        let path = entry.map_err(AnalysisError::io(folder))?.path();
        let is_predictions =
            path.extension().is_some_and(|e| e == "jsonl") && path.file_name().is_some_and(|n| n != MANIFEST);
        if is_predictions {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What a runner wrote of the run.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RunFile {
    manifest_sha256: String,
    #[serde(default)]
    detectors: BTreeMap<String, RunDetector>,
}

#[derive(Debug, Clone, Deserialize)]
struct RunDetector {
    file: String,
    #[serde(default)]
    task: String,
    #[serde(default)]
    identity: BTreeMap<String, serde_json::Value>,
}

impl RunDetector {
    fn only(&self) -> Option<Task> {
        match self.task.as_str() {
            "injection" => Some(Task::Injection),
            "phishing" => Some(Task::Phishing),
            _ => None,
        }
    }
}

fn read_run_file(folder: &Path) -> Result<Option<RunFile>, AnalysisError> {
    let path = folder.join(RUN);
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|e| AnalysisError::input(&path, format!("is no run description: {e}"))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(AnalysisError::io(&path)(e)),
    }
}

impl RunFile {
    /// Whether the manifest of the folder is the one that the run was made with.
    pub(crate) fn check(&self, request: &RunRequest, sha256: &str) -> Result<(), AnalysisError> {
        if request.manifest.is_none() && self.manifest_sha256 != sha256 {
            let message = format!("is not the manifest that {RUN} names: two runs are mixed");
            return Err(AnalysisError::input(request.folder.join(MANIFEST), message));
        }
        Ok(())
    }

    fn check_files(&self, folder: &Path) -> Result<(), AnalysisError> {
        let known: BTreeSet<&str> = self.detectors.values().map(|d| d.file.as_str()).collect();
        for file in prediction_files(folder)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if !known.contains(name.as_ref()) {
                return Err(AnalysisError::input(&file, format!("is not in {RUN}: two runs are mixed")));
            }
        }
        Ok(())
    }
}

/// What the rows of a file say of its layout, and whether it is a judge's. Rows without any score have no say.
#[derive(Default)]
pub(crate) struct LayoutVotes {
    layouts: [u64; 3],
    not_judge: bool,
}

impl LayoutVotes {
    pub(crate) fn count(&mut self, row: &Row) {
        if row.pi.is_ok() || row.phishing.is_ok() {
            self.layouts[row.layout as usize] += 1;
            // A flag beside scores is no score, and has no say either.
            self.not_judge |= !row.judge && row.layout != Layout::FlagOnly;
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        match self.layouts {
            [_, scores, _] if scores > 0 => Layout::TaskScores,
            [0, 0, flags] if flags > 0 => Layout::FlagOnly,
            _ => Layout::Score,
        }
    }

    pub(crate) fn judge(&self, detector: &str, request: &RunRequest) -> bool {
        (!self.not_judge && self.layouts[Layout::TaskScores as usize] > 0)
            || detector.starts_with("judge")
            || request.judges.iter().any(|j| j == detector)
    }
}

/// Absent ids are an error, except of a judge, whose ids make the population, or where missing ones are allowed.
pub(crate) fn absent_ids(
    file: &Path,
    absent: u64,
    of: u64,
    first: &str,
    judge: bool,
    request: &RunRequest,
) -> Result<(), AnalysisError> {
    if judge || request.allow_missing {
        return Ok(());
    }
    Err(AnalysisError::input(file, format!("{absent} of {of} ids are absent, the first is {first:?}")))
}

/// Reads one file; `None` when its detector is not wanted.
fn read_column(
    file: &Path,
    records: &[Record],
    index: &HashMap<&str, u32>,
    beyond_limit: &BTreeSet<String>,
    request: &RunRequest,
) -> Result<Option<Column>, AnalysisError> {
    let mut reader = Predictions::open(file)?;
    let mut rows: Vec<Option<Row>> = vec![None; index.len()];
    let mut votes = LayoutVotes::default();
    let (mut usage, mut retried, mut flag_twice) = ([0_u64; 3], 0, None);
    while let Some(row) = reader.next_row()? {
        if !request.detectors.is_empty() && !request.detectors.iter().any(|d| d == reader.detector()) {
            return Ok(None);
        }
        let Some(&n) = index.get(row.id.as_str()) else {
            if beyond_limit.contains(&row.id) {
                continue;
            }
            return Err(reader.wrong(format!("id {:?} is not in the manifest", row.id)));
        };
        usage.iter_mut().zip(row.usage).for_each(|(sum, n)| *sum = sum.saturating_add(n));
        votes.count(&row);
        match rows[n as usize].replace(row) {
            None => {}
            Some(before) if before.pi.is_err() && before.phishing.is_err() => retried += 1,
            Some(before) if before.layout == Layout::FlagOnly => {
                // Beside a score, wherever it stands, the flag was no answer; the end of the file tells.
                retried += 1;
                let wrong = || reader.wrong(format!("id {:?} stands a second time", before.id));
                flag_twice.get_or_insert_with(wrong);
            }
            Some(before) => return Err(reader.wrong(format!("id {:?} stands a second time", before.id))),
        }
    }
    if votes.layout() == Layout::FlagOnly {
        if let Some(error) = flag_twice {
            return Err(error);
        }
    } else {
        for row in rows.iter_mut().flatten().filter(|row| row.layout == Layout::FlagOnly && row.any.is_ok()) {
            (row.pi, row.phishing, row.any) = (Err(Fault::Null), Err(Fault::Null), Err(Fault::Null));
        }
    }
    let detector = reader.detector().to_owned();
    let judge = votes.judge(&detector, request);
    let absent = || records.iter().zip(&rows).filter(|(_, row)| row.is_none()).map(|(record, _)| record.id.as_str());
    if let Some(first) = absent().min() {
        absent_ids(file, absent().count() as u64, index.len() as u64, first, judge, request)?;
    }
    let mut column = Column {
        layout: votes.layout(),
        sha256: reader.digest(),
        identity: BTreeMap::new(),
        only: None,
        pi: Vec::with_capacity(rows.len()),
        phishing: Vec::with_capacity(rows.len()),
        any: Vec::with_capacity(rows.len()),
        latencies: Vec::new(),
        detector,
        judge,
        usage,
        retried,
    };
    for row in rows {
        let absent = Err(Fault::Absent);
        let (pi, phishing, any) = row.as_ref().map_or((absent, absent, absent), |r| (r.pi, r.phishing, r.any));
        column.pi.push(pi);
        column.phishing.push(phishing);
        column.any.push(any);
        column.latencies.extend(row.and_then(|r| r.latency_ms));
    }
    column.latencies.sort_unstable_by(f64::total_cmp);
    Ok(Some(column))
}
