use crate::{MetricsError, check};

/// Counts of a detector's decisions against the labels.
///
/// ```
/// use wardline_metrics::Confusion;
/// let c = Confusion::at(&[true, true, false, false], &[0.9, 0.4, 0.4, 0.1], 0.4)?;
/// assert_eq!((c.true_positives, c.false_positives, c.true_negatives, c.false_negatives), (2, 1, 1, 0));
/// assert_eq!((c.precision(), c.recall(), c.f1(), c.fpr(), c.specificity()), (2.0 / 3.0, 1.0, 0.8, 0.5, 0.5));
/// assert!((c.mcc() - 1.0 / 3.0_f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Confusion {
    /// Positives that are flagged.
    pub true_positives: u64,
    /// Negatives that are flagged.
    pub false_positives: u64,
    /// Negatives that are not flagged.
    pub true_negatives: u64,
    /// Positives that are not flagged.
    pub false_negatives: u64,
}

/// The fields are public and may hold anything: sums and products are taken where they fit.
fn sum(a: u64, b: u64) -> u128 {
    u128::from(a) + u128::from(b)
}

fn share(part: u64, whole: u128) -> f64 {
    part as f64 / whole as f64
}

impl Confusion {
    /// Counts flags against labels.
    ///
    /// # Errors
    /// No rows, inputs of different length.
    pub fn new(labels: &[bool], flagged: &[bool]) -> Result<Self, MetricsError> {
        check::same_length("flags", labels.len(), flagged.len())?;
        check::rows(labels.len())?;
        Ok(Self::count(labels.iter().copied().zip(flagged.iter().copied())))
    }

    /// Counts at a threshold: a row is flagged when its score is at or above it. An infinite threshold flags nothing (+∞) or
    /// everything (−∞).
    ///
    /// # Errors
    /// No rows, inputs of different length, a score that is not finite, a threshold that is NaN.
    pub fn at(labels: &[bool], scores: &[f64], threshold: f64) -> Result<Self, MetricsError> {
        check::scored(labels, scores)?;
        if threshold.is_nan() {
            return Err(MetricsError::OutOfRange { what: "threshold", value: threshold, range: "the ordered numbers" });
        }
        Ok(Self::count(labels.iter().copied().zip(scores.iter().map(|&s| s >= threshold))))
    }

    fn count(rows: impl Iterator<Item = (bool, bool)>) -> Self {
        let mut counts = Self::default();
        for (label, flag) in rows {
            *match (label, flag) {
                (true, true) => &mut counts.true_positives,
                (false, true) => &mut counts.false_positives,
                (false, false) => &mut counts.true_negatives,
                (true, false) => &mut counts.false_negatives,
            } += 1;
        }
        counts
    }

    /// Rows with a positive label; at most `u64::MAX`.
    #[must_use]
    pub fn positives(&self) -> u64 {
        self.true_positives.saturating_add(self.false_negatives)
    }

    /// Rows with a negative label; at most `u64::MAX`.
    #[must_use]
    pub fn negatives(&self) -> u64 {
        self.false_positives.saturating_add(self.true_negatives)
    }

    /// TP / (TP + FP): the share of flags that are right. NaN when nothing is flagged.
    #[must_use]
    pub fn precision(&self) -> f64 {
        share(self.true_positives, sum(self.true_positives, self.false_positives))
    }

    /// TP / (TP + FN): the true-positive rate. NaN when there are no positives.
    #[must_use]
    pub fn recall(&self) -> f64 {
        share(self.true_positives, sum(self.true_positives, self.false_negatives))
    }

    /// FP / (FP + TN): the false-positive rate. NaN when there are no negatives.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        share(self.false_positives, sum(self.false_positives, self.true_negatives))
    }

    /// TN / (FP + TN), which is 1 − FPR. NaN when there are no negatives.
    #[must_use]
    pub fn specificity(&self) -> f64 {
        share(self.true_negatives, sum(self.true_negatives, self.false_positives))
    }

    /// 2 TP / (2 TP + FP + FN): the harmonic mean of precision and recall. NaN when there are neither positives nor flags.
    #[must_use]
    pub fn f1(&self) -> f64 {
        let twice = 2 * u128::from(self.true_positives);
        twice as f64 / (twice + sum(self.false_positives, self.false_negatives)) as f64
    }

    /// Matthews' correlation coefficient, in −1..=1: (TP · TN − FP · FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN)). It is 0 when a
    /// factor of the root is 0 (one class only, or all rows decided alike), as in scikit-learn's `matthews_corrcoef`.
    ///
    /// Source: B. W. Matthews, Biochim. Biophys. Acta 405 (1975).
    #[must_use]
    pub fn mcc(&self) -> f64 {
        let Self { true_positives: tp, false_positives: fp, true_negatives: tn, false_negatives: missed } = *self;
        let (right, wrong) = (u128::from(tp) * u128::from(tn), u128::from(fp) * u128::from(missed));
        let determinant = if right >= wrong { (right - wrong) as f64 } else { -((wrong - right) as f64) };
        let product = |a: u128, b: u128| (a as f64 * b as f64).sqrt();
        let root = product(sum(tp, fp), sum(tp, missed)) * product(sum(tn, fp), sum(tn, missed));
        if root == 0.0 { 0.0 } else { determinant / root }
    }
}
