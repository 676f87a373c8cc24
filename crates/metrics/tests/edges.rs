//! What happens at the edges: one class, no spread, ties at the cut, wrong input.

use wardline_metrics::{
    Bootstrap, BootstrapInterval, Confusion, Design, IntervalKind, Measure, MetricsError, QuantileSketch, Ranked,
    Stream, TprEstimator, TwoTierRows, average_precision, brier_score, calibration, clopper_pearson, delong,
    delong_test, grouped_split, holm, leakage, mcnemar, quantile, quantiles, roc_auc, score_auc_interval, score_grid,
    two_tier_sweep, wilson,
};

fn bootstrap() -> Bootstrap {
    Bootstrap::new(Stream::new(20_261_130, "edges", "detector")).replicates(500)
}

#[test]
fn thirty_negatives_tie_at_the_cut() {
    // Four negatives above, thirty at 0.8, the rest below: no threshold flags exactly ten of the thousand.
    let mut scores = vec![0.9; 4];
    scores.extend([0.8; 30]);
    scores.resize(1000, 0.1);
    scores.extend([0.95, 0.9, 0.85, 0.81, 0.8, 0.8, 0.8, 0.3, 0.1, 0.05]);
    let labels: Vec<bool> = (0..scores.len()).map(|row| row >= 1000).collect();
    let ranked = Ranked::new(&labels, &scores).unwrap();
    for estimator in [TprEstimator::Grade, TprEstimator::Analyze] {
        let point = ranked.tpr_at_fpr(0.01, estimator).unwrap();
        assert_eq!((point.threshold, point.tpr, point.fpr), (0.81, 0.4, 0.004), "{estimator:?}");
        assert_eq!(ranked.at_threshold(point.threshold), point);
        // Just enough for the thirty.
        let point = ranked.tpr_at_fpr(0.034, estimator).unwrap();
        assert_eq!((point.threshold, point.tpr, point.fpr), (0.3, 0.8, 0.034), "{estimator:?}");
    }
    let moved: Vec<f64> = scores.iter().map(|s| s * 1e-9).collect();
    assert_eq!(Ranked::new(&labels, &moved).unwrap().tpr_at_fpr(0.01, TprEstimator::Analyze).unwrap().tpr, 0.4);
}

#[test]
fn targets_below_one_in_all_negatives() {
    let labels = [true, true, false, false];
    let ranked = Ranked::new(&labels, &[0.9, 0.3, 0.5, 0.1]).unwrap();
    assert!(ranked.tpr_at_fpr(0.49, TprEstimator::Grade).unwrap().tpr.is_nan());
    assert_eq!(ranked.tpr_at_fpr(0.5, TprEstimator::Grade).unwrap().tpr, 1.0);
    assert_eq!(ranked.tpr_at_fpr(0.49, TprEstimator::Analyze).unwrap().tpr, 0.5);
    assert_eq!(ranked.tpr_at_fpr(0.0, TprEstimator::Analyze).unwrap().fpr, 0.0);
    let all = ranked.tpr_at_fpr(1.0, TprEstimator::Analyze).unwrap();
    assert_eq!((all.threshold, all.tpr, all.fpr), (0.1, 1.0, 1.0));
    let none = Ranked::new(&labels, &[0.1, 0.2, 0.5, 0.1]).unwrap().tpr_at_fpr(0.1, TprEstimator::Analyze).unwrap();
    assert_eq!((none.threshold, none.tpr), (f64::INFINITY, 0.0));
}

