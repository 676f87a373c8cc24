//! The CSV holds every number that the JSON holds, and `diff` compares what stands in it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeSet;

use common::{folder, good, ids, manifest, predictions, row, score};
use serde_json::Value;
use wardline_analysis::{Analysis, Changes, Prepared, Run, RunRequest, Settings, Task, analysis_csv, grade, grade_csv};

/// A judge and a detector that fails on some records, with everything asked for that can be.
fn analysis(shift: f64, latency: f64) -> Analysis {
    let judge = predictions(|n, id| {
        let (pi, phi) = (score(n, id), if id.starts_with("lure") { 0.9 } else { 0.05 });
        Some(format!(
            r#"{{"id":"{id}","model":"judge","pi_score":{pi:?},"phi_score":{phi:?},"latency_ms":{latency:?},"usage":{{"requests":1,"input_tokens":90,"output_tokens":7}}}}"#
        ))
    });
    let other = predictions(|n, id| match n {
        1 | 150 => Some(format!(r#"{{"id":"{id}","detector":"a","error":"timed out"}}"#)),
        _ => Some(row(id, "a", &format!("{:?}", score(n + 11, id) - shift))),
    });
    let naive = predictions(|n, id| Some(row(id, "a", &format!("{:?}", score(n, id) * 0.7))));
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("judge.jsonl", &judge), ("a.jsonl", &other)]);
    let view = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &naive), ("judge.jsonl", &judge)]);
    let [run, view] = [run, view].map(|folder| Run::read(&RunRequest::new(folder.path())).unwrap());
    let settings = Settings {
        replicates: 50,
        baseline: Some("judge".into()),
        scenario_level: true,
        prices: [("judge".to_owned(), (0.25, 1.5))].into(),
        ..Settings::default()
    };
    Prepared::new(&run, &settings).unwrap().analyze(Some(&view)).unwrap()
}

/// Every number of a value, as the CSV writes it, save under the names left out.
fn numbers(value: &Value, left_out: &[&str], found: &mut BTreeSet<String>) {
    match value {
        Value::Number(n) => {
            found.insert(n.as_f64().unwrap().to_string());
        }
        Value::Array(all) => all.iter().for_each(|v| numbers(v, left_out, found)),
        Value::Object(map) => {
            map.iter().filter(|(k, _)| !left_out.contains(&k.as_str())).for_each(|(_, v)| numbers(v, left_out, found));
        }
        _ => {}
    }
}

fn cells(csv: &str) -> BTreeSet<&str> {
    csv.lines().skip(1).flat_map(|l| l.split(',')).collect()
}

/// The value of a row that begins so.
fn value(csv: &str, begin: &str) -> f64 {
    let rows: Vec<&str> = csv.lines().filter(|l| l.starts_with(begin)).collect();
    assert_eq!(rows.len(), 1, "{begin}: {rows:?}");
    rows[0].split(',').nth(7).unwrap().parse().unwrap()
}

#[test]
fn every_number_of_an_analysis() {
    let analysis = analysis(0.0, 12.5);
    let csv = analysis_csv(&analysis);
    let mut all = BTreeSet::new();
    // Settings are of the whole file; the edges of bins stand in their names.
    let left_out = ["settings", "bins", "undefined_replicates"];
    numbers(&serde_json::to_value(&analysis).unwrap(), &left_out, &mut all);
    let cells = cells(&csv);
    let missing: Vec<&String> = all.iter().filter(|n| !cells.contains(n.as_str())).collect();
    assert!(all.len() > 150 && missing.is_empty(), "{missing:?}\n{csv}");

    let a = &analysis.detector("a").unwrap().tasks[&Task::Injection];
    let calibration = a.calibration.as_ref().unwrap();
    assert_eq!(value(&csv, "pi,test,,a,brier,"), calibration.brier);
    let bins: Vec<&str> =
        csv.lines().filter(|l| l.contains(",a,mean_score,") && l.starts_with("pi,test,bin=")).collect();
    assert_eq!(bins.len(), calibration.bins.len());
    assert_eq!(value(&csv, "pi,whole,,a,without_score_timeout,"), 2.0);
    assert_eq!(value(&csv, ",all,,judge,latency_ms_p95,"), 12.5);
    assert_eq!(value(&csv, ",all,,judge,input_tokens,"), 90.0 * ids().len() as f64);
    assert_eq!(value(&csv, "pi,test,minus judge,a,auc_p_holm,"), analysis.comparisons[0].auc.p_holm.unwrap());
    let lost = analysis.views_test[0].recall_lost.value.unwrap();
    assert_eq!(value(&csv, "pi,test,view=canonical-naive,a,recall_lost,"), lost);
    assert_eq!(value(&csv, ",whole,split=base_payload,,groups_in_both,"), 0.0);
    let method = csv.lines().find(|l| l.starts_with("pi,test,,a,auc,")).unwrap();
    assert!(method.ends_with(",percentile,false"), "{method}");
    let names: Vec<&str> = csv.lines().skip(1).map(|l| l.rsplitn(10, ',').last().unwrap()).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "two rows of one name");
}

