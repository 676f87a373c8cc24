use std::collections::BTreeMap;
use std::ops::{AddAssign, Mul};

use crate::bootstrap::{Bootstrap, ClosedForm, Estimate, Shape, Target};
use crate::design::Design;
use crate::operating_point::{most_false_positives, within};
use crate::ranked::descending;
use crate::replicates::{self, Evaluate};
use crate::{MetricsError, TprEstimator, check};

/// A number that the bootstrap reads from ranked scores.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Measure {
    /// [`Ranked::roc_auc`](crate::Ranked::roc_auc).
    RocAuc,
    /// [`Ranked::average_precision`](crate::Ranked::average_precision).
    AveragePrecision,
    /// The true-positive rate of [`Ranked::tpr_at_fpr`](crate::Ranked::tpr_at_fpr); each replicate finds its own threshold.
    TprAtFpr {
        /// Target false-positive rate, in 0..=1.
        target: f64,
        /// How it is read.
        estimator: TprEstimator,
    },
    /// Recall at a fixed threshold.
    Recall {
        /// Rows that score at or above it are flagged.
        threshold: f64,
    },
    /// False-positive rate at a fixed threshold.
    Fpr {
        /// Rows that score at or above it are flagged.
        threshold: f64,
    },
    /// Precision at a fixed threshold.
    Precision {
        /// Rows that score at or above it are flagged.
        threshold: f64,
    },
}

impl Measure {
    fn check(&self) -> Result<(), MetricsError> {
        match *self {
            Self::TprAtFpr { target, .. } => check::unit_interval("target false-positive rate", target),
            Self::Recall { threshold } | Self::Fpr { threshold } | Self::Precision { threshold } => {
                crate::operating_point::ordered(&[threshold])
            }
            Self::RocAuc | Self::AveragePrecision => Ok(()),
        }
    }

    fn shape(&self, design: &Design, labels: &[bool], scores: &[f64]) -> Shape {
        let rate = |keep: &dyn Fn(usize) -> bool| ClosedForm::Rate {
            rows: (0..labels.len()).filter(|&row| keep(row)).count(),
            units: design.independent_units(keep),
        };
        let closed_form = match *self {
            Self::RocAuc => ClosedForm::Auc {
                positives: design.independent_units(|row| labels[row]),
                negatives: design.independent_units(|row| !labels[row]),
            },
            Self::AveragePrecision => ClosedForm::Unknown,
            Self::TprAtFpr { .. } | Self::Recall { .. } => rate(&|row| labels[row]),
            Self::Fpr { .. } => rate(&|row| !labels[row]),
            Self::Precision { threshold } => rate(&|row| scores[row] >= threshold),
        };
        Shape { range: (0.0, 1.0), closed_form }
    }
}

/// Scores ranked once, each row known by its unit, so that a replicate is one pass over the rows.
struct Ranking {
    /// By descending score and, within a tied run, negatives first: unit of the first axis, whether the row is the last of its
    /// run, and its label, as `unit << 2 | last << 1 | label`.
    rows: Vec<u32>,
    /// Units of the second axis, in the same order; empty for one axis.
    second: Vec<u32>,
    /// For each measure, how many rows lie at or above its fixed threshold.
    flagged: Vec<usize>,
    /// For one axis: by how many rows from the top, how many of them each unit has. All rows are there, and those of `flagged`.
    by_unit: BTreeMap<usize, UnitCounts>,
}

/// Rows of either class, unit by unit.
#[derive(Default)]
struct UnitCounts {
    positives: Vec<u32>,
    negatives: Vec<u32>,
}

impl UnitCounts {
    fn of(rows: &[u32], units: usize) -> Self {
        let mut of = Self { positives: vec![0; units], negatives: vec![0; units] };
        for &row in rows {
            let class = if row & 1 == 1 { &mut of.positives } else { &mut of.negatives };
            class[(row >> 2) as usize] += 1;
        }
        of
    }

    fn weighted(&self, weights: &[u32]) -> Counts {
        let sum = |rows: &[u32]| rows.iter().zip(weights).map(|(&n, &w)| u64::from(n) * u64::from(w)).sum();
        Counts { positives: sum(&self.positives), negatives: sum(&self.negatives) }
    }
}