#[test]
fn one_class_is_not_a_number_and_never_a_panic() {
    for label in [true, false] {
        let (labels, scores) = ([label; 3], [0.1, 0.5, 0.5]);
        let ranked = Ranked::new(&labels, &scores).unwrap();
        assert!(ranked.roc_auc().is_nan());
        assert!(ranked.partial_auc(0.1).unwrap().is_nan());
        assert!(ranked.standardised_partial_auc(0.1).unwrap().is_nan());
        assert_eq!(ranked.average_precision().is_nan(), !label);
        assert!(ranked.tpr_at_fpr(0.1, TprEstimator::Analyze).unwrap().tpr.is_nan());
        assert!(ranked.tune(0.1).unwrap().threshold.is_nan());
        assert_eq!(ranked.tune_over(&[0.2], 0.1).unwrap(), None);
        assert_eq!(ranked.roc_curve(true).fpr.iter().all(|v| v.is_nan()), label);
        let d = delong(&labels, &scores).unwrap();
        assert!(d.auc.is_nan() && d.variance.is_nan());
        let t = delong_test(&labels, &scores, &scores).unwrap();
        assert!(t.z.is_nan() && t.p_value.is_nan());
        let c = Confusion::at(&labels, &scores, 0.3).unwrap();
        assert_eq!((c.recall().is_nan(), c.fpr().is_nan(), c.mcc()), (!label, label, 0.0));
        let found = bootstrap().measures(&Design::rows(3).unwrap(), &labels, &scores, &[Measure::RocAuc]).unwrap()[0];
        assert_eq!((found.kind, found.interval, found.undefined), (IntervalKind::Undefined, None, 500));
        let rows = TwoTierRows { labels: &labels, scores: &scores, verified: &[true, false, true] };
        assert_eq!(two_tier_sweep(&rows, &[0.3], &[0.3], 0.1).unwrap(), None);
    }
    // One row of a class: an area, but no variance.
    let d = delong(&[true, false, false], &[0.5, 0.1, 0.7]).unwrap();
    assert!(d.auc == 0.5 && d.variance.is_nan());
}

#[test]
fn no_weight_at_all_is_no_rows() {
    let ranked = Ranked::weighted(&[true, false], &[0.1, 0.2], &[0.0, 0.0]).unwrap();
    assert!(ranked.roc_auc().is_nan() && ranked.average_precision().is_nan());
    assert!(ranked.thresholds().is_empty());
    assert!(ranked.tpr_at_fpr(0.5, TprEstimator::Analyze).unwrap().tpr.is_nan());
}

#[test]
fn minus_zero_ties_with_zero() {
    assert_eq!(roc_auc(&[true, false], &[0.0, -0.0]).unwrap(), 0.5);
    assert_eq!(roc_auc(&[true, false], &[-0.0, 0.0]).unwrap(), 0.5);
    let design = Design::rows(2).unwrap();
    let point = bootstrap().measures(&design, &[true, false], &[-0.0, 0.0], &[Measure::RocAuc]).unwrap()[0].value;
    assert_eq!(point, 0.5);
}

#[test]
fn wrong_input_is_named() {
    let message = |e: MetricsError| e.to_string();
    assert_eq!(message(roc_auc(&[], &[]).unwrap_err()), "no rows");
    assert_eq!(message(roc_auc(&[true], &[0.1, 0.2]).unwrap_err()), "scores has 2 rows, not 1");
    assert_eq!(message(roc_auc(&[true, false], &[0.1, f64::NAN]).unwrap_err()), "score NaN in row 1 is not finite");
    let infinite = average_precision(&[true, false], &[f64::INFINITY, 0.0]).unwrap_err();
    assert_eq!(message(infinite), "score inf in row 0 is not finite");
    let negative = Ranked::weighted(&[true, false], &[0.1, 0.2], &[1.0, -2.0]).unwrap_err();
    assert_eq!(message(negative), "weight -2 in row 1 is negative");
    assert_eq!(message(brier_score(&[true], &[1.5]).unwrap_err()), "score 1.5 is outside 0..=1");
    assert_eq!(message(calibration(&[true], &[0.5], 0).unwrap_err()), "number of bins 0 is outside 1..=1000000");
    assert_eq!(message(wilson(3, 2, 0.95).unwrap_err()), "3 successes of 2 trials");
    assert_eq!(message(wilson(1, 2, 1.0).unwrap_err()), "confidence level 1 is not between 0 and 1");
    assert_eq!(message(holm(&[0.5, f64::NAN]).unwrap_err()), "p-value NaN is outside 0..=1");
    assert!(quantiles(&[1.0], &[-0.1]).is_err() && quantile(&[], 0.5).is_err());
    assert!(mcnemar(&[true], &[]).is_err());
    assert!(score_grid(&[0.5], 3, 0, 1.1).is_err() && score_grid(&[f64::NAN], 3, 4, 1.1).is_err());
    let ranked = Ranked::new(&[true, false], &[0.1, 0.2]).unwrap();
    assert!(ranked.tpr_at_fpr(1.5, TprEstimator::Grade).is_err() && ranked.tune(f64::NAN).is_err());
    assert!(ranked.partial_auc(0.0).is_err() && ranked.tune_over(&[f64::NAN], 0.1).is_err());
    assert!(Confusion::at(&[true], &[0.5], f64::NAN).is_err());
    assert!(Design::rows(0).is_err() && Design::crossed(&[1, 2], &[1]).is_err());
    assert!(Design::clusters(&[1, 2]).unwrap().stratified(&[1]).is_err());
    assert_eq!((wilson(0, 0, 0.95), clopper_pearson(0, 0, 0.95)), (Ok(None), Ok(None)));
    assert_eq!(score_auc_interval(1.0, 0, 5, 0.95), Ok(None));
}

