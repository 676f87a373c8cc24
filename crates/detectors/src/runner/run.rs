use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::folder::{DetectorState, RunFolder, file_digest, file_name};
use super::log::{Held, PredictionLog, compact};
use super::work::{Job, Work};
use crate::policy::Stop;
use crate::{Detector, DetectorError, ErrorClass, Failure, Prediction, Preparer, Usage};

/// How a detector is run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunOptions {
    /// Calls under way at once, at most what the detector takes. Default 4.
    pub concurrency: usize,
    /// Failed records in a row, with none that succeeded before them, after which the run ends: then something other than the
    /// records is wrong. Records that a model was trained on do not count. Default 20.
    pub hopeless_after: u64,
    /// A file of segments in the manifest's order that stands in for extraction.
    pub segments: Option<PathBuf>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { concurrency: 4, hopeless_after: 20, segments: None }
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Records of the run.
    pub records: u64,
    /// Records that had a score before this start.
    pub kept: u64,
    /// Records that got a score since.
    pub good: u64,
    /// Records that got an error since.
    pub failed: u64,
    /// Requests put again since.
    pub retries: u64,
    /// What this start has used.
    pub usage: Usage,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Records of the run.
    pub records: u64,
    /// Records with a score.
    pub good: u64,
    /// Records with an error.
    pub failed: u64,
    /// What this start has used.
    pub usage: Usage,
    /// Requests put again.
    pub retries: u64,
    /// Why the run ended before its end, if it did.
    pub stopped: Option<String>,
    /// The first errors of this start, with their records; at most three.
    pub errors: Vec<(String, String)>,
    /// Records of this start that the model was trained on: it refuses them however often it is asked.
    pub trained_on: u64,
    /// The predictions file.
    pub file: PathBuf,
}

impl Summary {
    /// Whether every record has a score.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.good == self.records
    }
}

/// Scores every record of the folder's manifest that has no score yet.
///
/// Each prediction is in the file before its worker takes the next records, so a process that is killed loses what was under way and
/// nothing else. At the end, and at a stop, the file is brought to one line an id, sorted by id. Memory does not grow with the
/// number of records.
///
/// # Errors
/// The folder holds predictions of this detector made with other settings; the detector refuses the manifest; a file cannot be read
/// or written (what was written before stays).
pub fn score(
    folder: &mut RunFolder,
    detector: &dyn Detector,
    preparer: &Preparer,
    options: &RunOptions,
    stop: &Stop,
    progress: &(dyn Fn(&Progress) + Sync),
) -> Result<Summary, DetectorError> {
    let name = detector.name();
    detector.check_manifest(&folder.run().manifest_sha256).map_err(|m| DetectorError::detector(name, m))?;
    let state = DetectorState {
        file: file_name(name),
        task: detector.task(),
        view: preparer.view(),
        segments_sha256: options.segments.as_deref().map(file_digest).transpose()?,
        identity: detector.identity(),
        good: 0,
        failed: 0,
        complete: false,
        usage: Usage::default(),
    };
    let path = folder.enter(name, state)?;
    let summary = answer_all(folder, detector, preparer, options, stop, progress, &path);
    if summary.is_err() {
        // The error is what ended the run; that the folder cannot be written says less.
        let _ = folder.withdraw(name);
    }
    summary
}

fn answer_all(
    folder: &mut RunFolder,
    detector: &dyn Detector,
    preparer: &Preparer,
    options: &RunOptions,
    stop: &Stop,
    progress: &(dyn Fn(&Progress) + Sync),
    path: &Path,
) -> Result<Summary, DetectorError> {
    let (name, records) = (detector.name(), folder.run().records);
    drop(PredictionLog::open(path)?);
    let kept = compact(path, folder.path())?;
    let earlier = folder.run().detectors.get(name).map_or(kept.usage, |s| s.usage.at_least(kept.usage));
    if let Some(caller) = detector.caller() {
        caller.book(earlier);
    }
    let work = Work::open(&folder.manifest(), path, options.segments.as_deref())?;
    let out = Out::new(PredictionLog::open(path)?);
    let (work, out) = (Mutex::new(work), Mutex::new(out));
    let shared = Shared { detector, preparer, options, stop, progress, records, kept, work, out };
    let workers = options.concurrency.min(detector.max_concurrency()).max(1);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| shared.work());
        }
    });
    let out = shared.out.into_inner().unwrap_or_else(PoisonError::into_inner);
    let retries = detector.caller().map_or(0, crate::policy::Caller::retries);
    let held = match out.error {
        Some(error) => return Err(error),
        None => {
            out.log.sync()?;
            compact(path, folder.path())?
        }
    };
    folder.update(name, |state| {
        (state.good, state.failed, state.complete) = (held.good, held.failed, held.good == records);
        state.usage = earlier;
        state.usage.add(out.usage);
    })?;
    Ok(Summary {
        records,
        good: held.good,
        failed: held.failed,
        usage: out.usage,
        retries,
        stopped: out.stopped.or_else(|| stop.is_requested().then(|| "the run was stopped".into())),
        errors: out.errors,
        trained_on: out.trained_on,
        file: path.to_owned(),
    })
}

