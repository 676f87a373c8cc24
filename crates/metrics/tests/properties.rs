//! Properties that hold for any input.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use wardline_metrics::{
    Bootstrap, BootstrapInterval, Confusion, Design, Half, IntervalKind, Measure, MetricsError, QuantileSketch, Ranked,
    Stream, TprEstimator, average_precision, clopper_pearson, delong, grouped_split, holm, leakage, mcnemar_exact,
    quantile, roc_auc, wilson,
};

/// Rows with many ties: label and a score that is a multiple of 1/8, so that maps below keep ties and order exactly.
fn rows() -> impl Strategy<Value = (Vec<bool>, Vec<f64>)> {
    prop::collection::vec((any::<bool>(), -16_i32..16), 2..60)
        .prop_map(|rows| rows.into_iter().map(|(label, score)| (label, f64::from(score) / 8.0)).unzip())
        .prop_filter("both classes", |(labels, _): &(Vec<bool>, Vec<f64>)| {
            labels.iter().any(|&l| l) && labels.iter().any(|&l| !l)
        })
}

const ALL: [Measure; 7] = [
    Measure::RocAuc,
    Measure::AveragePrecision,
    Measure::TprAtFpr { target: 0.1, estimator: TprEstimator::Grade },
    Measure::TprAtFpr { target: 0.1, estimator: TprEstimator::Analyze },
    Measure::Recall { threshold: 0.25 },
    Measure::Fpr { threshold: 0.25 },
    Measure::Precision { threshold: 0.25 },
];

/// The area by its definition, over all pairs.
fn auc_of_pairs(labels: &[bool], scores: &[f64]) -> f64 {
    let (mut won, mut pairs) = (0.0, 0.0);
    for (_, p) in labels.iter().zip(scores).filter(|(label, _)| **label) {
        for (_, n) in labels.iter().zip(scores).filter(|(label, _)| !**label) {
            pairs += 1.0;
            won += if p > n { 1.0 } else { f64::from(p == n) / 2.0 };
        }
    }
    won / pairs
}

/// Scores of a thousand rows, half of them above 0.5.
const THOUSAND: [f64; 1000] = {
    let mut scores = [0.0; 1000];
    let mut row = 0;
    while row < 1000 {
        scores[row] = if row % 2 == 0 { 1.0 } else { 0.0 };
        row += 1;
    }
    scores
};

fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

