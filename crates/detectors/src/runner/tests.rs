use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};
use wardline_email_corpus::BaseFolder;

use super::*;
use crate::policy::Stop;
use crate::{Detector, DetectorError, ErrorClass, Failure, Input, Needs, Preparer, Task, Verdict, View};

/// Scores by the id's number, and fails as told.
#[derive(Default)]
struct Scripted {
    asked: Mutex<BTreeMap<String, u32>>,
    failing: Mutex<BTreeMap<String, Failure>>,
    batch: usize,
    version: u32,
    stop_at: Option<(u64, Stop)>,
    calls: AtomicU64,
}

impl Detector for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn task(&self) -> Task {
        Task::Both
    }

    fn needs(&self) -> Needs {
        Needs::TEXT
    }

    fn batch_size(&self) -> usize {
        self.batch
    }

    fn identity(&self) -> Map<String, Value> {
        Map::from_iter([("version".to_owned(), json!(self.version))])
    }

    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some((_, stop)) = self.stop_at.as_ref().filter(|(at, _)| call >= *at) {
            stop.request();
        }
        let answer = |input: &Input| {
            *self.asked.lock().unwrap().entry(input.id().to_owned()).or_default() += 1;
            match self.failing.lock().unwrap().get(input.id()) {
                Some(failure) => Err(failure.clone()),
                None => Verdict::from_score(input.text()?.len() as f64 / 100.0),
            }
        };
        inputs.iter().map(answer).collect()
    }
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(records: usize) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        // Not in the order of the ids.
        place.manifest(&(0..records).map(|i| format!("id{:04}", i * 7 % records)).collect::<Vec<_>>());
        place
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn manifest(&self, ids: &[String]) -> PathBuf {
        let line = |id: &String| {
            let input = json!({"subject": format!("subject of {id}")});
            let label = json!({"is_malicious": false, "threat_type": "benign"});
            let provenance = json!({"source": "handcrafted", "synthetic": true});
            let auth = "verified";
            let record = json!({"id": id, "detector_input": input, "label": label, "provenance": provenance,
                "sender_auth_condition": auth});
            format!("{record}\n")
        };
        let path = self.path().join("mail.jsonl");
        fs::write(&path, ids.iter().map(line).collect::<String>()).unwrap();
        path
    }

    fn open(&self) -> Result<RunFolder, DetectorError> {
        RunFolder::open(&self.path().join("run"), &self.path().join("mail.jsonl"), None)
    }

    fn score(&self, detector: &Scripted, options: &RunOptions, stop: &Stop) -> Result<Summary, DetectorError> {
        let preparer = Preparer::new(BaseFolder::open(self.path()).unwrap(), View::Canonical);
        score(&mut self.open()?, detector, &preparer, options, stop, &|_| {})
    }

    fn run(&self, detector: &Scripted) -> Summary {
        self.score(detector, &RunOptions::default(), &Stop::default()).unwrap()
    }

    fn predictions(&self) -> Vec<(String, bool)> {
        let mut out = Vec::new();
        read_predictions(&self.path().join("run/scripted.jsonl"), |p| {
            out.push((p.id.clone(), p.is_good()));
            Ok(())
        })
        .unwrap();
        out
    }
}

#[test]
fn every_record_once_sorted_by_id_for_any_concurrency_and_batch() {
    let mut files = Vec::new();
    for (concurrency, batch) in [(1, 1), (7, 1), (3, 40)] {
        let place = Place::new(200);
        let detector = Scripted { batch, ..Scripted::default() };
        let options = RunOptions { concurrency, ..RunOptions::default() };
        let summary = place.score(&detector, &options, &Stop::default()).unwrap();
        assert!(summary.is_complete() && summary.stopped.is_none(), "{summary:?}");
        assert!(detector.asked.lock().unwrap().values().all(|n| *n == 1));
        let mut predictions = Vec::new();
        read_predictions(&summary.file, |mut p| {
            p.latency_ms = 0.0;
            predictions.push(p);
            Ok(())
        })
        .unwrap();
        assert_eq!(predictions.len(), 200);
        assert!(predictions.is_sorted_by(|a, b| a.id < b.id));
        files.push(predictions);
    }
    assert!(files.iter().all(|f| *f == files[0]));
}

#[test]
fn a_second_start_asks_only_about_failed_records() {
    let place = Place::new(50);
    let detector = Scripted::default();
    for id in ["id0003", "id0040"] {
        detector.failing.lock().unwrap().insert(id.into(), Failure::new(ErrorClass::Reply, "no JSON"));
    }
    let summary = place.run(&detector);
    assert_eq!((summary.good, summary.failed, summary.is_complete()), (48, 2, false));
    assert_eq!(summary.errors.len(), 2);
    detector.asked.lock().unwrap().clear();
    detector.failing.lock().unwrap().clear();
    assert!(place.run(&detector).is_complete());
    let asked: Vec<_> = detector.asked.lock().unwrap().keys().cloned().collect();
    assert_eq!(asked, ["id0003", "id0040"]);
    assert_eq!(place.predictions().iter().filter(|p| p.1).count(), 50);
    detector.asked.lock().unwrap().clear();
    assert!(place.run(&detector).is_complete());
    assert!(detector.asked.lock().unwrap().is_empty());
}

