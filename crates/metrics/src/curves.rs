use crate::{MetricsError, Ranked, check};

/// A receiver operating characteristic, from (0, 0) to (1, 1).
///
/// All three have the same length. The first point is (0, 0) at threshold +∞, where nothing is flagged; after it `thresholds` falls
/// through the scores, and a row is flagged when its score is at or above the threshold. A rate over a class with no rows is NaN.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RocCurve {
    /// False-positive rate, ascending.
    pub fpr: Vec<f64>,
    /// True-positive rate, ascending.
    pub tpr: Vec<f64>,
    /// Thresholds, descending.
    pub thresholds: Vec<f64>,
}

/// A precision-recall curve.
///
/// All three have the same length. `thresholds` falls through the distinct scores, so recall rises; a row is flagged when its score
/// is at or above the threshold. The conventional end point (precision 1 at recall 0) is not among them: no threshold attains it.
/// Recall is NaN when there are no positives.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PrecisionRecallCurve {
    /// Precision at each threshold.
    pub precision: Vec<f64>,
    /// Recall at each threshold, ascending.
    pub recall: Vec<f64>,
    /// Thresholds, descending.
    pub thresholds: Vec<f64>,
}

impl Ranked {
    /// The ROC curve, one point for each distinct score.
    ///
    /// With `drop_collinear`, points in the middle of a straight stretch are left out, as scikit-learn's `roc_curve` does by default
    /// (`drop_intermediate=True`); the area is the same.
    ///
    /// Source: T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27 (2006).
    ///
    /// ```
    /// use wardline_metrics::Ranked;
    /// let roc = Ranked::new(&[true, true, false, false], &[0.9, 0.4, 0.4, 0.1])?.roc_curve(false);
    /// assert_eq!(roc.fpr, [0.0, 0.0, 0.5, 1.0]);
    /// assert_eq!(roc.tpr, [0.0, 0.5, 1.0, 1.0]);
    /// assert_eq!(roc.thresholds, [f64::INFINITY, 0.9, 0.4, 0.1]);
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    #[must_use]
    pub fn roc_curve(&self, drop_collinear: bool) -> RocCurve {
        let (tp, fp) = (&self.true_positives, &self.false_positives);
        let n = tp.len();
        let collinear = |i: usize| {
            i > 0 && i + 1 < n && tp[i + 1] - tp[i] == tp[i] - tp[i - 1] && fp[i + 1] - fp[i] == fp[i] - fp[i - 1]
        };
        let kept: Vec<usize> = (0..n).filter(|&i| !(drop_collinear && n > 2 && collinear(i))).collect();
        let rates = |counts: &[f64], all: f64| -> Vec<f64> {
            let first = 0.0 / all;
            std::iter::once(first).chain(kept.iter().map(|&i| counts[i] / all)).collect()
        };
        RocCurve {
            fpr: rates(fp, self.negatives()),
            tpr: rates(tp, self.positives()),
            thresholds: std::iter::once(f64::INFINITY).chain(kept.iter().map(|&i| self.thresholds[i])).collect(),
        }
    }

    /// The precision-recall curve, one point for each distinct score.
    ///
    /// ```
    /// use wardline_metrics::Ranked;
    /// let curve = Ranked::new(&[true, true, false, false], &[0.9, 0.4, 0.4, 0.1])?.precision_recall_curve();
    /// assert_eq!(curve.precision, [1.0, 2.0 / 3.0, 0.5]);
    /// assert_eq!(curve.recall, [0.5, 1.0, 1.0]);
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    #[must_use]
    pub fn precision_recall_curve(&self) -> PrecisionRecallCurve {
        let positives = self.positives();
        let pairs = || self.true_positives.iter().zip(&self.false_positives);
        PrecisionRecallCurve {
            precision: pairs().map(|(tp, fp)| tp / (tp + fp)).collect(),
            recall: pairs().map(|(tp, _)| tp / positives).collect(),
            thresholds: self.thresholds.clone(),
        }
    }

    /// The area under the ROC curve: the chance that a random positive scores above a random negative, a tie counting one half.
    /// NaN when a class has no rows.
    ///
    /// Source: J. A. Hanley, B. J. McNeil, "The meaning and use of the area under a receiver operating characteristic (ROC) curve",
    /// Radiology 143 (1982).
    #[must_use]
    pub fn roc_auc(&self) -> f64 {
        let twice_pairs = 2.0 * self.positives() * self.negatives();
        // Sums of weights may be such that their product is too large or small for a double: then shares are multiplied.
        let (tp_unit, fp_unit) =
            if twice_pairs.is_normal() { (1.0, 1.0) } else { (self.positives(), self.negatives()) };
        let mut twice = 0.0;
        let (mut tp, mut fp) = (0.0, 0.0);
        for (tp_next, fp_next) in self.true_positives.iter().zip(&self.false_positives) {
            let (tp_next, fp_next) = (tp_next / tp_unit, fp_next / fp_unit);
            twice += (fp_next - fp) * (tp_next + tp);
            (tp, fp) = (tp_next, fp_next);
        }
        twice / (2.0 * tp * fp)
    }

