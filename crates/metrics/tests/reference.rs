//! Agreement with scikit-learn, scipy, statsmodels and numpy, on cases that `fixtures/generate.py` made.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its cases fails")]

use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};
use wardline_metrics::{
    Bootstrap, BootstrapInterval, Confusion, Design, Half, Measure, NumpyRng, Ranked, Stream, TprEstimator,
    TwoTierRows, brier_score, calibration, clopper_pearson, delong_test, grouped_split, holm, mcnemar_exact, quantiles,
    score_grid, single_tier_sweep, two_tier_sweep, wilson,
};

const TOLERANCE: f64 = 1e-12;

fn cases(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty());
    cases
}

/// Numbers that are not finite are written as text.
fn number(value: &Value) -> f64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or_else(|| value.as_f64()).unwrap_or_else(|| panic!("{value} is no number"))
}

fn integer(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn bits(value: &Value) -> Vec<bool> {
    value.as_str().unwrap().bytes().map(|b| b == b'1').collect()
}

#[track_caller]
fn close(what: &str, found: f64, expected: f64) {
    let same =
        if expected.is_nan() { found.is_nan() } else { found == expected || (found - expected).abs() <= TOLERANCE };
    assert!(same, "{what}: {found} instead of {expected}");
}

#[track_caller]
fn all_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?} instead of {expected:?}");
    for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        // The margin is relative for thresholds above 1.
        let size = if expected.is_finite() { expected.abs().max(1.0) } else { 1.0 };
        close(&format!("{what} [{i}]"), found / size, expected / size);
    }
}

#[test]
fn curves_areas_and_operating_points() {
    let cases = cases("scored.json");
    assert!(cases.len() >= 200);
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let (labels, scores) = (bits(&case["labels"]), numbers(&case["scores"]));
        let ranked = Ranked::new(&labels, &scores).unwrap();
        close(id, ranked.roc_auc(), number(&case["auc"]));
        close(id, ranked.average_precision(), number(&case["average_precision"]));
        let weighted = Ranked::weighted(&labels, &scores, &numbers(&case["weights"])).unwrap();
        close(id, weighted.roc_auc(), number(&case["auc_weighted"]));
        close(id, weighted.average_precision(), number(&case["average_precision_weighted"]));
        for pair in case["partial_auc"].as_array().unwrap() {
            close(id, ranked.standardised_partial_auc(number(&pair[0])).unwrap(), number(&pair[1]));
        }

        let roc = ranked.roc_curve(true);
        all_close(&format!("{id} fpr"), &roc.fpr, &numbers(&case["roc"][0]));
        all_close(&format!("{id} tpr"), &roc.tpr, &numbers(&case["roc"][1]));
        all_close(&format!("{id} thresholds"), &roc.thresholds[1..], &numbers(&case["roc"][2])[1..]);
        let curve = ranked.precision_recall_curve();
        all_close(&format!("{id} precision"), &curve.precision, &numbers(&case["precision_recall"][0]));
        all_close(&format!("{id} recall"), &curve.recall, &numbers(&case["precision_recall"][1]));

        for point in case["points"].as_array().unwrap() {
            let point = numbers(point);
            let c = Confusion::at(&labels, &scores, point[0]).unwrap();
            let found = [c.precision(), c.recall(), c.f1(), c.specificity(), c.mcc()];
            all_close(&format!("{id} at {}", point[0]), &found, &point[1..]);
            close(id, c.fpr(), 1.0 - point[4]);
        }
        for target in case["targets"].as_array().unwrap() {
            let [target, grade, tpr, fpr] = numbers(target)[..] else { panic!("{target}") };
            close(id, ranked.tpr_at_fpr(target, TprEstimator::Grade).unwrap().tpr, grade);
            let analyze = ranked.tpr_at_fpr(target, TprEstimator::Analyze).unwrap();
            all_close(&format!("{id} at fpr {target}"), &[analyze.tpr, analyze.fpr], &[tpr, fpr]);
        }
        let tuned = ranked.tune(0.05).unwrap();
        all_close(&format!("{id} tuned"), &[tuned.threshold, tuned.tpr, tuned.fpr], &numbers(&case["tuned"]));
    }
}