impl Ranking {
    fn new(design: &Design, labels: &[bool], scores: &[f64], measures: &[Measure]) -> Self {
        let mut order = descending(scores);
        for run in order.chunk_by_mut(|&a, &b| scores[a as usize] == scores[b as usize]) {
            run.sort_by_key(|&row| labels[row as usize]);
        }
        let last = |i: usize| order.get(i + 1).is_none_or(|&next| scores[next as usize] != scores[order[i] as usize]);
        let rows = order.iter().enumerate().map(|(i, &row)| {
            let row = row as usize;
            design.axes[0].unit_of[row] << 2 | u32::from(last(i)) << 1 | u32::from(labels[row])
        });
        let second = design
            .axes
            .get(1)
            .map_or_else(Vec::new, |axis| order.iter().map(|&row| axis.unit_of[row as usize]).collect());
        let flagged = measures.iter().map(|measure| match *measure {
            Measure::Recall { threshold } | Measure::Fpr { threshold } | Measure::Precision { threshold } => {
                order.partition_point(|&row| scores[row as usize] >= threshold)
            }
            _ => 0,
        });
        let (rows, flagged): (Vec<u32>, Vec<usize>) = (rows.collect(), flagged.collect());
        let by_unit = if second.is_empty() {
            let units = design.axes[0].units();
            flagged.iter().chain([&rows.len()]).map(|&top| (top, UnitCounts::of(&rows[..top], units))).collect()
        } else {
            BTreeMap::new()
        };
        Self { rows, second, flagged, by_unit }
    }

    fn read(&self, measures: &[Measure], counts: &[Vec<u32>], out: &mut [f64]) {
        match counts {
            [first, second, ..] => {
                let rows = self.rows.iter().zip(&self.second).map(|(&row, &other)| {
                    Row::new(row, u64::from(first[(row >> 2) as usize]) * u64::from(second[other as usize]))
                });
                self.read_rows(measures, rows.clone(), |top| Counts::of(rows.clone().take(top)), out);
            }
            _ => {
                let first = &counts[0][..];
                let rows = self.rows.iter().map(|&row| Row::new(row, u64::from(first[(row >> 2) as usize])));
                let of_top = |top| self.by_unit.get(&top).map_or_else(Counts::default, |units| units.weighted(first));
                self.read_rows(measures, rows, of_top, out);
            }
        }
    }

    /// `of_top` counts so many rows from the top.
    fn read_rows(
        &self,
        measures: &[Measure],
        rows: impl Iterator<Item = Row> + Clone,
        of_top: impl Fn(usize) -> Counts,
        out: &mut [f64],
    ) {
        let all = of_top(self.rows.len());
        let ranks = Ranks::of(rows.clone(), all, measures.contains(&Measure::AveragePrecision));
        // Measures at one threshold share their counts.
        let mut last: Option<(usize, Counts)> = None;
        for ((measure, &top), out) in measures.iter().zip(&self.flagged).zip(out) {
            let mut flagged = || {
                let counts = last.filter(|&(of, _)| of == top).map_or_else(|| of_top(top), |(_, counts)| counts);
                last = Some((top, counts));
                counts
            };
            *out = match *measure {
                Measure::RocAuc => ranks.auc,
                Measure::AveragePrecision => ranks.precision / all.positives as f64,
                Measure::TprAtFpr { target, estimator } => tpr_at_fpr(rows.clone(), all, target, estimator),
                Measure::Recall { .. } => flagged().positives as f64 / all.positives as f64,
                Measure::Fpr { .. } => flagged().negatives as f64 / all.negatives as f64,
                Measure::Precision { .. } => {
                    let Counts { positives, negatives } = flagged();
                    positives as f64 / (positives + negatives) as f64
                }
            };
        }
    }
}

/// A row with the weight that the replicate gives it, as a positive or as a negative.
#[derive(Clone, Copy)]
struct Row {
    positive: u64,
    negative: u64,
    ends_run: bool,
}

impl Row {
    #[inline]
    fn new(row: u32, weight: u64) -> Self {
        // Without branches: labels and ends of runs come in no order that a processor could learn.
        let label = (u64::from(row) & 1).wrapping_neg();
        Self { positive: weight & label, negative: weight & !label, ends_run: row & 2 != 0 }
    }
}

/// Weight of either class.
#[derive(Clone, Copy, Default)]
struct Counts {
    positives: u64,
    negatives: u64,
}

impl Counts {
    fn of(rows: impl Iterator<Item = Row>) -> Self {
        rows.fold(Self::default(), |sum, row| Self {
            positives: sum.positives + row.positive,
            negatives: sum.negatives + row.negative,
        })
    }
}

/// What a pass over all rows finds.
struct Ranks {
    /// Area under the ROC curve.
    auc: f64,
    /// Average precision times the number of positives; 0 where it is not wanted.
    precision: f64,
}

impl Ranks {
    fn of(rows: impl Iterator<Item = Row>, all: Counts, precision: bool) -> Self {
        let twice_pairs = 2 * u128::from(all.positives) * u128::from(all.negatives);
        let (lost, precision) = match (u64::try_from(twice_pairs).is_ok(), precision) {
            (true, true) => Self::pass::<u64, true>(rows),
            (true, false) => Self::pass::<u64, false>(rows),
            (false, true) => Self::pass::<u128, true>(rows),
            (false, false) => Self::pass::<u128, false>(rows),
        };
        Self { auc: (twice_pairs - lost) as f64 / twice_pairs as f64, precision }
    }

