//! The published protocol on a synthetic run of the published shape, against the figures of an independent script in Python.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../examples/synthetic_run/data.rs"]
mod data;

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use wardline_analysis::{Analysis, IntervalMethod, Points, Prepared, Run, RunRequest, Settings, Task};

const EXPECTED: &str = include_str!("../fixtures/expected.json");

fn write_run() -> TempDir {
    let folder = TempDir::new().unwrap();
    for file in data::files(7) {
        let path = folder.path().join(&file.name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file.text).unwrap();
    }
    folder
}

fn read(folder: &Path) -> Run {
    Run::read(&RunRequest::new(folder)).unwrap()
}

fn read_naive(folder: &Path) -> Run {
    let manifest = Some(folder.join("run/manifest_used.jsonl"));
    Run::read(&RunRequest { manifest, ..RunRequest::new(folder.join("naive")) }).unwrap()
}

/// Counts compared numbers, so that a comparison that compares nothing fails.
#[derive(Default)]
struct Compare {
    numbers: usize,
}

impl Compare {
    fn same(&mut self, what: &str, ours: Option<f64>, theirs: &Value) {
        self.numbers += 1;
        match (ours, theirs.as_f64()) {
            (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-12, "{what}: {a} here, {b} there"),
            (None, None) => {}
            (a, _) => panic!("{what}: {a:?} here, {theirs} there"),
        }
    }

    fn values(&mut self, what: &str, points: &Points, theirs: &Value) {
        let ours = [points.auc, points.tpr_at_target_fpr, points.recall, points.fpr];
        for (n, figure) in ours.into_iter().enumerate() {
            self.same(&format!("{what}, number {n}"), figure.value, &theirs[n]);
        }
    }

    fn counts(&mut self, what: &str, points: &Points, theirs: &Value) {
        self.same(what, Some(points.n_pos as f64), &theirs["n_pos"]);
        self.same(what, Some(points.n_neg as f64), &theirs["n_neg"]);
    }
}

#[test]
fn every_number_agrees_with_the_independent_script() {
    let folder = write_run();
    let (run, naive) = (read(&folder.path().join("run")), read_naive(folder.path()));
    let settings = Settings { interval: IntervalMethod::Numpy, ..Settings::default() };
    let analysis = Prepared::new(&run, &settings).unwrap().analyze(Some(&naive)).unwrap();
    let expected: Value = serde_json::from_str(EXPECTED).unwrap();
    let mut compare = Compare::default();

    let population = &analysis.population;
    for (name, ours) in [
        ("manifest", population.manifest),
        ("text_ids", population.text_ids),
        ("dev", population.dev),
        ("test", population.test),
    ] {
        compare.same(name, Some(ours as f64), &expected["population"][name]);
    }
    assert_eq!((population.manifest, population.text_ids, population.dev, population.test), (6333, 5955, 2985, 2970));
    let pi = population.tasks[&Task::Injection];
    assert_eq!((pi.test_pos, pi.test_neg), (1217, 1003));
    assert!(population.recipe.iter().all(|part| part.published == part.here), "{:?}", population.recipe);
    assert_eq!(analysis.detectors.len(), 12);

    for detector in &analysis.detectors {
        let name = detector.detector.as_str();
        for task in Task::PUBLISHED {
            let theirs = &expected["tasks"][task.as_str()];
            let ours = &detector.tasks[&task];
            let what = format!("{name}, {task}");
            compare.counts(&what, &ours.test, &theirs["test"][name]);
            compare.values(&what, &ours.test, &theirs["test"][name]["values"]);
            for (n, figure) in
                [ours.test.auc, ours.test.tpr_at_target_fpr, ours.test.recall, ours.test.fpr].into_iter().enumerate()
            {
                let interval = figure.interval.unwrap();
                let bounds = &theirs["test"][name]["intervals"][n];
                compare.same(&format!("{what}, lower bound {n}"), Some(interval.low), &bounds[0]);
                compare.same(&format!("{what}, upper bound {n}"), Some(interval.high), &bounds[1]);
            }
            compare.counts(&what, &ours.whole, &theirs["whole"][name]);
            compare.values(&format!("{what}, whole"), &ours.whole, &theirs["whole"][name]["values"]);
            assert_eq!(detector.judge, !theirs["dev_tuned"][name].is_null(), "{name}");
            if let Some(tuned) = ours.dev_tuned {
                let theirs = &theirs["dev_tuned"][name];
                compare.same(&format!("{what}, tuned threshold"), tuned.threshold, &theirs["threshold"]);
                compare.same(&format!("{what}, tuned recall"), tuned.recall.value, &theirs["recall"]);
                compare.same(&format!("{what}, tuned FPR"), tuned.fpr.value, &theirs["fpr"]);
            }
        }
        sender_auth(&mut compare, &analysis, name, &expected["sender_auth"][name]);
    }
    assert_eq!(analysis.views.len(), 5);
    for view in &analysis.views {
        let theirs = &expected["view_ablation"][&view.detector];
        compare.values(&format!("{}, canonical", view.detector), &view.canonical, &theirs["canonical"]);
        compare.values(&format!("{}, naive", view.detector), &view.naive, &theirs["naive"]);
    }
    // The test half is that of the headline, and the whole population has the published figures.
    assert_eq!(analysis.views_test.len(), 5);
    for view in &analysis.views_test {
        let headline = &analysis.detector(&view.detector).unwrap().tasks[&Task::Injection].test;
        assert_eq!(&view.canonical, headline);
        assert_eq!(view.naive.n_neg, headline.n_neg);
        let surfaces: u64 = view.surfaces.iter().map(|s| s.n_pos).sum();
        assert_eq!(surfaces, headline.n_pos, "{}", view.detector);
    }
    println!("{} numbers agree to 1e-12", compare.numbers);
    assert!(compare.numbers > 700, "{} numbers", compare.numbers);
}

fn sender_auth(compare: &mut Compare, analysis: &Analysis, name: &str, theirs: &Value) {
    let detector = analysis.detectors.iter().find(|d| d.detector == name).unwrap();
    let slices = detector.tasks[&Task::Injection].slices.iter().find(|s| s.by == "sender_auth").unwrap();
    assert_eq!(slices.slices.len(), 3);
    for slice in &slices.slices {
        let theirs = &theirs[&slice.name];
        let what = format!("{name}, {}", slice.name);
        compare.same(&what, Some((slice.n_pos + slice.n_neg) as f64), &theirs["n"]);
        compare.same(&what, Some(slice.n_pos as f64), &theirs["n_pos"]);
        let ours = [slice.auc, slice.tpr_at_target_fpr, slice.recall.value, slice.fpr.value];
        for (n, value) in ours.into_iter().enumerate() {
            compare.same(&format!("{what}, number {n}"), value, &theirs["values"][n]);
        }
    }
    if theirs["two_tier"].is_null() {
        return;
    }
    let tiers = detector.two_tier.unwrap();
    for (key, ours) in [
        ("dev_recall", Some(tiers.dev_recall)),
        ("t_verified", Some(tiers.t_verified)),
        ("t_other", Some(tiers.t_other)),
        ("test_recall", tiers.test_recall),
        ("test_fpr", tiers.test_fpr),
    ] {
        compare.same(&format!("{name}, two tiers, {key}"), ours, &theirs["two_tier"][key]);
    }
    for (key, ours) in [
        ("threshold", Some(tiers.single_threshold)),
        ("test_recall", tiers.single_test_recall),
        ("test_fpr", tiers.single_test_fpr),
    ] {
        compare.same(&format!("{name}, one tier, {key}"), ours, &theirs["single_tier"][key]);
    }
}
