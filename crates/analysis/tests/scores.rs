//! Missing and bad scores, layouts, and the two ways of reading a run.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{folder, good, ids, manifest, predictions, row, score};
use wardline_analysis::{Analysis, Fault, Layout, Prepared, Run, RunRequest, Settings, Task, grade};

fn analyze(run: &Run, settings: &Settings) -> Analysis {
    Prepared::new(run, settings).unwrap().analyze(None).unwrap()
}

fn settings() -> Settings {
    Settings { replicates: 50, ..Settings::default() }
}

/// A bad row for each kind of fault, on negatives and positives alike.
fn bad(n: usize, id: &str) -> Option<String> {
    let plain = |score: &str| Some(row(id, "a", score));
    match n {
        0 => Some(format!(r#"{{"id":"{id}","detector":"a","error":"500 from the service"}}"#)),
        1 => Some(format!(r#"{{"id":"{id}","detector":"a","score":0.9,"error_class":"timeout","error":"x"}}"#)),
        2 => Some(format!(r#"{{"id":"{id}","detector":"a","score":0.9,"error":"the request timed out"}}"#)),
        3 => plain("null"),
        4 => plain("NaN"),
        5 => plain("-Infinity"),
        6 => plain("\"0.5\""),
        7 => plain("1.0000001"),
        8 => plain("-0.1"),
        9 => Some(format!(r#"{{"id":"{id}","detector":"a"}}"#)),
        145 => plain("\"NaN\""),
        146 => plain("[0.5]"),
        147 => plain("true"),
        _ => plain(&format!("{:?}", score(n, id))),
    }
}

#[test]
fn faults_are_counted_by_kind_and_bound_the_figures() {
    let folder = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &predictions(bad))]);
    let request = RunRequest::new(folder.path());
    let run = Run::read(&request).unwrap();
    let analysis = analyze(&run, &settings());
    let result = &analysis.detectors[0].tasks[&Task::Injection];
    let c = result.coverage;
    assert_eq!((c.expected, c.scored), (160, 147));
    let kinds = Fault::ALL.map(|f| c.of(f));
    //            absent error time-out null NaN infinite text range
    assert_eq!(kinds, [0, 1, 2, 2, 2, 1, 3, 2]);
    assert!(analysis.detectors[0].warnings[0].contains("13 of 160 records have no score (1 error, 2 time-out, 2 null"));
    assert_eq!((result.whole.missing_pos, result.whole.missing_neg), (3, 10));

    for figure in [result.whole.auc, result.whole.tpr_at_target_fpr, result.whole.recall] {
        let (worst, value, best) = (figure.worst.unwrap(), figure.value.unwrap(), figure.best.unwrap());
        assert!(worst <= value && value <= best && worst < best, "{figure:?}");
    }
    // Recall by hand: 37 positives with a score, three without.
    let hits =
        ids().iter().enumerate().skip(140).filter(|(n, id)| !(145..148).contains(n) && score(*n, id) >= 0.35).count();
    let recall = result.whole.recall;
    assert_eq!(recall.value, Some(hits as f64 / 37.0));
    assert_eq!((recall.worst, recall.best), (Some(hits as f64 / 40.0), Some((hits + 3) as f64 / 40.0)));
    // The false-positive rate is worst when it is highest.
    let fpr = result.whole.fpr;
    assert_eq!((fpr.value, fpr.worst, fpr.best), (Some(0.0), Some(10.0 / 120.0), Some(0.0)));

    let graded = &grade(&request, 0.35).unwrap().detectors[0].tasks[&Task::Injection];
    assert_eq!((graded.coverage, graded.recall.worst, graded.recall.best), (c, recall.worst, recall.best));
    assert_eq!((graded.fpr.worst, graded.fpr.best), (fpr.worst, fpr.best));
    assert_eq!(graded.roc_auc.worst, result.whole.auc.worst);
}

#[test]
fn equal_scores_are_half_and_loud() {
    let equal = predictions(|_, id| Some(row(id, "a", "0.5")));
    let folder = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &equal)]);
    let run = Run::read(&RunRequest::new(folder.path())).unwrap();
    let analysis = analyze(&run, &settings());
    let test = &analysis.detectors[0].tasks[&Task::Injection].test;
    assert_eq!((test.auc.value, test.tpr_at_target_fpr.value), (Some(0.5), Some(0.0)));
    assert!(analysis.detectors[0].warnings[0].contains("EVERY SCORE IS 0.5"));
    let graded = &grade(&RunRequest::new(folder.path()), 0.35).unwrap().detectors[0];
    assert!(graded.warnings[0].contains("EVERY SCORE IS 0.5"));
    assert_eq!(graded.tasks[&Task::Injection].roc_auc.value, Some(0.5));
}

#[test]
fn equal_scores_of_a_task_are_loud_though_other_rows_differ() {
    let equal = predictions(|_, id| Some(row(id, "a", if id.starts_with("lure") { "0.9" } else { "0.5" })));
    let folder = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &equal)]);
    let request = RunRequest::new(folder.path());
    let loud =
        |warnings: &[String]| warnings.iter().filter(|w| w.contains("EVERY SCORE IS")).cloned().collect::<Vec<_>>();
    let analysis = analyze(&Run::read(&request).unwrap(), &settings());
    let found = loud(&analysis.detectors[0].warnings);
    assert!(found.len() == 1 && found[0].starts_with("a, pi: EVERY SCORE IS 0.5"), "{found:?}");
    assert_eq!(found, loud(&grade(&request, 0.35).unwrap().detectors[0].warnings));
}

