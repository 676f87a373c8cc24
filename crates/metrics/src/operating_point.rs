use crate::{MetricsError, Ranked, check};

/// How the true-positive rate at a target false-positive rate is read. Both name a threshold that can be set, and both flag at most
/// the target share of negatives on the rows they are read from; no point is interpolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum TprEstimator {
    /// The highest point of the ROC curve whose false-positive rate is at or below the target. NaN when the target is below
    /// 1 / negatives: so few negatives cannot measure it.
    Grade,
    /// The share of positives that score strictly above the k-th highest negative, k = ⌊target × negatives⌋, where the highest
    /// negative is number 0: at most k negatives are flagged. The product is taken in double precision, as published figures do.
    /// Defined for a target below 1 / negatives too (k = 0: above every negative). At k = negatives everything is flagged.
    Analyze,
}

/// A threshold and what it yields on the rows it was read from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OperatingPoint {
    /// Rows that score at or above it are flagged; +∞ when nothing is.
    pub threshold: f64,
    /// Realised true-positive rate (recall).
    pub tpr: f64,
    /// Realised false-positive rate.
    pub fpr: f64,
}

impl OperatingPoint {
    const UNDEFINED: Self = Self { threshold: f64::NAN, tpr: f64::NAN, fpr: f64::NAN };
}

/// ⌊target × negatives⌋ for [`TprEstimator::Analyze`], or the most false positives within the target for
/// [`TprEstimator::Grade`]; `None` where the estimator is undefined.
pub(crate) fn most_false_positives(estimator: TprEstimator, target: f64, negatives: f64) -> Option<f64> {
    if negatives <= 0.0 {
        return None;
    }
    match estimator {
        TprEstimator::Grade if target < 1.0 / negatives => None,
        // The comparison is fp / negatives <= target; it is the last point for which it holds that matters, not this number.
        TprEstimator::Grade => Some(target * negatives),
        TprEstimator::Analyze => Some((target * negatives).floor()),
    }
}

/// Whether a point of the curve is within the target.
pub(crate) fn within(estimator: TprEstimator, fp: f64, target: f64, negatives: f64, most: f64) -> bool {
    match estimator {
        TprEstimator::Grade => fp / negatives <= target,
        TprEstimator::Analyze => fp <= most,
    }
}

impl Ranked {
    /// The operating point at a target false-positive rate, with the false-positive rate that it realises.
    ///
    /// Negatives that tie at the cut are all left out, so the realised rate may be well below the target. All fields are NaN when
    /// a class has no rows, or where the estimator says so. Weights count as numbers of rows: `Grade` is undefined when the target share of the
    /// negatives' weight is below 1, and `Analyze` rounds that share down to a whole number.
    ///
    /// # Errors
    /// A target outside 0..=1.
    ///
    /// ```
    /// use wardline_metrics::{Ranked, TprEstimator};
    /// // 100 negatives, of which three tie at 0.8, just below the highest.
    /// let mut scores = vec![0.9, 0.8, 0.8, 0.8];
    /// scores.resize(100, 0.1);
    /// scores.extend([0.95, 0.85, 0.8, 0.2]);
    /// let labels: Vec<bool> = (0..104).map(|row| row >= 100).collect();
    /// let ranked = Ranked::new(&labels, &scores)?;
    /// let point = ranked.tpr_at_fpr(0.02, TprEstimator::Analyze)?;
    /// assert_eq!((point.threshold, point.tpr, point.fpr), (0.85, 0.5, 0.01));
    /// assert_eq!(ranked.tpr_at_fpr(0.001, TprEstimator::Analyze)?.tpr, 0.25);
    /// assert!(ranked.tpr_at_fpr(0.001, TprEstimator::Grade)?.tpr.is_nan());
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn tpr_at_fpr(&self, target: f64, estimator: TprEstimator) -> Result<OperatingPoint, MetricsError> {
        check::unit_interval("target false-positive rate", target)?;
        let negatives = self.negatives();
        match most_false_positives(estimator, target, negatives) {
            Some(most) if self.positives() > 0.0 => {
                Ok(self.last_point(|fp| within(estimator, fp, target, negatives, most)))
            }
            _ => Ok(OperatingPoint::UNDEFINED),
        }
    }