#[test]
fn probabilities_and_policies() {
    let mut checked = 0;
    for case in cases("scored.json").iter().filter(|case| !case["brier"].is_null()) {
        let id = case["id"].as_str().unwrap();
        let (labels, scores) = (bits(&case["labels"]), numbers(&case["scores"]));
        close(id, brier_score(&labels, &scores).unwrap(), number(&case["brier"]));
        let found = calibration(&labels, &scores, 10).unwrap();
        close(id, found.expected_error, number(&case["calibration"]["expected_error"]));
        let filled: Vec<_> = found.bins.iter().filter(|bin| bin.count > 0).collect();
        let shares: Vec<f64> = filled.iter().map(|bin| bin.positive_share).collect();
        let means: Vec<f64> = filled.iter().map(|bin| bin.mean_score).collect();
        all_close(id, &shares, &numbers(&case["calibration"]["share"]));
        all_close(id, &means, &numbers(&case["calibration"]["mean"]));

        let verified = bits(&case["verified"]);
        let rows = TwoTierRows { labels: &labels, scores: &scores, verified: &verified };
        let grid = |keep: &dyn Fn(usize) -> bool| {
            let kept: Vec<f64> = (0..scores.len()).filter(|&i| keep(i)).map(|i| scores[i]).collect();
            score_grid(&kept, 3, 4, 1.1).unwrap()
        };
        let single = single_tier_sweep(&rows, &grid(&|_| true), 0.05).unwrap().unwrap();
        all_close(id, &[single.threshold, single.tpr, single.fpr], &numbers(&case["single_tier"]));
        let (first, other) = (grid(&|i| verified[i]), grid(&|i| !verified[i]));
        let pair = two_tier_sweep(&rows, &first, &other, 0.05).unwrap().unwrap();
        all_close(id, &[pair.verified, pair.other, pair.tpr, pair.fpr], &numbers(&case["two_tier"]));
        assert_eq!(rows.at(pair.verified, pair.other).unwrap(), pair);
        checked += 1;
    }
    assert!(checked >= 200);
}

#[test]
fn delong_is_that_of_all_pairs() {
    let mut checked = 0;
    for case in cases("scored.json").iter().filter(|case| !case["delong"].is_null()) {
        let id = case["id"].as_str().unwrap();
        let (labels, scores) = (bits(&case["labels"]), numbers(&case["scores"]));
        let t = delong_test(&labels, &scores, &numbers(&case["second"])).unwrap();
        let expected = &case["delong"];
        close(id, t.first.variance, number(&expected["first"]));
        close(id, t.second.variance, number(&expected["second"]));
        close(id, t.covariance, number(&expected["covariance"]));
        close(id, t.variance, t.first.variance + t.second.variance - 2.0 * t.covariance);
        if !expected["p_value"].is_null() {
            close(id, t.p_value, number(&expected["p_value"]));
            checked += 1;
        }
    }
    assert!(checked >= 100, "{checked}");
}

#[test]
fn proportions() {
    let cases = cases("proportions.json");
    assert!(cases.len() >= 200);
    for case in &cases {
        let (x, n) = (integer(&case["successes"]), integer(&case["trials"]));
        let confidence = number(&case["confidence"]);
        let found = wilson(x, n, confidence).unwrap().unwrap();
        all_close(&format!("wilson {x} of {n}"), &[found.low, found.high], &numbers(&case["wilson"]));
        let found = clopper_pearson(x, n, confidence).unwrap().unwrap();
        all_close(&format!("exact {x} of {n}"), &[found.low, found.high], &numbers(&case["clopper_pearson"]));
    }
}

#[test]
fn paired_tests_and_families() {
    let cases_found = cases("mcnemar.json");
    assert!(cases_found.len() >= 200);
    for case in &cases_found {
        let found = mcnemar_exact(integer(&case["only_first"]), integer(&case["only_second"]));
        close(&case.to_string(), found.p_value, number(&case["p_value"]));
    }
    for case in cases("holm.json") {
        all_close("holm", &holm(&numbers(&case["p_values"])).unwrap(), &numbers(&case["adjusted"]));
    }
}

#[test]
fn quantiles_are_numpys() {
    for case in cases("quantiles.json") {
        let found = quantiles(&numbers(&case["values"]), &numbers(&case["points"])).unwrap();
        all_close("quantiles", &found, &numbers(&case["quantiles"]));
    }
}