    /// Twice the weight of pairs in which the negative scores higher, plus that of tied pairs; and the precision.
    fn pass<N: From<u64> + Into<u128> + Mul<Output = N> + AddAssign, const PRECISION: bool>(
        rows: impl Iterator<Item = Row>,
    ) -> (u128, f64) {
        let (mut counts, mut lost, mut above_run) = (Counts::default(), N::from(0), 0);
        let (mut precision, mut gained) = (0.0, 0);
        for row in rows {
            // At a positive, all negatives of its run have been counted.
            counts.negatives += row.negative;
            counts.positives += row.positive;
            lost += N::from(row.positive) * N::from(counts.negatives + above_run);
            above_run = if row.ends_run { counts.negatives } else { above_run };
            if PRECISION {
                gained += row.positive;
                if row.ends_run {
                    // A run without positives adds nothing; asking would cost more than dividing. Totals fit a signed number,
                    // which processors turn into a float at once.
                    let (tp, all) = (counts.positives as i64, (counts.positives + counts.negatives).max(1) as i64);
                    precision += gained as i64 as f64 * (tp as f64 / all as f64);
                    gained = 0;
                }
            }
        }
        (lost.into(), precision)
    }
}

/// Reads the rows from the top until the negatives exceed the target.
fn tpr_at_fpr(rows: impl Iterator<Item = Row>, all: Counts, target: f64, estimator: TprEstimator) -> f64 {
    let negatives = all.negatives as f64;
    let Some(most) = most_false_positives(estimator, target, negatives) else { return f64::NAN };
    let (mut fp, mut tp) = (0, 0);
    for row in rows {
        fp += row.negative;
        tp += row.positive;
        if row.negative > 0 && !within(estimator, fp as f64, target, negatives, most) {
            break;
        }
    }
    tp as f64 / all.positives as f64
}

/// Measures of one detector.
struct Single<'a> {
    ranking: Ranking,
    measures: &'a [Measure],
}

impl Evaluate for Single<'_> {
    type Scratch = ();

    fn scratch(&self) {}

    fn width(&self) -> usize {
        self.measures.len()
    }

    fn evaluate(&self, counts: &[Vec<u32>], (): &mut (), out: &mut [f64]) {
        self.ranking.read(self.measures, counts, out);
    }
}

/// Differences of the measures of two detectors on the same rows.
struct Paired<'a> {
    first: Ranking,
    second: Ranking,
    measures: &'a [Measure],
}

impl Evaluate for Paired<'_> {
    type Scratch = Vec<f64>;

    fn scratch(&self) -> Vec<f64> {
        vec![0.0; self.measures.len()]
    }

    fn width(&self) -> usize {
        self.measures.len()
    }

    fn evaluate(&self, counts: &[Vec<u32>], other: &mut Vec<f64>, out: &mut [f64]) {
        self.first.read(self.measures, counts, out);
        self.second.read(self.measures, counts, other);
        for (out, other) in out.iter_mut().zip(other) {
            *out -= *other;
        }
    }
}

fn checked(design: &Design, labels: &[bool], scores: &[f64], measures: &[Measure]) -> Result<(), MetricsError> {
    check::same_length("labels", design.len(), labels.len())?;
    check::scored(labels, scores)?;
    measures.iter().try_for_each(Measure::check)
}

/// What to fall back on for each measure when its replicates do not differ.
fn shapes(design: &Design, labels: &[bool], scores: &[f64], measures: &[Measure]) -> Vec<Shape> {
    measures.iter().map(|measure| measure.shape(design, labels, scores)).collect()
}