#[test]
fn a_stop_ends_cleanly_and_the_rest_follows() {
    let place = Place::new(100);
    let stop = Stop::default();
    let detector = Scripted { stop_at: Some((30, stop.clone())), ..Scripted::default() };
    let options = RunOptions { concurrency: 2, ..RunOptions::default() };
    let summary = place.score(&detector, &options, &stop).unwrap();
    assert!(summary.stopped.is_some());
    assert!((30..=31).contains(&summary.good), "{summary:?}");
    let detector = Scripted::default();
    assert!(place.run(&detector).is_complete());
    assert_eq!(detector.asked.lock().unwrap().len() as u64, 100 - summary.good);
}

#[test]
fn what_fails_for_every_record_ends_the_run() {
    let place = Place::new(100);
    let detector = Scripted::default();
    let mut failure = Failure::new(ErrorClass::Auth, "401: the key was refused");
    for i in 0..100 {
        detector.failing.lock().unwrap().insert(format!("id{i:04}"), failure.clone());
    }
    let options = RunOptions { concurrency: 1, ..RunOptions::default() };
    let summary = place.score(&detector, &options, &Stop::default()).unwrap();
    assert_eq!(summary.failed, 20);
    let reason = "the first 20 records all failed, the last of them: 401: the key was refused";
    assert_eq!(summary.stopped.as_deref(), Some(reason));

    failure.fatal = true;
    detector.failing.lock().unwrap().values_mut().for_each(|f| *f = failure.clone());
    let place = Place::new(100);
    let summary = place.score(&detector, &options, &Stop::default()).unwrap();
    assert_eq!((summary.failed, summary.stopped.as_deref()), (1, Some("401: the key was refused")));
}

#[test]
fn records_that_were_not_asked_about_leave_no_line() {
    let place = Place::new(10);
    let detector = Scripted::default();
    detector.failing.lock().unwrap().insert("id0000".into(), Failure::new(ErrorClass::Budget, "used up"));
    let options = RunOptions { concurrency: 1, ..RunOptions::default() };
    let summary = place.score(&detector, &options, &Stop::default()).unwrap();
    assert_eq!((summary.good, summary.failed, summary.stopped.as_deref()), (0, 0, Some("used up")));
    assert!(place.predictions().is_empty());
}

#[test]
fn another_detector_or_manifest_is_refused_and_a_longer_manifest_goes_on() {
    let place = Place::new(10);
    place.run(&Scripted::default());
    let other = Scripted { version: 2, ..Scripted::default() };
    let error = place.score(&other, &RunOptions::default(), &Stop::default()).unwrap_err().to_string();
    assert!(error.contains("detector scripted had version 0 and now has 2; choose another folder"), "{error}");

    let mut ids: Vec<String> = (0..10).map(|i| format!("id{:04}", i * 7 % 10)).collect();
    ids.push("more".into());
    place.manifest(&ids);
    let detector = Scripted::default();
    assert!(place.run(&detector).is_complete());
    assert_eq!(detector.asked.lock().unwrap().len(), 1);

    ids.swap(0, 1);
    place.manifest(&ids);
    let error = place.open().unwrap_err().to_string();
    assert!(error.contains("its records are not the first ones of this manifest"), "{error}");
    assert!(!place.path().join("run/manifest_used.jsonl.partial").exists());
}

#[test]
fn wrong_manifests_are_named() {
    let place = Place::new(1);
    place.manifest(&["a".into(), "b".into(), "a".into()]);
    let error = place.open().unwrap_err().to_string();
    assert!(error.ends_with("mail.jsonl: line 3: id \"a\" stands twice"), "{error}");
    fs::write(place.path().join("mail.jsonl"), "").unwrap();
    assert!(place.open().unwrap_err().to_string().ends_with("holds no record"));
}