fn config() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(20_261_130), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn area_is_invariant_under_increasing_maps_and_row_order((labels, scores) in rows(), seed in any::<u64>()) {
        let auc = roc_auc(&labels, &scores).unwrap();
        prop_assert!((auc - auc_of_pairs(&labels, &scores)).abs() < 1e-14);
        let maps: [fn(f64) -> f64; 5] = [|s| s * 1e-9, |s| s + 1e6, |s| s.exp(), |s| s.powi(3), |s| 1e300 * s];
        for map in maps {
            let mapped: Vec<f64> = scores.iter().map(|&s| map(s)).collect();
            prop_assert_eq!(auc, roc_auc(&labels, &mapped).unwrap());
            let (a, b) = (Ranked::new(&labels, &scores).unwrap(), Ranked::new(&labels, &mapped).unwrap());
            prop_assert_eq!(a.average_precision(), b.average_precision());
            for estimator in [TprEstimator::Grade, TprEstimator::Analyze] {
                let (a, b) = (a.tpr_at_fpr(0.2, estimator).unwrap(), b.tpr_at_fpr(0.2, estimator).unwrap());
                prop_assert!(same(a.tpr, b.tpr) && same(a.fpr, b.fpr));
            }
        }
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by_key(|&i| (i as u64).wrapping_mul(seed | 1).rotate_left(17) ^ seed);
        let labels_mixed: Vec<bool> = order.iter().map(|&i| labels[i]).collect();
        let scores_mixed: Vec<f64> = order.iter().map(|&i| scores[i]).collect();
        prop_assert_eq!(auc, roc_auc(&labels_mixed, &scores_mixed).unwrap());
        prop_assert_eq!(average_precision(&labels, &scores), average_precision(&labels_mixed, &scores_mixed));
    }

    #[test]
    fn swapped_labels_give_the_rest_of_the_area((labels, scores) in rows()) {
        let swapped: Vec<bool> = labels.iter().map(|l| !l).collect();
        let negated: Vec<f64> = scores.iter().map(|s| -s).collect();
        let auc = roc_auc(&labels, &scores).unwrap();
        prop_assert!((1.0 - auc - roc_auc(&swapped, &scores).unwrap()).abs() < 1e-15);
        prop_assert!((1.0 - auc - roc_auc(&labels, &negated).unwrap()).abs() < 1e-15);
    }

    #[test]
    fn tpr_is_monotone_in_the_target_and_attainable((labels, scores) in rows(), a in 0.0..=1.0, b in 0.0..=1.0) {
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        let ranked = Ranked::new(&labels, &scores).unwrap();
        for estimator in [TprEstimator::Grade, TprEstimator::Analyze] {
            let (p, q) = (ranked.tpr_at_fpr(low, estimator).unwrap(), ranked.tpr_at_fpr(high, estimator).unwrap());
            // Grade is undefined below 1 / negatives.
            prop_assert!(p.tpr.is_nan() || p.tpr <= q.tpr);
            prop_assert!(p.fpr.is_nan() || p.fpr <= low);
            let attained = ranked.at_threshold(q.threshold);
            prop_assert!(same(attained.tpr, q.tpr) && same(attained.fpr, q.fpr));
        }
    }

    #[test]
    fn weights_of_one_are_no_weights((labels, scores) in rows()) {
        let plain = Ranked::new(&labels, &scores).unwrap();
        let ones = Ranked::weighted(&labels, &scores, &vec![1.0; labels.len()]).unwrap();
        prop_assert_eq!(plain.roc_curve(false), ones.roc_curve(false));
        prop_assert_eq!(plain.roc_auc(), ones.roc_auc());
        prop_assert_eq!(plain.average_precision(), ones.average_precision());
        prop_assert_eq!(plain.partial_auc(0.3), ones.partial_auc(0.3));
    }

    #[test]
    fn integer_weights_are_repeated_rows((labels, scores) in rows(), seed in any::<u64>()) {
        let weights: Vec<u32> = (0..labels.len() as u64).map(|i| ((seed >> (i % 60)) & 3) as u32).collect();
        let repeat = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
            weights.iter().enumerate().flat_map(|(i, &w)| vec![of(i); w as usize]).collect()
        };
        let repeated_scores = repeat(&|i| scores[i]);
        let repeated_labels: Vec<bool> = repeat(&|i| f64::from(labels[i])).iter().map(|&l| l == 1.0).collect();
        let as_numbers: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
        let weighted = Ranked::weighted(&labels, &scores, &as_numbers).unwrap();
        if repeated_labels.is_empty() {
            prop_assert!(weighted.roc_auc().is_nan());
        } else {
            let repeated = Ranked::new(&repeated_labels, &repeated_scores).unwrap();
            prop_assert!(same(weighted.roc_auc(), repeated.roc_auc()));
            prop_assert!(same(weighted.average_precision(), repeated.average_precision()));
        }
    }

    /// The pass over presorted rows gives what ranking the drawn rows anew would.
    #[test]
    fn replicates_are_those_of_drawn_rows((labels, scores) in rows(), seed in any::<u64>(), clusters in 1_usize..9) {
        let cluster: Vec<usize> = (0..labels.len()).map(|i| i % clusters).collect();
        let other: Vec<usize> = (0..labels.len()).map(|i| i / clusters % 3).collect();
        let designs = [
            Design::rows(labels.len()).unwrap(),
            Design::clusters(&cluster).unwrap(),
            Design::crossed(&cluster, &other).unwrap(),
            Design::crossed(&cluster, &other).unwrap().stratified(&other).unwrap(),
        ];
        for design in designs {
            let bootstrap = Bootstrap::new(Stream::new(seed, "t", "r")).replicates(3);
            let found = bootstrap.measure_replicates(&design, &labels, &scores, &ALL).unwrap();
            let drawn = std::sync::Mutex::new(Vec::new());
            // One thread would do; the statistic is called once for the rows as they are, then for each replicate.
            let record = |weights: &[u32]| {
                drawn.lock().unwrap().push(weights.to_vec());
                0.0
            };
            bootstrap.clone().interval(BootstrapInterval::Percentile).statistic(&design, record).unwrap();
            let mut expected: Vec<Vec<f64>> = Vec::new();
            for weights in drawn.into_inner().unwrap().into_iter().skip(1) {
                let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
                let ranked = Ranked::weighted(&labels, &scores, &weights).unwrap();
                let at = ranked.at_threshold(0.25);
                let curve = ranked.precision_recall_curve();
                let flagged = curve.thresholds.iter().filter(|&&t| t >= 0.25).count();
                let precision = if flagged == 0 { f64::NAN } else { curve.precision[flagged - 1] };
                let tpr = |estimator| {
                    if ranked.positives() > 0.0 { ranked.tpr_at_fpr(0.1, estimator).unwrap().tpr } else { f64::NAN }
                };
                expected.push(vec![
                    ranked.roc_auc(), ranked.average_precision(), tpr(TprEstimator::Grade), tpr(TprEstimator::Analyze),
                    at.tpr, at.fpr, precision,
                ]);
            }
            // Threads finish in any order; the replicates themselves come in order.
            for replicate in 0..3 {
                let values: Vec<f64> = found.iter().map(|column| column[replicate]).collect();
                let close = |a: &f64, b: &f64| same(*a, *b) || (a - b).abs() < 1e-14;
                prop_assert!(
                    expected.iter().any(|e| e.iter().zip(&values).all(|(a, b)| close(a, b))),
                    "{values:?} is not among {expected:?}"
                );
            }
        }
    }

    #[test]
    fn one_group_has_no_spread((labels, scores) in rows(), seed in any::<u64>()) {
        let design = Design::clusters(&vec![0; labels.len()]).unwrap();
        let bootstrap = Bootstrap::new(Stream::new(seed, "t", "r")).replicates(20);
        for estimate in bootstrap.measures(&design, &labels, &scores, &ALL).unwrap() {
            prop_assert!(matches!(estimate.kind, IntervalKind::Score | IntervalKind::Undefined));
        }
        for values in bootstrap.measure_replicates(&design, &labels, &scores, &ALL).unwrap() {
            let width = values.iter().copied().fold(f64::MIN, f64::max) - values.iter().copied().fold(f64::MAX, f64::min);
            prop_assert!(width == 0.0 || values.iter().all(|v| v.is_nan()));
        }
    }

    #[test]
    fn intervals_hold_their_estimate((labels, scores) in rows(), seed in any::<u64>()) {
        let cluster: Vec<usize> = (0..labels.len()).map(|i| i % 7).collect();
        let other: Vec<usize> = (0..labels.len()).map(|i| i / 7 % 3).collect();
        for design in [Design::clusters(&cluster).unwrap(), Design::crossed(&cluster, &other).unwrap()] {
            let found = Bootstrap::new(Stream::new(seed, "t", "r")).replicates(50).measures(&design, &labels, &scores, &ALL);
            for estimate in found.unwrap() {
                if let Some(interval) = estimate.interval {
                    prop_assert!(0.0 <= interval.low && interval.low <= interval.high && interval.high <= 1.0);
                    // Percentiles alone may leave the estimate out.
                    if estimate.kind != IntervalKind::Percentile {
                        let (low, high) = (interval.low - 1e-12, interval.high + 1e-12);
                        prop_assert!(low <= estimate.value && estimate.value <= high, "{estimate:?}");
                    }
                }
                prop_assert_eq!(estimate.replicates + estimate.undefined, 50);
            }
        }
    }

    #[test]
    fn paired_difference_of_like_detectors_is_nothing((labels, scores) in rows(), seed in any::<u64>()) {
        let design = Design::rows(labels.len()).unwrap();
        let found = Bootstrap::new(Stream::new(seed, "t", "r"))
            .replicates(20)
            .measure_differences(&design, &labels, &scores, &scores, &ALL)
            .unwrap();
        for d in found.iter().filter(|d| !d.value.is_nan()) {
            prop_assert_eq!(d.value, 0.0);
            if let Some(interval) = d.interval {
                prop_assert!(interval.contains(0.0) && interval.width() > 0.0);
            }
        }
    }

    #[test]
    fn an_interval_does_not_move_with_its_neighbours((labels, scores) in rows(), seed in any::<u64>()) {
        let design = Design::rows(labels.len()).unwrap();
        let bootstrap = Bootstrap::new(Stream::new(seed, "block", "a")).replicates(30);
        let all = bootstrap.measures(&design, &labels, &scores, &ALL).unwrap();
        for (measure, together) in ALL.into_iter().zip(all) {
            let alone = bootstrap.measures(&design, &labels, &scores, &[measure]).unwrap()[0];
            prop_assert_eq!(format!("{alone:?}"), format!("{together:?}"));
        }
        let values = |name: &str| {
            let bootstrap = Bootstrap::new(Stream::new(seed, "block", name)).replicates(30);
            bootstrap.measure_replicates(&Design::rows(1000).unwrap(), &[true; 1000], &THOUSAND, &[Measure::Recall { threshold: 0.5 }])
        };
        prop_assert_ne!(values("a").unwrap(), values("b").unwrap());
    }

    #[test]
    fn proportions_are_ordered(trials in 1_u64..5000, share in 0.0..=1.0, confidence in 0.5..0.999) {
        let successes = (share * trials as f64) as u64;
        let p = successes as f64 / trials as f64;
        let score = wilson(successes, trials, confidence).unwrap().unwrap();
        let exact = clopper_pearson(successes, trials, confidence).unwrap().unwrap();
        for i in [score, exact] {
            prop_assert!(0.0 <= i.low && i.low <= p && p <= i.high && i.high <= 1.0);
        }
        let wider = clopper_pearson(successes, trials, f64::midpoint(confidence, 1.0)).unwrap().unwrap();
        prop_assert!(wider.low <= exact.low && wider.high >= exact.high);
    }

    #[test]
    fn holm_never_lowers_and_keeps_order(p in prop::collection::vec(0.0..=1.0, 0..20)) {
        let adjusted = holm(&p).unwrap();
        for i in 0..p.len() {
            prop_assert!(adjusted[i] >= p[i] && adjusted[i] <= 1.0);
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
            }
        }
    }

    #[test]
    fn mcnemar_is_symmetric(b in 0_u64..400, c in 0_u64..400) {
        let t = mcnemar_exact(b, c);
        prop_assert_eq!(t.p_value, mcnemar_exact(c, b).p_value);
        prop_assert!(t.p_value > 0.0 && t.p_value <= 1.0);
    }

    #[test]
    fn delongs_area_is_the_area((labels, scores) in rows()) {
        let d = delong(&labels, &scores).unwrap();
        prop_assert!((d.auc - roc_auc(&labels, &scores).unwrap()).abs() < 1e-14);
        prop_assert!(d.variance.is_nan() || d.variance >= 0.0);
    }

    #[test]
    fn halves_share_no_group(rows in prop::collection::vec((0_u8..4, 0_u16..40), 1..200)) {
        // A group belongs to one stratum.
        let groups: Vec<u16> = rows.iter().map(|&(stratum, group)| group * 4 + u16::from(stratum)).collect();
        let strata: Vec<u8> = rows.iter().map(|&(stratum, _)| stratum).collect();
        let halves = grouped_split(&strata, &groups).unwrap();
        let audit = leakage(&halves, &groups).unwrap();
        prop_assert_eq!((audit.groups_in_both, audit.test_rows_in_both), (0, 0));
        prop_assert_eq!(audit.dev_rows + audit.test_rows, rows.len());
        for stratum in 0..4 {
            let of = |half: Half| {
                let mut found: Vec<u16> =
                    (0..rows.len()).filter(|&i| strata[i] == stratum && halves[i] == half).map(|i| groups[i]).collect();
                found.sort_unstable();
                found.dedup();
                found.len()
            };
            prop_assert!(of(Half::Dev) == of(Half::Test) || of(Half::Dev) == of(Half::Test) + 1);
        }
    }

    #[test]
    fn sketch_is_exact_while_small_and_ignores_order(values in prop::collection::vec(-1e6..1e6, 1..200), q in 0.0..=1.0) {
        let fill = |values: &[f64]| {
            let mut sketch = QuantileSketch::new();
            values.iter().for_each(|&v| sketch.insert(v).unwrap());
            sketch
        };
        let mut parts = fill(&values[..values.len() / 2]);
        parts.merge(&fill(&values[values.len() / 2..]));
        prop_assert_eq!(parts.quantile(q).unwrap(), quantile(&values, q).unwrap());
        prop_assert_eq!(parts.count(), values.len() as u64);
    }

    /// Whatever the numbers, an answer or an error, never a panic.
    #[test]
    fn nothing_panics(
        labels in prop::collection::vec(any::<bool>(), 0..6),
        scores in prop::collection::vec(prop_oneof![3 => -1.0..1.0_f64, 1 => prop::num::f64::ANY], 0..6),
        x in prop_oneof![0.0..=1.0_f64, prop::num::f64::ANY],
        n in any::<u64>(),
        m in any::<u64>(),
    ) {
        let bad = scores.iter().any(|s: &f64| !s.is_finite());
        match Ranked::new(&labels, &scores) {
            Ok(ranked) => {
                prop_assert!(!bad && labels.len() == scores.len() && !labels.is_empty());
                let _ = (ranked.roc_auc(), ranked.average_precision(), ranked.roc_curve(true));
                let _ = (ranked.partial_auc(x), ranked.tune(x), ranked.tune_over(&scores, x), ranked.at_threshold(x));
                let _ = (ranked.tpr_at_fpr(x, TprEstimator::Grade), ranked.tpr_at_fpr(x, TprEstimator::Analyze));
                let _ = (delong(&labels, &scores), wardline_metrics::delong_test(&labels, &scores, &scores));
                let design = Design::rows(labels.len()).unwrap();
                let measures = [ALL[0], ALL[2], ALL[3], Measure::Recall { threshold: x }];
                for kind in [BootstrapInterval::Percentile, BootstrapInterval::Bca, BootstrapInterval::StudentT] {
                    let bootstrap = Bootstrap::new(Stream::new(n, "", "")).replicates(5).interval(kind);
                    let _ = bootstrap.measures(&design, &labels, &scores, &measures);
                    let _ = bootstrap.clone().confidence(x).mean(&design, &scores);
                    let _ = bootstrap.mean(&design, &scores);
                }
            }
            Err(MetricsError::NotFinite { row, .. }) => prop_assert!(!scores[row].is_finite()),
            Err(_) => prop_assert!(labels.len() != scores.len() || labels.is_empty()),
        }
        let _ = (quantile(&scores, x), wilson(n, m, x), clopper_pearson(n % 100, m % 100, x));
        let _ = wardline_metrics::score_grid(&scores, 3, (n % 3) as usize, x);
        let _ = wardline_metrics::score_auc_interval(x, n, m, 0.95);
        let _ = mcnemar_exact(n, m);
        let _ = wardline_metrics::calibration(&labels, &scores, if n % 2 == 0 { n as usize } else { (n % 5) as usize });
        let huge = Bootstrap::new(Stream::new(n, "", "")).replicates(usize::MAX);
        prop_assert!(huge.rate(&Design::rows(2).unwrap(), &[true, false]).is_err());
        let c = Confusion { true_positives: n, false_positives: m, true_negatives: n, false_negatives: m };
        prop_assert!(c.positives() >= n && c.negatives() >= m);
        for share in [c.precision(), c.recall(), c.fpr(), c.specificity(), c.f1()] {
            prop_assert!((0.0..=1.0).contains(&share) || n == 0 && m == 0);
        }
        prop_assert!((-1.0 - 1e-12..=1.0 + 1e-12).contains(&c.mcc()));
    }
}