struct Shared<'a> {
    detector: &'a dyn Detector,
    preparer: &'a Preparer,
    options: &'a RunOptions,
    stop: &'a Stop,
    progress: &'a (dyn Fn(&Progress) + Sync),
    records: u64,
    kept: Held,
    work: Mutex<Work>,
    out: Mutex<Out>,
}

struct Out {
    log: PredictionLog,
    synced: Instant,
    good: u64,
    failed: u64,
    trained_on: u64,
    usage: Usage,
    errors: Vec<(String, String)>,
    /// Why nobody takes more work.
    stopped: Option<String>,
    error: Option<DetectorError>,
}

impl Out {
    fn new(log: PredictionLog) -> Self {
        let (good, failed, trained_on, usage) = (0, 0, 0, Usage::default());
        Self { log, synced: now(), good, failed, trained_on, usage, errors: Vec::new(), stopped: None, error: None }
    }

    fn is_open(&self) -> bool {
        self.stopped.is_none() && self.error.is_none()
    }
}

impl Shared<'_> {
    /// One worker: takes records, asks, writes, until there are none or somebody says stop.
    fn work(&self) {
        let batch = self.detector.batch_size().max(1);
        while !self.stop.is_requested() && self.out().is_open() {
            let jobs = self.work.lock().unwrap_or_else(PoisonError::into_inner).next(batch);
            match jobs {
                Ok(jobs) if jobs.is_empty() => return,
                Ok(jobs) => self.answer(jobs),
                Err(error) => self.fail(error),
            }
        }
    }

    fn answer(&self, jobs: Vec<Job>) {
        let needs = self.detector.needs();
        let (mut inputs, mut predictions, mut stopped) = (Vec::with_capacity(jobs.len()), Vec::new(), None);
        for (record, segments) in jobs {
            let id = record.id.clone();
            match self.preparer.prepare(record, needs, segments) {
                Ok(input) => inputs.push(input),
                Err(failure) => predictions.push(self.prediction(&id, Err(failure), Duration::ZERO)),
            }
        }
        let start = now();
        let mut verdicts = if inputs.is_empty() { Vec::new() } else { self.detector.predict_batch(&inputs) };
        let each = start.elapsed() / inputs.len().max(1) as u32;
        if verdicts.len() != inputs.len() {
            let message = format!("{} answers to {} records", verdicts.len(), inputs.len());
            verdicts = vec![Err(Failure::new(ErrorClass::Program, message)); inputs.len()];
        }
        for (input, verdict) in inputs.iter().zip(verdicts) {
            if let Err(failure) = &verdict {
                if failure.fatal && stopped.is_none() {
                    stopped = Some(failure.message.clone());
                }
                if failure.class.ends_run() {
                    continue;
                }
            }
            predictions.push(self.prediction(input.id(), verdict, each));
        }
        self.write(&predictions, stopped);
    }

    fn prediction(&self, id: &str, verdict: Result<crate::Verdict, Failure>, latency: Duration) -> Prediction {
        Prediction::new(id, self.detector.name(), verdict, latency)
    }

    fn write(&self, predictions: &[Prediction], stopped: Option<String>) {
        let mut out = self.out();
        if out.error.is_some() {
            return;
        }
        let synced = out.log.append(predictions).and_then(|()| {
            if out.synced.elapsed() < Duration::from_secs(1) {
                return Ok(());
            }
            out.synced = now();
            out.log.sync()
        });
        if let Err(error) = synced {
            out.error = Some(error);
            return;
        }
        for prediction in predictions {
            out.usage.add(prediction.usage);
            match &prediction.error {
                None => out.good += 1,
                Some(error) => {
                    out.failed += 1;
                    out.trained_on += u64::from(prediction.error_class == Some(ErrorClass::TrainedOn));
                    if out.errors.len() < 3 {
                        out.errors.push((prediction.id.clone(), error.clone()));
                    }
                }
            }
        }
        let hopeless = out.good == 0 && out.failed - out.trained_on >= self.options.hopeless_after;
        if out.stopped.is_none() {
            out.stopped = stopped.or_else(|| {
                hopeless.then(|| {
                    format!(
                        "the first {} records all failed, the last of them: {}",
                        out.failed,
                        last_error(predictions)
                    )
                })
            });
        }
        (self.progress)(&Progress {
            records: self.records,
            kept: self.kept.good,
            good: out.good,
            failed: out.failed,
            retries: self.detector.caller().map_or(0, crate::policy::Caller::retries),
            usage: out.usage,
        });
    }

    fn fail(&self, error: DetectorError) {
        self.out().error.get_or_insert(error);
    }

    fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn last_error(predictions: &[Prediction]) -> &str {
    predictions.iter().rev().find_map(|p| p.error.as_deref()).unwrap_or_default()
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "latency is a field of a prediction; when to sync changes no byte")]
    Instant::now()
}