    /// The threshold that maximises recall among those whose false-positive rate is at or below a bound.
    ///
    /// Every distinct score is a candidate, and +∞. Of thresholds with the same recall the lowest is taken, as in the published
    /// sweeps; see [`Ranked::tune_over`] for other candidates. NaN when a class has no rows.
    ///
    /// # Errors
    /// A bound outside 0..=1.
    ///
    /// ```
    /// use wardline_metrics::Ranked;
    /// let ranked = Ranked::new(&[true, true, false, false], &[0.9, 0.4, 0.5, 0.1])?;
    /// let point = ranked.tune(0.5)?;
    /// assert_eq!((point.threshold, point.tpr, point.fpr), (0.4, 1.0, 0.5));
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn tune(&self, max_fpr: f64) -> Result<OperatingPoint, MetricsError> {
        check::unit_interval("largest false-positive rate", max_fpr)?;
        let negatives = self.negatives();
        if self.positives() == 0.0 || negatives == 0.0 {
            return Ok(OperatingPoint::UNDEFINED);
        }
        Ok(self.last_point(|fp| fp / negatives <= max_fpr))
    }

    /// [`Ranked::tune`] over given candidates. `None` when no candidate is within the bound (add a threshold above every score to
    /// rule that out), or a class has no rows.
    ///
    /// # Errors
    /// A bound outside 0..=1, a candidate that is NaN.
    ///
    /// ```
    /// use wardline_metrics::Ranked;
    /// let ranked = Ranked::new(&[true, true, false, false], &[0.9, 0.4, 0.5, 0.1])?;
    /// let point = ranked.tune_over(&[0.3, 0.8, 1.1], 0.0)?.expect("1.1 flags nothing");
    /// assert_eq!((point.threshold, point.tpr, point.fpr), (0.8, 0.5, 0.0));
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    pub fn tune_over(&self, candidates: &[f64], max_fpr: f64) -> Result<Option<OperatingPoint>, MetricsError> {
        check::unit_interval("largest false-positive rate", max_fpr)?;
        ordered(candidates)?;
        if self.positives() == 0.0 || self.negatives() == 0.0 {
            return Ok(None);
        }
        let points = candidates.iter().map(|&threshold| self.at_threshold(threshold));
        // Recall falls as the threshold rises.
        Ok(points
            .filter(|p| p.fpr <= max_fpr)
            .min_by(|a, b| b.tpr.total_cmp(&a.tpr).then(a.threshold.total_cmp(&b.threshold))))
    }

    /// What a threshold yields: rows that score at or above it are flagged. A rate over a class with no rows is NaN, and both are
    /// at a threshold that is NaN.
    ///
    /// ```
    /// use wardline_metrics::Ranked;
    /// let point = Ranked::new(&[true, true, false, false], &[0.9, 0.4, 0.5, 0.1])?.at_threshold(0.5);
    /// assert_eq!((point.tpr, point.fpr), (0.5, 0.5));
    /// # Ok::<(), wardline_metrics::MetricsError>(())
    /// ```
    #[must_use]
    pub fn at_threshold(&self, threshold: f64) -> OperatingPoint {
        if threshold.is_nan() {
            return OperatingPoint::UNDEFINED;
        }
        let flagged = self.thresholds.partition_point(|&t| t >= threshold);
        let count = |counts: &[f64]| if flagged == 0 { 0.0 } else { counts[flagged - 1] };
        OperatingPoint {
            threshold,
            tpr: count(&self.true_positives) / self.positives(),
            fpr: count(&self.false_positives) / self.negatives(),
        }
    }

    /// The lowest threshold whose false positives are within bounds.
    fn last_point(&self, within: impl Fn(f64) -> bool) -> OperatingPoint {
        let kept = self.false_positives.partition_point(|&fp| within(fp));
        let threshold = if kept == 0 { f64::INFINITY } else { self.thresholds[kept - 1] };
        self.at_threshold(threshold)
    }
}

pub(crate) fn ordered(thresholds: &[f64]) -> Result<(), MetricsError> {
    match thresholds.iter().position(|t| t.is_nan()) {
        None => Ok(()),
        Some(row) => Err(MetricsError::NotFinite { what: "threshold", row, value: thresholds[row] }),
    }
}