    /// Average precision: the sum over thresholds of precision times the gain in recall, without interpolation. NaN when there are
    /// no positives; 1 when there are no negatives. Tied scores are one threshold.
    ///
    /// Source: scikit-learn's `average_precision_score`; E. M. Voorhees, D. K. Harman, "TREC" (2005).
    ///
    /// ```
    /// use wardline_metrics::Ranked;
    /// let ranked = Ranked::new(&[true, true, false, false], &[0.9, 0.4, 0.4, 0.1])?;
    /// assert!((ranked.average_precision() - 5.0 / 6.0).abs() < 1e-15); // 1 · ½ + ⅔ · ½
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    #[must_use]
    pub fn average_precision(&self) -> f64 {
        let mut sum = 0.0;
        let mut before = 0.0;
        for (&tp, &fp) in self.true_positives.iter().zip(&self.false_positives) {
            if tp > before {
                sum += (tp - before) * (tp / (tp + fp));
                before = tp;
            }
        }
        sum / before
    }

    /// The area under the ROC curve left of a false-positive rate, between 0 and `max_fpr`; the last stretch is cut at `max_fpr` by
    /// linear interpolation. NaN when a class has no rows.
    ///
    /// # Errors
    /// `max_fpr` outside (0, 1].
    ///
    /// ```
    /// use wardline_metrics::Ranked;
    /// let ranked = Ranked::new(&[true, true, false, false], &[0.9, 0.4, 0.4, 0.1])?;
    /// assert_eq!(ranked.partial_auc(0.5)?, 0.375); // from (0, ½) straight to (½, 1)
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn partial_auc(&self, max_fpr: f64) -> Result<f64, MetricsError> {
        if !(max_fpr > 0.0 && max_fpr <= 1.0) {
            return Err(MetricsError::OutOfRange {
                what: "largest false-positive rate",
                value: max_fpr,
                range: "(0, 1]",
            });
        }
        let (positives, negatives) = (self.positives(), self.negatives());
        if positives == 0.0 || negatives == 0.0 {
            return Ok(f64::NAN);
        }
        let (mut area, mut fpr, mut tpr) = (0.0, 0.0, 0.0);
        for (&tp, &fp) in self.true_positives.iter().zip(&self.false_positives) {
            let (next_fpr, next_tpr) = (fp / negatives, tp / positives);
            if next_fpr > max_fpr {
                let at_cut = tpr + (next_tpr - tpr) * (max_fpr - fpr) / (next_fpr - fpr);
                return Ok(area + (max_fpr - fpr) * f64::midpoint(tpr, at_cut));
            }
            area += (next_fpr - fpr) * f64::midpoint(tpr, next_tpr);
            (fpr, tpr) = (next_fpr, next_tpr);
        }
        Ok(area)
    }

    /// [`Ranked::partial_auc`] brought to the scale of a full area: ½ for chance, 1 for a perfect detector.
    ///
    /// ½(1 + (area − max_fpr²/2) / (max_fpr − max_fpr²/2)); at `max_fpr` = 1 the area itself.
    ///
    /// Source: D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9 (1989); scikit-learn's
    /// `roc_auc_score(max_fpr=…)`.
    ///
    /// # Errors
    /// `max_fpr` outside (0, 1].
    ///
    /// ```
    /// use wardline_metrics::Ranked;
    /// let ranked = Ranked::new(&[true, true, false, false], &[0.9, 0.4, 0.4, 0.1])?;
    /// assert!((ranked.standardised_partial_auc(0.5)? - 5.0 / 6.0).abs() < 1e-15);
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn standardised_partial_auc(&self, max_fpr: f64) -> Result<f64, MetricsError> {
        let area = self.partial_auc(max_fpr)?;
        let chance = max_fpr * max_fpr / 2.0;
        Ok(0.5 * (1.0 + (area - chance) / (max_fpr - chance)))
    }
}

/// [`Ranked::roc_auc`] of labels and scores.
///
/// # Errors
/// No rows, inputs of different length, a score that is not finite.
///
/// ```
/// let auc = wardline_metrics::roc_auc(&[true, true, false, false], &[0.9, 0.4, 0.4, 0.1])?;
/// assert_eq!(auc, 0.875);
/// assert!(wardline_metrics::roc_auc(&[true], &[0.9])?.is_nan());
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn roc_auc(labels: &[bool], scores: &[f64]) -> Result<f64, MetricsError> {
    Ok(Ranked::new(labels, scores)?.roc_auc())
}

/// [`Ranked::average_precision`] of labels and scores.
///
/// # Errors
/// No rows, inputs of different length, a score that is not finite.
///
/// ```
/// assert_eq!(wardline_metrics::average_precision(&[false, true], &[0.9, 0.4])?, 0.5);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn average_precision(labels: &[bool], scores: &[f64]) -> Result<f64, MetricsError> {
    Ok(Ranked::new(labels, scores)?.average_precision())
}

/// The Brier score: the mean of (score − label)², with the label as 0 or 1; 0 is best. One class alone is fine.
///
/// Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950), in its
/// two-class form (half of Brier's own), as scikit-learn's `brier_score_loss`.
///
/// # Errors
/// No rows, inputs of different length, a score outside 0..=1.
///
/// ```
/// let brier = wardline_metrics::brier_score(&[true, false], &[0.75, 0.5])?;
/// assert_eq!(brier, (0.0625 + 0.25) / 2.0);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn brier_score(labels: &[bool], scores: &[f64]) -> Result<f64, MetricsError> {
    probabilities(labels, scores)?;
    let sum: f64 = labels.iter().zip(scores).map(|(&label, &p)| (p - f64::from(label)).powi(2)).sum();
    Ok(sum / labels.len() as f64)
}

pub(crate) fn probabilities(labels: &[bool], scores: &[f64]) -> Result<(), MetricsError> {
    check::scored(labels, scores)?;
    scores.iter().try_for_each(|&p| check::unit_interval("score", p))
}