impl Bootstrap {
    /// Measures of a detector's scores, all read from the same replicates.
    ///
    /// A replicate in which a measure is undefined (one class only) is left out of that measure and counted. When no replicate
    /// differs from another, rates get Wilson's interval over the independent units of their denominator, the area under the ROC
    /// curve Newcombe's score interval ([`score_auc_interval`](crate::score_auc_interval)) over those of either class; average
    /// precision gets none.
    ///
    /// # Errors
    /// Inputs of different length, a score that is not finite, settings out of range.
    ///
    /// ```
    /// use wardline_metrics::{Bootstrap, Design, Measure, Stream, TprEstimator};
    /// let labels: Vec<bool> = (0..400).map(|i| i % 2 == 0).collect();
    /// let scores: Vec<f64> = (0..400).map(|i| f64::from(i * 37 % 400) + if i % 2 == 0 { 150.0 } else { 0.0 }).collect();
    /// let payload: Vec<i32> = (0..400).map(|i| i / 4).collect();
    /// let measures = [Measure::RocAuc, Measure::TprAtFpr { target: 0.01, estimator: TprEstimator::Analyze }];
    /// let bootstrap = Bootstrap::new(Stream::new(1, "pi", "detector"));
    /// let [auc, tpr] = bootstrap.measures(&Design::clusters(&payload)?, &labels, &scores, &measures)?[..] else { panic!() };
    /// assert_eq!(auc.value, wardline_metrics::roc_auc(&labels, &scores)?);
    /// assert!(auc.interval.is_some_and(|i| i.low < auc.value && auc.value < i.high));
    /// assert_eq!((tpr.value, tpr.undefined), (0.385, 0)); // 77 of 200 above the third highest negative
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn measures(
        &self,
        design: &Design,
        labels: &[bool],
        scores: &[f64],
        measures: &[Measure],
    ) -> Result<Vec<Estimate>, MetricsError> {
        checked(design, labels, scores, measures)?;
        let targets: Vec<Target> = shapes(design, labels, scores, measures).into_iter().map(Target::Single).collect();
        let build = |design: &Design| Single { ranking: Ranking::new(design, labels, scores, measures), measures };
        self.estimates(design, build, &targets)
    }

    /// Differences of the measures of two detectors on the same rows, `first − second`, paired: both are read from the same
    /// replicate.
    ///
    /// When no replicate differs from another, the closed-form intervals of the two are combined by squaring and adding.
    ///
    /// # Errors
    /// As [`Bootstrap::measures`].
    ///
    /// ```
    /// use wardline_metrics::{Bootstrap, Design, Measure, Stream};
    /// let labels: Vec<bool> = (0..400).map(|i| i % 2 == 0).collect();
    /// let noise = |i: i32| f64::from(i * 37 % 400);
    /// let good: Vec<f64> = (0..400).map(|i| noise(i) + if i % 2 == 0 { 150.0 } else { 0.0 }).collect();
    /// let poor: Vec<f64> = (0..400).map(noise).collect();
    /// let bootstrap = Bootstrap::new(Stream::new(1, "pi", "good - poor"));
    /// let d = bootstrap.measure_differences(&Design::rows(400)?, &labels, &good, &poor, &[Measure::RocAuc])?[0];
    /// assert!(d.interval.is_some_and(|i| i.low > 0.0));
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn measure_differences(
        &self,
        design: &Design,
        labels: &[bool],
        first: &[f64],
        second: &[f64],
        measures: &[Measure],
    ) -> Result<Vec<Estimate>, MetricsError> {
        checked(design, labels, first, measures)?;
        checked(design, labels, second, measures)?;
        let single = |scores: &[f64]| {
            let statistic = Single { ranking: Ranking::new(design, labels, scores, measures), measures };
            let values = replicates::point(design, &statistic);
            values.into_iter().zip(shapes(design, labels, scores, measures)).collect::<Vec<_>>()
        };
        let targets: Vec<Target> = single(first)
            .into_iter()
            .zip(single(second))
            .map(|(first, second)| Target::Difference { first, second })
            .collect();
        let build = |design: &Design| Paired {
            first: Ranking::new(design, labels, first, measures),
            second: Ranking::new(design, labels, second, measures),
            measures,
        };
        self.estimates(design, build, &targets)
    }

    /// The replicates themselves: for each measure its value in every replicate, in order; NaN where it is undefined.
    ///
    /// # Errors
    /// As [`Bootstrap::measures`].
    ///
    /// ```
    /// use wardline_metrics::{Bootstrap, Design, Measure, Stream};
    /// let design = Design::clusters(&["one", "one", "one"])?;
    /// let bootstrap = Bootstrap::new(Stream::numpy(7)).replicates(5);
    /// let values = bootstrap.measure_replicates(&design, &[true, false, true], &[0.9, 0.4, 0.1], &[Measure::RocAuc])?;
    /// assert_eq!(values, [[0.5; 5]]); // one cluster: no spread
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn measure_replicates(
        &self,
        design: &Design,
        labels: &[bool],
        scores: &[f64],
        measures: &[Measure],
    ) -> Result<Vec<Vec<f64>>, MetricsError> {
        checked(design, labels, scores, measures)?;
        self.check(design)?;
        if measures.is_empty() {
            return Ok(Vec::new());
        }
        let all = self.run(design, &Single { ranking: Ranking::new(design, labels, scores, measures), measures });
        Ok((0..measures.len()).map(|i| all.iter().skip(i).step_by(measures.len()).copied().collect()).collect())
    }
}