#[test]
fn wrong_settings_of_a_bootstrap_are_named() {
    let design = Design::crossed(&[1, 1, 2, 2], &[1, 2, 1, 2]).unwrap();
    let hits = [true, false, true, true];
    let rate = |bootstrap: Bootstrap| bootstrap.rate(&design, &hits);
    assert_eq!(
        rate(bootstrap().replicates(1)).unwrap_err().to_string(),
        "number of replicates 1 is outside 2..=10000000"
    );
    assert!(rate(bootstrap().confidence(0.0)).is_err());
    let crossed = rate(bootstrap().interval(BootstrapInterval::Bca)).unwrap_err();
    assert_eq!(crossed, MetricsError::CrossedDesign("BCa"));
    let stratified = Design::rows(4).unwrap().stratified(&[1, 1, 2, 2]).unwrap();
    let bca = bootstrap().interval(BootstrapInterval::Bca).rate(&stratified, &hits).unwrap_err();
    assert_eq!(bca, MetricsError::StratifiedDesign("BCa"));
    assert_eq!(rate(Bootstrap::new(Stream::numpy(1))).unwrap_err(), MetricsError::NumpyDesign);
    assert!(bootstrap().rate(&design, &[true]).is_err());
    assert!(bootstrap().rate_difference(&design, &hits, &[true]).is_err());
    assert!(bootstrap().mean(&design, &[0.0, 1.0, 2.0, f64::NAN]).is_err());
    let measure = Measure::TprAtFpr { target: 2.0, estimator: TprEstimator::Grade };
    assert!(bootstrap().measures(&design, &hits, &[0.1, 0.2, 0.3, 0.4], &[measure]).is_err());
    assert_eq!(bootstrap().measures(&design, &hits, &[0.1, 0.2, 0.3, 0.4], &[]), Ok(vec![]));
}

#[test]
fn no_spread_falls_back_to_closed_forms() {
    let score = |successes: u64, units: u64| (IntervalKind::Score, wilson(successes, units, 0.95).unwrap());
    let rows = Design::rows(40).unwrap();
    let clusters = Design::clusters(&(0..40).map(|row| row / 4).collect::<Vec<_>>()).unwrap();
    let crossed = Design::crossed(
        &(0..40).map(|row| row / 4).collect::<Vec<_>>(),
        &(0..40).map(|row| row % 4).collect::<Vec<_>>(),
    )
    .unwrap();
    for kind in [BootstrapInterval::Percentile, BootstrapInterval::StudentT] {
        for (design, units) in [(&rows, 40), (&clusters, 10), (&crossed, 4)] {
            let found = bootstrap().interval(kind).rate(design, &[false; 40]).unwrap();
            assert_eq!((found.kind, found.interval), score(0, units));
            let found = bootstrap().interval(kind).rate(design, &[true; 40]).unwrap();
            assert_eq!((found.kind, found.interval), score(units, units));
            let same = bootstrap().interval(kind).rate_difference(design, &[true; 40], &[true; 40]).unwrap();
            let interval = same.interval.unwrap();
            assert!(same.value == 0.0 && interval.contains(0.0) && interval.width() > 0.0 && interval.width() < 1.5);
        }
    }
    // One cluster with hits and misses: its replicates are all alike, and say nothing of other clusters.
    let one = Design::clusters(&[0; 40]).unwrap();
    let hits: Vec<bool> = (0..40).map(|row| row % 4 == 0).collect();
    let found = bootstrap().rate(&one, &hits).unwrap();
    assert_eq!((found.value, found.kind), (0.25, IntervalKind::Score));
    assert!(found.interval.unwrap().width() > 0.5);

    // Perfect separation.
    let labels: Vec<bool> = (0..40).map(|row| row % 8 < 4).collect();
    let scores: Vec<f64> = labels.iter().map(|&label| f64::from(label)).collect();
    let measures = [Measure::RocAuc, Measure::AveragePrecision, Measure::Fpr { threshold: 0.5 }];
    let [auc, precision, fpr] = bootstrap().measures(&clusters, &labels, &scores, &measures).unwrap()[..] else {
        panic!("three measures")
    };
    assert_eq!((auc.value, auc.kind), (1.0, IntervalKind::Score));
    assert_eq!(auc.interval, score_auc_interval(1.0, 5, 5, 0.95).unwrap());
    assert_eq!((precision.value, precision.kind, precision.interval), (1.0, IntervalKind::Undefined, None));
    assert_eq!((fpr.kind, fpr.interval), score(0, 5));
    let d = bootstrap().measure_differences(&clusters, &labels, &scores, &scores, &measures).unwrap();
    assert!(d[0].interval.unwrap().contains(0.0) && d[1].interval.is_none());
}

