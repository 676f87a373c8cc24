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

    fn shape(&self, units: &Units, flagged: impl Fn(f64) -> usize) -> Shape {
        let closed_form = match *self {
            Self::RocAuc => ClosedForm::Auc { positives: units.positive, negatives: units.negative },
            Self::AveragePrecision => ClosedForm::Unknown,
            Self::TprAtFpr { .. } | Self::Recall { .. } => ClosedForm::Rate { units: units.positive },
            Self::Fpr { .. } => ClosedForm::Rate { units: units.negative },
            Self::Precision { threshold } => ClosedForm::Rate { units: flagged(threshold) },
        };
        Shape { range: (0.0, 1.0), closed_form }
    }
}

/// Independent units among the rows of either class.
struct Units {
    positive: usize,
    negative: usize,
}

/// Scores ranked once, each row known by its unit, so that a replicate is one pass over the rows.
struct Ranking {
    /// Unit of the first axis, whether the row is the last of its tied run, and its label: `unit << 2 | last << 1 | label`.
    rows: Vec<u32>,
    /// Units of the second axis, in the same order; empty for one axis.
    second: Vec<u32>,
    /// Number of distinct scores.
    runs: usize,
    /// For each measure, how many runs lie at or above its fixed threshold.
    flagged: Vec<usize>,
}

/// Weights of the positives and negatives at or above each distinct score, descending.
#[derive(Default)]
struct Cumulated {
    true_positives: Vec<u64>,
    false_positives: Vec<u64>,
}

impl Ranking {
    fn new(design: &Design, labels: &[bool], scores: &[f64], measures: &[Measure]) -> Self {
        let order = descending(scores);
        let mut rows = Vec::with_capacity(order.len());
        let mut thresholds = Vec::new();
        for (i, &row) in order.iter().enumerate() {
            let score = scores[row as usize];
            let last = order.get(i + 1).is_none_or(|&next| scores[next as usize] != score);
            if last {
                thresholds.push(score);
            }
            let unit = design.axes[0].unit_of[row as usize];
            rows.push(unit << 2 | u32::from(last) << 1 | u32::from(labels[row as usize]));
        }
        let second = match design.axes.get(1) {
            Some(axis) => order.iter().map(|&row| axis.unit_of[row as usize]).collect(),
            None => Vec::new(),
        };
        let flagged = measures
            .iter()
            .map(|measure| match *measure {
                Measure::Recall { threshold } | Measure::Fpr { threshold } | Measure::Precision { threshold } => {
                    thresholds.partition_point(|&t| t >= threshold)
                }
                _ => 0,
            })
            .collect();
        Self { rows, second, runs: thresholds.len(), flagged }
    }

    fn scratch(&self) -> Cumulated {
        // One more than the runs: the pass writes ahead of the run that it has closed.
        Cumulated { true_positives: vec![0; self.runs + 1], false_positives: vec![0; self.runs + 1] }
    }

    fn cumulate(&self, counts: &[Vec<u32>], into: &mut Cumulated) {
        match counts {
            [first, second, ..] => {
                let weights = self.rows.iter().zip(&self.second).map(|(&row, &other)| {
                    (row, u64::from(first[(row >> 2) as usize]) * u64::from(second[other as usize]))
                });
                cumulate(weights, into);
            }
            _ => {
                let first = &counts[0][..];
                cumulate(self.rows.iter().map(|&row| (row, u64::from(first[(row >> 2) as usize]))), into);
            }
        }
    }

    fn read(&self, measures: &[Measure], counts: &[Vec<u32>], cumulated: &mut Cumulated, out: &mut [f64]) {
        self.cumulate(counts, cumulated);
        let tp = &cumulated.true_positives[..self.runs];
        let fp = &cumulated.false_positives[..self.runs];
        for ((measure, &flagged), out) in measures.iter().zip(&self.flagged).zip(out) {
            *out = read(measure, flagged, tp, fp);
        }
    }
}

