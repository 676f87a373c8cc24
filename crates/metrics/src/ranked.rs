use crate::{MetricsError, check};

/// Scores ranked once, for every curve, area and operating point that is read from them.
///
/// A higher score speaks for the positive class. Scores that are equal (−0 and 0 are) form one step of every curve: no threshold
/// separates them. With weights, every count below is a sum of weights.
///
/// ```
/// use wardline_metrics::Ranked;
/// let ranked = Ranked::new(&[true, true, false, false], &[0.9, 0.4, 0.4, 0.1])?;
/// assert_eq!((ranked.positives(), ranked.negatives()), (2.0, 2.0));
/// assert_eq!(ranked.roc_auc(), 0.875); // three pairs in order, one tied, of four
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ranked {
    /// Distinct scores, descending.
    pub(crate) thresholds: Vec<f64>,
    /// Positives at or above each threshold.
    pub(crate) true_positives: Vec<f64>,
    /// Negatives at or above each threshold.
    pub(crate) false_positives: Vec<f64>,
}

impl Ranked {
    /// Ranks the scores of rows whose label is true for the positive class. Takes n log n time.
    ///
    /// # Errors
    /// No rows, inputs of different length, a score that is not finite.
    pub fn new(labels: &[bool], scores: &[f64]) -> Result<Self, MetricsError> {
        check::scored(labels, scores)?;
        Ok(Self::build(labels, scores, |_| 1.0))
    }

    /// [`Ranked::new`] with a weight for each row, for example the inverse of a sampling rate.
    ///
    /// Rates and areas don't depend on the scale of the weights. What counts negatives does: [`Ranked::tpr_at_fpr`] reads weights as
    /// numbers of rows, so scale them to add up to the number of rows.
    ///
    /// # Errors
    /// As [`Ranked::new`]; a weight that is negative or not finite, or weights whose sum is not finite.
    pub fn weighted(labels: &[bool], scores: &[f64], weights: &[f64]) -> Result<Self, MetricsError> {
        check::scored(labels, scores)?;
        check::same_length("weights", labels.len(), weights.len())?;
        check::weights(weights)?;
        Ok(Self::build(labels, scores, |row| weights[row]))
    }

    fn build(labels: &[bool], scores: &[f64], weight: impl Fn(usize) -> f64) -> Self {
        let mut ranked = Self { thresholds: Vec::new(), true_positives: Vec::new(), false_positives: Vec::new() };
        let (mut tp, mut fp) = (0.0, 0.0);
        let order = descending(scores);
        for (i, &row) in order.iter().enumerate() {
            let row = row as usize;
            let weight = weight(row);
            // A row without weight is as good as absent, and makes no threshold.
            if weight > 0.0 {
                if labels[row] {
                    tp += weight;
                } else {
                    fp += weight;
                }
            }
            let ends_run = order.get(i + 1).is_none_or(|&next| scores[next as usize] != scores[row]);
            let before = (ranked.true_positives.last(), ranked.false_positives.last());
            if ends_run && (before.0.copied().unwrap_or(0.0), before.1.copied().unwrap_or(0.0)) != (tp, fp) {
                ranked.thresholds.push(scores[row]);
                ranked.true_positives.push(tp);
                ranked.false_positives.push(fp);
            }
        }
        ranked
    }

    /// Number (or weight) of positives.
    #[must_use]
    pub fn positives(&self) -> f64 {
        self.true_positives.last().copied().unwrap_or(0.0)
    }

    /// Number (or weight) of negatives.
    #[must_use]
    pub fn negatives(&self) -> f64 {
        self.false_positives.last().copied().unwrap_or(0.0)
    }

    /// The distinct scores, descending.
    #[must_use]
    pub fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }
}

/// Row numbers by descending score; equal scores in row order.
pub(crate) fn descending(scores: &[f64]) -> Vec<u32> {
    let mut keyed: Vec<(u64, u32)> =
        scores.iter().zip(0..).map(|(&score, row)| (!ascending_bits(score), row)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, row)| row).collect()
}

/// Bits that sort as the finite numbers do, −0 as 0.
pub(crate) fn ascending_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