#[test]
fn every_number_of_a_grade() {
    let bad = predictions(|n, id| match n {
        0 | 5 | 170 => Some(format!(r#"{{"id":"{id}","detector":"a","score":null,"latency_ms":3}}"#)),
        _ => Some(row(id, "a", &format!("{:?}", score(n, id)))),
    });
    let folder = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &bad)]);
    let grade = grade(&RunRequest::new(folder.path()), 0.35).unwrap();
    let csv = grade_csv(&grade);
    let mut all = BTreeSet::new();
    numbers(&serde_json::to_value(&grade).unwrap(), &["threshold"], &mut all);
    let cells = cells(&csv);
    let missing: Vec<&String> = all.iter().filter(|n| !cells.contains(n.as_str())).collect();
    assert!(all.len() > 40 && missing.is_empty(), "{missing:?}\n{csv}");
    let header = csv.lines().next().unwrap();
    assert!(header.starts_with("task,rows,slice,detector,measure,n_pos,n_neg,value,low,high,worst,best,method"));
    assert_eq!(value(&csv, ",all,,a,latency_ms_p50,"), 12.5);

    // Precision and F1 by hand: what is missing is one positive and two negatives.
    let t = &grade.detectors[0].tasks[&Task::Injection];
    let (tp, fp, missed) = (t.confusion.true_positives, t.confusion.false_positives, t.confusion.false_negatives);
    assert_eq!((t.missing_pos, t.missing_neg), (1, 2));
    let f1 = |tp: u64, fp: u64, missed: u64| Some((2 * tp) as f64 / (2 * tp + fp + missed) as f64);
    assert_eq!(
        (t.f1.worst, t.f1.value, t.f1.best),
        (f1(tp, fp + 2, missed + 1), f1(tp, fp, missed), f1(tp + 1, fp, missed))
    );
    let precision = |tp: u64, fp: u64| Some(tp as f64 / (tp + fp) as f64);
    assert_eq!((t.precision.worst, t.precision.best), (precision(tp, fp + 2), precision(tp + 1, fp)));
}

#[test]
fn changes_of_calibration_latency_and_split_are_named() {
    let (before, mut after) = (analysis(0.0, 12.5), analysis(0.05, 30.0));
    after.split.base_scenario.groups_in_both += 3;
    let changes = Changes::between(&before, &after);
    let moved = |detector: &str, measure: &str| {
        changes.movements.iter().find(|m| m.detector == detector && m.measure == measure).unwrap()
    };
    let brier = moved("a", "brier");
    assert_eq!((brier.task, brier.rows.as_str(), brier.slice.as_str()), (Some(Task::Injection), "test", ""));
    let latency = moved("judge", "latency_ms_p50");
    assert_eq!((latency.task, latency.before, latency.after), (None, Some(12.5), Some(30.0)));
    assert!(changes.causes.iter().any(|c| c.what == "split: base_scenario: groups_in_both"), "{:?}", changes.causes);
    assert!(Changes::between(&before, &before).is_empty());
}

#[test]
fn a_detector_of_one_task_is_not_in_the_mean_of_the_other() {
    let files = [("manifest_used.jsonl", manifest()), ("a.jsonl", good("a")), ("pi.jsonl", good("pi"))];
    let about = r#"{"manifest_sha256":"00","detectors":{"a":{"file":"a.jsonl","task":"both"},"pi":{"file":"pi.jsonl","task":"injection"}}}"#;
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (*n, t.as_str())).chain([("run.json", about)]).collect();
    let folder = folder(&files);
    let request =
        RunRequest { manifest: Some(folder.path().join("manifest_used.jsonl")), ..RunRequest::new(folder.path()) };
    let run = Run::read(&request).unwrap();
    let settings = Settings { replicates: 50, ..Settings::default() };
    let analysis = Prepared::new(&run, &settings).unwrap().analyze(None).unwrap();
    assert_eq!((analysis.detectors[0].only, analysis.detectors[1].only), (None, Some(Task::Injection)));
    let tables = wardline_analysis::analysis_tables(&analysis);
    let auc = |task| analysis.detectors[0].tasks[&task].test.auc.value.unwrap();
    assert_eq!(tables[0].notes, [format!("mean AUC {:.3}", auc(Task::Injection))]);
    let want = format!("mean AUC {:.3}; not in it, for they are for another task: pi", auc(Task::Phishing));
    assert_eq!(tables[1].notes, [want]);
    // Detectors that rows alone speak of count everywhere.
    std::fs::remove_file(folder.path().join("run.json")).unwrap();
    let run = Run::read(&request).unwrap();
    let analysis = Prepared::new(&run, &settings).unwrap().analyze(None).unwrap();
    assert!(!wardline_analysis::analysis_tables(&analysis)[1].notes[0].contains("another task"));
}