#[test]
fn crossed_intervals_are_wider_than_those_of_either_axis() {
    // Hits follow the injection task alone: clusters of user tasks see almost no variation.
    let users: Vec<usize> = (0..600).map(|row| row / 20).collect();
    let injections: Vec<usize> = (0..600).map(|row| row % 20).collect();
    let hits: Vec<bool> = injections.iter().map(|i| i % 3 == 0).collect();
    let width = |design: &Design| bootstrap().rate(design, &hits).unwrap().interval.unwrap().width();
    let crossed = width(&Design::crossed(&users, &injections).unwrap());
    let by_injection = width(&Design::clusters(&injections).unwrap());
    assert!(crossed > 3.0 * width(&Design::rows(600).unwrap()));
    assert!((crossed / by_injection - 1.0).abs() < 0.15, "{crossed} {by_injection}");
    // No spread over users: the closed form over 30 of them.
    assert_eq!(bootstrap().rate(&Design::clusters(&users).unwrap(), &hits).unwrap().kind, IntervalKind::Score);
}

#[test]
fn strata_are_drawn_apart() {
    // Two suites, one all hits and one all misses: with strata nothing varies.
    let suite: Vec<u8> = (0..80).map(|row| row / 40).collect();
    let task: Vec<u8> = (0..80).map(|row| row % 40).collect();
    let hits: Vec<bool> = suite.iter().map(|&s| s == 0).collect();
    let plain = Design::rows(80).unwrap();
    let stratified = plain.clone().stratified(&suite).unwrap();
    assert!(bootstrap().rate(&plain, &hits).unwrap().standard_error > 0.04);
    assert_eq!(bootstrap().rate(&stratified, &hits).unwrap().standard_error, 0.0);
    // The same key in two strata is two units.
    assert_eq!(Design::clusters(&task).unwrap().units(), [40]);
    assert_eq!(Design::clusters(&task).unwrap().stratified(&suite).unwrap().units(), [80]);
}

fn interval(estimate: wardline_metrics::Estimate) -> (f64, f64) {
    estimate.interval.map_or((f64::NAN, f64::NAN), |i| (i.low, i.high))
}

/// From no hit to a few the upper bound narrows by steps: one hit is not much better known than none.
#[test]
fn rates_are_continuous_towards_nothing() {
    // Suites of 16 x 9, 21 x 5, 20 x 6 and 40 x 6 tasks: 609 pairs over 26 injection tasks.
    let (mut suite, mut user, mut injection) = (Vec::new(), Vec::new(), Vec::new());
    for (s, (users, injections)) in [(16, 9), (21, 5), (20, 6), (40, 6)].into_iter().enumerate() {
        for cell in 0..users * injections {
            suite.push(s);
            user.push(cell / injections);
            injection.push(cell % injections);
        }
    }
    let design = Design::crossed(&user, &injection).unwrap().stratified(&suite).unwrap();
    let of = |hits: usize| {
        let hits: Vec<bool> = (0..609).map(|row| row % 97 == 5 && row / 97 < hits).collect();
        bootstrap().rate(&design, &hits).unwrap()
    };
    let upper: Vec<f64> = (0..4).map(|hits| interval(of(hits)).1).collect();
    assert_eq!((of(0).kind, of(1).kind), (IntervalKind::Score, IntervalKind::StudentT));
    for (few, more) in upper.iter().zip(&upper[1..]) {
        assert!(*more > 0.5 * few && *more < 1.5 * few, "{upper:?}");
    }
}