#[test]
fn a_flag_beside_scores_is_a_missing_score() {
    let flag = |id: &str, flagged: bool| format!(r#"{{"id":"{id}","detector":"a","flagged":{flagged}}}"#);
    // The flags come first (ham_000 to ham_002), and last among the positives.
    let mixed = predictions(|n, id| {
        let scored = row(id, "a", &format!("{:?}", score(n, id)));
        Some(if !(3..178).contains(&n) { flag(id, n != 1) } else { scored })
    });
    let folder = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &mixed)]);
    let request = RunRequest::new(folder.path());
    let check = || {
        let run = Run::read(&request).unwrap();
        assert_eq!((run.columns[0].layout, run.columns[0].pi[0]), (Layout::Score, Err(Fault::Null)));
        let analysis = analyze(&run, &settings());
        let found = &analysis.detectors[0].tasks[&Task::Injection];
        assert_eq!((found.coverage.scored, found.coverage.null), (155, 5));
        assert_eq!((found.whole.missing_neg, found.whole.missing_pos), (3, 2));
        let graded = grade(&request, 0.35).unwrap().detectors.remove(0);
        assert_eq!(graded.tasks[&Task::Injection].coverage, found.coverage);
        assert_eq!(graded.tasks[&Task::Injection].fpr.value, Some(0.0));
        graded.tasks
    };
    let streamed = check();
    let mut lines: Vec<&str> = mixed.lines().collect();
    lines.reverse();
    common::write(folder.path(), &[("a.jsonl", &(lines.join("\n") + "\n"))]);
    assert_eq!(check(), streamed);

    // A score makes a flag good, in a later row; without any score two flags of one record are one too many.
    let retried = format!("{}\n{}", flag("pi_000", true), good("a"));
    common::write(folder.path(), &[("a.jsonl", &retried)]);
    let run = Run::read(&request).unwrap();
    assert_eq!((run.columns[0].retried, run.columns[0].pi.iter().filter(|r| r.is_ok()).count()), (1, 180));
    let twice = predictions(|_, id| Some(flag(id, true))) + &flag("pi_000", true) + "\n";
    common::write(folder.path(), &[("a.jsonl", &twice)]);
    let error = Run::read(&request).unwrap_err().to_string();
    assert!(error.ends_with("line 181: id \"pi_000\" stands a second time"), "{error}");
}

#[test]
fn undefined_is_not_zero() {
    let negatives: String = manifest().lines().take(120).map(|l| format!("{l}\n")).collect();
    let scores: String = good("a").lines().take(120).map(|l| format!("{l}\n")).collect();
    let folder = folder(&[("manifest_used.jsonl", &negatives), ("a.jsonl", &scores)]);
    let run = Run::read(&RunRequest::new(folder.path())).unwrap();
    let analysis = analyze(&run, &settings());
    let test = &analysis.detectors[0].tasks[&Task::Injection].test;
    assert_eq!((test.auc.value, test.recall.value, test.tpr_at_target_fpr.value), (None, None, None));
    assert_eq!(test.fpr.value, Some(0.0));
    let json = serde_json::to_value(test).unwrap();
    assert!(json["auc"]["value"].is_null());
    let text: String = wardline_analysis::analysis_tables(&analysis)
        .iter()
        .filter_map(|t| Some(t.table.as_ref()?.to_text()))
        .collect();
    assert!(text.contains("undefined"));
    let notes = &wardline_analysis::analysis_tables(&analysis)[0].notes;
    assert_eq!(notes[0], "mean AUC undefined (skips 1 undefined)");
    let graded = &grade(&RunRequest::new(folder.path()), 0.35).unwrap().detectors[0].tasks[&Task::Injection];
    assert_eq!((graded.roc_auc.value, graded.recall.value, graded.f1.value), (None, None, None));
    // 120 negatives can measure 1 %, not .1 %.
    assert_eq!(graded.tpr_at_01pct_fpr.value, None);
}