#[test]
fn a_refused_run_leaves_nothing() {
    let place = Place::new(3);
    let (manifest, twice) = (place.path().join("mail.jsonl"), place.path().join("twice.jsonl"));
    let line = fs::read_to_string(&manifest).unwrap().lines().next().unwrap().to_owned() + "\n";
    fs::write(&twice, line.repeat(2)).unwrap();
    let segments = place.path().join("segments.jsonl");
    fs::write(&segments, "{\"id\":\"other\",\"segments\":[]}\n").unwrap();
    let preparer = Preparer::new(BaseFolder::open(place.path()).unwrap(), View::Canonical);
    let refuse = |run: &str, manifest: &Path, segments: Option<PathBuf>| {
        let options = RunOptions { segments, ..RunOptions::default() };
        let scored = RunFolder::open(&place.path().join(run), manifest, None).and_then(|mut folder| {
            score(&mut folder, &Scripted::default(), &preparer, &options, &Stop::default(), &|_| {})
        });
        scored.unwrap_err().to_string()
    };
    let names = |folder: PathBuf| {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names(place.path().to_owned());
    fs::create_dir(place.path().join("empty")).unwrap();
    for (run, manifest, segments, want) in [
        ("run", &twice, None, "stands twice"),
        ("a/b/run", &twice, None, "stands twice"),
        ("run", &place.path().join("none.jsonl"), None, "none.jsonl"),
        ("run", &manifest, Some(place.path().join("none")), "none"),
        ("a/b/run", &manifest, Some(segments.clone()), "has no segments of record"),
        ("empty", &manifest, Some(segments.clone()), "has no segments of record"),
    ] {
        let error = refuse(run, manifest, segments);
        assert!(error.contains(want), "{error}");
        assert!(names(place.path().join("empty")).is_empty());
    }
    fs::remove_dir(place.path().join("empty")).unwrap();
    assert_eq!(names(place.path().to_owned()), before);

    // What stood there before stays.
    place.run(&Scripted::default());
    let run = names(place.path().join("run"));
    assert!(refuse("run", &manifest, Some(segments)).contains("other segments"));
    assert!(refuse("run", &twice, None).contains("stands twice"));
    assert_eq!(names(place.path().join("run")), run);
    assert!(place.run(&Scripted::default()).is_complete());
}

#[test]
fn records_that_a_model_was_trained_on_end_no_run() {
    let place = Place::new(50);
    let detector = Scripted { batch: 1, ..Scripted::default() };
    let refusal = || Failure::new(ErrorClass::TrainedOn, "the model was trained on this record");
    // The first forty of the manifest.
    *detector.failing.lock().unwrap() = (0..40).map(|i| (format!("id{:04}", i * 7 % 50), refusal())).collect();
    let options = RunOptions { concurrency: 1, ..RunOptions::default() };
    let summary = place.score(&detector, &options, &Stop::default()).unwrap();
    assert_eq!((summary.good, summary.failed, summary.trained_on, summary.stopped), (10, 40, 40, None));
}

#[test]
fn two_runs_in_one_folder_are_refused() {
    let place = Place::new(1);
    let first = place.open().unwrap();
    assert!(matches!(place.open(), Err(DetectorError::Locked { .. })));
    drop(first);
    place.open().unwrap();
}

#[test]
fn a_limit_takes_the_first_records_and_can_be_raised() {
    let place = Place::new(10);
    let run = |limit| {
        let mut folder = RunFolder::open(&place.path().join("run"), &place.path().join("mail.jsonl"), limit)?;
        let preparer = Preparer::new(BaseFolder::open(place.path()).unwrap(), View::Canonical);
        score(&mut folder, &Scripted::default(), &preparer, &RunOptions::default(), &Stop::default(), &|_| {})
    };
    assert_eq!(run(Some(3)).unwrap().good, 3);
    assert_eq!(run(Some(5)).unwrap().good, 5);
    assert_eq!(run(None).unwrap().good, 10);
    assert!(matches!(run(Some(3)), Err(DetectorError::OtherRun { .. })));
}

#[test]
fn the_description_names_no_machine() {
    let place = Place::new(2);
    place.run(&Scripted::default());
    let text = fs::read_to_string(place.path().join("run/run.json")).unwrap();
    let run: RunFile = serde_json::from_str(&text).unwrap();
    assert_eq!(run.schema, RUN_SCHEMA);
    let state = &run.detectors["scripted"];
    assert_eq!((state.good, state.complete, state.file.as_str()), (2, true, "scripted.jsonl"));
    assert!(!text.contains(place.path().to_str().unwrap()));
}

#[test]
fn segments_from_a_file_stand_in_for_extraction() {
    let place = Place::new(3);
    let line = |id: &str, n: usize| {
        let text = "x".repeat(n);
        format!("{{\"id\":\"{id}\",\"segments\":[{{\"type\":\"text_plain\",\"content\":\"{text}\",\"ref\":\"1\"}}]}}\n")
    };
    let file = place.path().join("segments.jsonl");
    fs::write(&file, line("id0000", 10) + &line("other", 1) + &line("id0001", 20) + &line("id0002", 30)).unwrap();
    let options = RunOptions { segments: Some(file.clone()), ..RunOptions::default() };
    let summary = place.score(&Scripted::default(), &options, &Stop::default()).unwrap();
    let mut scores = Vec::new();
    read_predictions(&summary.file, |p| {
        scores.push(p.score.unwrap());
        Ok(())
    })
    .unwrap();
    assert_eq!(scores, [0.1, 0.2, 0.3]);

    fs::write(&file, line("id0000", 10)).unwrap();
    let place = Place::new(3);
    let error =
        place.score(&Scripted::default(), &RunOptions { concurrency: 1, ..options }, &Stop::default()).unwrap_err();
    assert!(error.to_string().contains("has no segments of record \"id0001\""), "{error}");
    assert_eq!(place.predictions().len(), 1);
}