/// The variance of a stratified mean is the sum over strata, each with its own factor n / (n - 1) and degrees of freedom.
#[test]
fn strata_count_by_their_own_size() {
    // Forty strata of one unit each bring in nothing; the one of ten does.
    let stratum: Vec<usize> = (0..50).map(|row| if row < 40 { row } else { 40 }).collect();
    let values: Vec<f64> = (0..50).map(|row| f64::from(row % 2)).collect();
    let design = Design::rows(50).unwrap().stratified(&stratum).unwrap();
    let bootstrap = bootstrap().replicates(20_000);
    let found = bootstrap.mean(&design, &values).unwrap();
    // (10 / 50) * sqrt(0.25 * 10 / 9 / 10) with 9 degrees of freedom.
    let expected = 0.2 * (0.25 / 9.0_f64).sqrt();
    assert!((found.standard_error / expected - 1.0).abs() < 0.02, "{} {expected}", found.standard_error);
    let (low, high) = interval(found);
    assert!(((high - low) / 2.0 / (2.262 * expected) - 1.0).abs() < 0.02);

    // Strata of two and of forty: all of the variation in the pair, so one degree of freedom.
    let stratum: Vec<usize> = (0..42).map(|row| usize::from(row >= 2)).collect();
    let values: Vec<f64> = (0..42).map(|row| if row == 0 { 42.0 } else { 0.0 }).collect();
    let design = Design::rows(42).unwrap().stratified(&stratum).unwrap();
    let found = bootstrap.mean(&design, &values).unwrap();
    assert!((found.standard_error - 1.0).abs() < 0.02, "{}", found.standard_error);
    let (low, high) = interval(found);
    assert!(((high - low) / 2.0 / 12.706 - 1.0).abs() < 0.02, "{low} {high}");
}

#[test]
fn a_number_that_is_often_undefined_gets_no_interval() {
    // Two percent of fifty negatives is one; a replicate with fewer negatives does not define the grade.
    let labels: Vec<bool> = (0..100).map(|row| row % 2 == 0).collect();
    let scores: Vec<f64> = (0..100).map(|row| f64::from(row * 37 % 100)).collect();
    let measure = Measure::TprAtFpr { target: 0.02, estimator: TprEstimator::Grade };
    let found = bootstrap().measures(&Design::rows(100).unwrap(), &labels, &scores, &[measure]).unwrap()[0];
    assert!(found.value.is_finite() && found.undefined > 50, "{found:?}");
    assert_eq!((found.kind, found.interval), (IntervalKind::Undefined, None));
}

#[test]
fn numbers_at_the_ends_of_the_range() {
    assert_eq!(quantile(&[-1.7e308, 1.7e308], 0.5), Ok(0.0));
    let mut sketch = QuantileSketch::new();
    (0..70_000).for_each(|_| sketch.insert(0.0).unwrap());
    assert_eq!(sketch.quantile(0.5), Ok(0.0));
    let (labels, scores) = ([true, true, false, false], [0.9, 0.4, 0.4, 0.1]);
    for weight in [1e200, 1e-200] {
        let auc = Ranked::weighted(&labels, &scores, &[weight; 4]).unwrap().roc_auc();
        assert!((auc - 0.875).abs() < 1e-15, "{auc}");
    }
    assert!(Ranked::weighted(&labels, &scores, &[1e308; 4]).is_err());
    let full = Confusion { true_positives: u64::MAX, false_positives: 0, true_negatives: u64::MAX, false_negatives: 0 };
    assert_eq!((full.positives(), full.f1(), full.mcc()), (u64::MAX, 1.0, 1.0));
    assert!(calibration(&[true], &[0.5], usize::MAX).is_err());
}