/// Branchless, since runs end unpredictably: every row writes to the slot of its run.
fn cumulate(rows: impl Iterator<Item = (u32, u64)>, into: &mut Cumulated) {
    let (mut tp, mut fp, mut run) = (0_u64, 0_u64, 0_usize);
    let Cumulated { true_positives, false_positives } = into;
    for (row, weight) in rows {
        let positive = (u64::from(row) & 1).wrapping_neg();
        tp += weight & positive;
        fp += weight & !positive;
        true_positives[run] = tp;
        false_positives[run] = fp;
        run += (row >> 1 & 1) as usize;
    }
}

fn read(measure: &Measure, flagged: usize, tp: &[u64], fp: &[u64]) -> f64 {
    let at = |counts: &[u64], runs: usize| if runs == 0 { 0.0 } else { counts[runs - 1] as f64 };
    let (positives, negatives) = (at(tp, tp.len()), at(fp, fp.len()));
    match *measure {
        Measure::RocAuc => {
            let (mut twice, mut tp_before, mut fp_before) = (0.0, 0, 0);
            for (&tp, &fp) in tp.iter().zip(fp) {
                twice += (fp - fp_before) as f64 * (tp + tp_before) as f64;
                (tp_before, fp_before) = (tp, fp);
            }
            twice / (2.0 * positives * negatives)
        }
        Measure::AveragePrecision => {
            let (mut sum, mut before) = (0.0, 0);
            for (&tp, &fp) in tp.iter().zip(fp) {
                if tp > before {
                    sum += (tp - before) as f64 * (tp as f64 / (tp + fp) as f64);
                    before = tp;
                }
            }
            sum / positives
        }
        Measure::TprAtFpr { target, estimator } => match most_false_positives(estimator, target, negatives) {
            Some(most) => {
                let kept = fp.partition_point(|&fp| within(estimator, fp as f64, target, negatives, most));
                at(tp, kept) / positives
            }
            None => f64::NAN,
        },
        Measure::Recall { .. } => at(tp, flagged) / positives,
        Measure::Fpr { .. } => at(fp, flagged) / negatives,
        Measure::Precision { .. } => at(tp, flagged) / (at(tp, flagged) + at(fp, flagged)),
    }
}

/// Measures of one detector.
struct Single<'a> {
    ranking: Ranking,
    measures: &'a [Measure],
}

impl Evaluate for Single<'_> {
    type Scratch = Cumulated;

    fn scratch(&self) -> Cumulated {
        self.ranking.scratch()
    }

    fn width(&self) -> usize {
        self.measures.len()
    }

    fn evaluate(&self, counts: &[Vec<u32>], scratch: &mut Cumulated, out: &mut [f64]) {
        self.ranking.read(self.measures, counts, scratch, out);
    }
}

/// Differences of the measures of two detectors on the same rows.
struct Paired<'a> {
    first: Ranking,
    second: Ranking,
    measures: &'a [Measure],
}

impl Evaluate for Paired<'_> {
    type Scratch = (Cumulated, Cumulated, Vec<f64>);

    fn scratch(&self) -> Self::Scratch {
        (self.first.scratch(), self.second.scratch(), vec![0.0; self.measures.len()])
    }

    fn width(&self) -> usize {
        self.measures.len()
    }

    fn evaluate(&self, counts: &[Vec<u32>], (first, second, other): &mut Self::Scratch, out: &mut [f64]) {
        self.first.read(self.measures, counts, first, out);
        self.second.read(self.measures, counts, second, other);
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
    let units = Units {
        positive: design.independent_units(|row| labels[row]),
        negative: design.independent_units(|row| !labels[row]),
    };
    let flagged = |threshold: f64| design.independent_units(|row| scores[row] >= threshold);
    measures.iter().map(|measure| measure.shape(&units, flagged)).collect()
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