#[test]
fn published_layouts() {
    let judge = predictions(|n, id| {
        let (pi, phi) = (score(n, id), if id.starts_with("lure") { 0.9 } else { 0.05 });
        (n != 3).then(|| {
            format!(r#"{{"id": "{id}", "model": "gemini-3.1-flash-lite", "N": 1, "is_pi": true, "pi_score": {pi:?}, "phi_score": {phi:?}}}"#)
        })
    });
    let flags =
        predictions(|n, id| Some(format!(r#"{{"id":"{id}","detector":"flags","flagged":{}}}"#, score(n, id) > 0.5)));
    let folder = folder(&[
        ("manifest_used.jsonl", &manifest()),
        ("judge.jsonl", &judge),
        ("flags.jsonl", &flags),
        ("a.jsonl", &good("a")),
    ]);
    let run = Run::read(&RunRequest::new(folder.path())).unwrap();
    let kinds: Vec<_> = run.columns.iter().map(|c| (c.detector.as_str(), c.layout, c.judge)).collect();
    assert_eq!(
        kinds,
        [
            ("a", Layout::Score, false),
            ("flags", Layout::FlagOnly, false),
            ("gemini-3.1-flash-lite", Layout::TaskScores, true),
        ]
    );
    let analysis = analyze(&run, &settings());
    // The judge left one record out, which is then out of the population.
    assert_eq!((analysis.population.not_covered, analysis.population.text_ids), (1, 179));
    let judge = &analysis.detectors[2];
    assert_eq!(judge.tasks[&Task::Phishing].test.auc.value, Some(1.0));
    assert!(
        judge.tasks[&Task::Injection].dev_tuned.is_some()
            && analysis.detectors[0].tasks[&Task::Injection].dev_tuned.is_none()
    );
    assert!(analysis.detectors[1].warnings[0].contains("only flags"));
    let any = &grade(&RunRequest::new(folder.path()), 0.35).unwrap().detectors[2].tasks[&Task::AnyMalicious];
    assert_eq!((any.coverage.expected, any.coverage.absent), (180, 1));
}

#[test]
fn grades_are_the_same_read_side_by_side_or_in_memory() {
    let text = predictions(bad);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.reverse();
    let shuffled = lines.join("\n") + "\n";
    let sorted = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &text)]);
    let mixed = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &shuffled)]);
    let grades = [sorted, mixed].map(|folder| {
        let mut grade = grade(&RunRequest::new(folder.path()), 0.35).unwrap();
        grade.detectors[0].predictions_sha256.clear();
        grade
    });
    assert_eq!(grades[0], grades[1]);
}

#[test]
fn results_do_not_depend_on_what_stands_beside_them() {
    let alone = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &good("a"))]);
    let together = folder(&[
        ("manifest_used.jsonl", &manifest()),
        ("a.jsonl", &good("a")),
        ("0.jsonl", &predictions(|n, id| Some(row(id, "0", &format!("{:?}", score(n + 11, id)))))),
    ]);
    let result = |folder: &tempfile::TempDir| {
        let run = Run::read(&RunRequest::new(folder.path())).unwrap();
        let analysis = analyze(&run, &settings());
        analysis.detectors.into_iter().find(|d| d.detector == "a").unwrap()
    };
    assert_eq!(result(&alone), result(&together));
}

#[test]
fn json_comes_back_as_it_went() {
    let folder =
        folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &predictions(bad)), ("b.jsonl", &good("b"))]);
    let run = Run::read(&RunRequest::new(folder.path())).unwrap();
    let analysis = analyze(&run, &Settings { baseline: Some("b".into()), scenario_level: true, ..settings() });
    assert_eq!(analysis.comparisons.len(), 2);
    let path = folder.path().join("analysis.json");
    std::fs::write(&path, serde_json::to_vec(&analysis).unwrap()).unwrap();
    assert_eq!(wardline_analysis::read_analysis(&path).unwrap(), analysis);
}