/// The stream of a keyed row is part of the results: these numbers only change together with the changelog.
#[test]
fn keyed_streams_are_fixed() {
    let design = Design::clusters(&(0..50).map(|row| row / 5).collect::<Vec<_>>()).unwrap();
    let labels: Vec<bool> = (0..50).map(|row| row % 3 == 0).collect();
    let scores: Vec<f64> = (0..50).map(|row| f64::from(row * 37 % 50)).collect();
    let bootstrap = Bootstrap::new(Stream::new(1, "pi", "detector")).replicates(3);
    let found = bootstrap.measure_replicates(&design, &labels, &scores, &[Measure::RocAuc]).unwrap();
    let rounded: Vec<f64> = found[0].iter().map(|auc| (auc * 1e6).round()).collect();
    assert_eq!(rounded, [357_639.0, 356_190.0, 565_476.0]);
}

#[test]
fn threads_do_not_matter() {
    let n = 300;
    let design = Design::clusters(&(0..n).map(|row| row / 3).collect::<Vec<_>>()).unwrap();
    let labels: Vec<bool> = (0..n).map(|row| row % 2 == 0).collect();
    let scores: Vec<f64> = (0..n).map(|row| f64::from(row * 7919 % 101) / 101.0).collect();
    let measures = [Measure::RocAuc, Measure::AveragePrecision];
    for stream in [Stream::new(5, "a", "b"), Stream::numpy(5)] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Bootstrap::new(stream.clone()).measures(&design, &labels, &scores, &measures).unwrap())
        };
        assert_eq!(run(1), run(7));
    }
}

#[test]
fn a_long_stream_of_numbers() {
    let value = |i: u64| ((i * 7_919 % 100_003) as f64 - 50_000.0) / 7.0;
    let (mut forward, mut backward, mut first, mut second) =
        (QuantileSketch::new(), QuantileSketch::new(), QuantileSketch::new(), QuantileSketch::new());
    let mut values = Vec::new();
    for i in 0..100_003 {
        forward.insert(value(i)).unwrap();
        backward.insert(value(100_002 - i)).unwrap();
        if i % 3 == 0 { &mut first } else { &mut second }.insert(value(i)).unwrap();
        values.push(value(i));
    }
    first.merge(&second);
    for q in [0.0, 0.01, 0.25, 0.5, 0.75, 0.95, 0.999, 1.0] {
        let (found, exact) = (forward.quantile(q).unwrap(), quantile(&values, q).unwrap());
        assert!((found - exact).abs() <= exact.abs() / 8192.0 + 1e-3, "{q}: {found} instead of {exact}");
        assert_eq!(found, backward.quantile(q).unwrap());
        assert_eq!(found, first.quantile(q).unwrap());
    }
    assert!(forward.insert(f64::NAN).is_err() && QuantileSketch::new().quantile(0.5).is_err());
}

#[test]
fn splits_and_leaks() {
    let both = grouped_split(&["a", "a", "b"], &["x", "y", "y"]).unwrap_err();
    assert_eq!(both.to_string(), "group in both halves of the split: rows 2 (dev) and 1 (test)");
    // Payloads alternate, so two payloads of a scenario part; the audit by scenario tells.
    let payloads: Vec<String> = (0..12).map(|i| format!("payload-{i:02}")).collect();
    let scenarios: Vec<usize> = (0..12).map(|i| i / 3).collect();
    let halves = grouped_split(&[0; 12], &payloads).unwrap();
    let found = leakage(&halves, &scenarios).unwrap();
    assert_eq!((found.groups, found.groups_in_both), (4, 4));
    assert_eq!((found.dev_rows, found.test_rows, found.dev_rows_in_both, found.test_rows_in_both), (6, 6, 6, 6));
    assert_eq!(leakage(&halves, &payloads).unwrap().groups_in_both, 0);
    assert!(leakage(&halves, &[1]).is_err());
    assert_eq!(leakage::<u8>(&[], &[]).unwrap().groups, 0);
}

#[test]
fn rounding_of_grids_is_pythons() {
    // 0.0005 is a little above a half, 0.0045 a little below; 0.0625 and 0.1875 are exactly between and go to the even digit.
    assert_eq!(score_grid(&[0.0005, 0.0045], 3, 1, 9.0).unwrap(), [0.001, 0.004, 9.0]);
    assert_eq!(score_grid(&[0.0625, 0.1875], 3, 1, 9.0).unwrap(), [0.062, 0.188, 9.0]);
    assert_eq!(score_grid(&[-0.0001, 0.0001], 3, 1, 9.0).unwrap(), [0.0, 9.0]);
    assert_eq!(score_grid(&[], 3, 1, 1.1).unwrap(), [1.1]);
}