#[test]
fn splits_alternate_groups() {
    for case in cases("splits.json") {
        let (strata, groups) = (numbers(&case["strata"]), numbers(&case["groups"]));
        let keys = |values: &[f64]| -> Vec<u64> { values.iter().map(|&v| v as u64).collect() };
        let halves = grouped_split(&keys(&strata), &keys(&groups)).unwrap();
        let test: Vec<f64> = halves.iter().map(|&half| f64::from(half == Half::Test)).collect();
        assert_eq!(test, numbers(&case["test"]));
    }
}

#[test]
fn numpys_stream_bit_for_bit() {
    for case in cases("streams.json") {
        let mut rng = NumpyRng::new(case["seed"].as_str().unwrap().parse().unwrap());
        let draws: Vec<u32> = [1, 2, 3, 7, 320, 1, 699, 5, 65_537, 3].into_iter().flat_map(|n| rng.choice(n)).collect();
        let first: Vec<f64> = draws[..40].iter().copied().map(f64::from).collect();
        assert_eq!(first, numbers(&case["first"]), "seed {}", case["seed"]);
        assert_eq!(digest(&draws), case["sha256"], "seed {}", case["seed"]);
    }
}

fn digest(draws: &[u32]) -> String {
    let bytes: Vec<u8> = draws.iter().flat_map(|d| d.to_le_bytes()).collect();
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn clustered_bootstrap_of_numpys_stream() {
    let case = &cases("clustered.json")[0];
    let (seed, groups) = (integer(&case["seed"]), integer(&case["groups"]) as u32);
    assert!(groups >= 300);

    let mut rng = NumpyRng::new(seed);
    let draws: Vec<u32> = (0..1000).flat_map(|_| rng.choice(groups)).collect();
    assert_eq!(digest(&draws), case["draws_sha256"], "1,000 replicates of index draws");

    let sizes = numbers(&case["sizes"]);
    let group_of: Vec<usize> = sizes.iter().enumerate().flat_map(|(g, &n)| vec![g; n as usize]).collect();
    let group_labels = bits(&case["labels"]);
    let labels: Vec<bool> = group_of.iter().map(|&g| group_labels[g]).collect();
    let scores: Vec<f64> = numbers(&case["scores"]).iter().map(|s| s / 100.0).collect();
    let measures = [
        Measure::RocAuc,
        Measure::AveragePrecision,
        Measure::TprAtFpr { target: 0.01, estimator: TprEstimator::Grade },
        Measure::TprAtFpr { target: 0.01, estimator: TprEstimator::Analyze },
        Measure::Recall { threshold: 0.35 },
        Measure::Fpr { threshold: 0.35 },
    ];
    let design = Design::clusters(&group_of).unwrap();
    let bootstrap = Bootstrap::new(Stream::numpy(seed)).interval(BootstrapInterval::Percentile);
    let found = bootstrap.measures(&design, &labels, &scores, &measures).unwrap();
    let column = |pick: &dyn Fn(&wardline_metrics::Estimate) -> f64| found.iter().map(pick).collect::<Vec<f64>>();
    all_close("point", &column(&|e| e.value), &numbers(&case["point"]));
    all_close("2.5 %", &column(&|e| e.interval.unwrap().low), &numbers(&case["low"]));
    all_close("97.5 %", &column(&|e| e.interval.unwrap().high), &numbers(&case["high"]));
    let replicates = bootstrap.measure_replicates(&design, &labels, &scores, &measures).unwrap();
    let nth = |r: usize| replicates.iter().map(|values| values[r]).collect::<Vec<f64>>();
    all_close("first replicate", &nth(0), &numbers(&case["first_replicate"]));
    all_close("last replicate", &nth(999), &numbers(&case["last_replicate"]));
}

#[test]
fn bca_is_scipys() {
    for case in cases("bca.json") {
        let values = numbers(&case["values"]);
        let design = Design::rows(values.len()).unwrap();
        for (method, interval) in [("BCa", BootstrapInterval::Bca), ("percentile", BootstrapInterval::Percentile)] {
            let stream = Stream::numpy(integer(&case["seed"]));
            let found = Bootstrap::new(stream).replicates(999).interval(interval).mean(&design, &values).unwrap();
            let found = found.interval.unwrap();
            all_close(method, &[found.low, found.high], &numbers(&case[method]));
        }
    }
}
