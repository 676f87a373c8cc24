use crate::interval::{normal_cdf, normal_quantile};
use crate::ranked::descending;
use crate::{Interval, MetricsError, check};

/// An area under the ROC curve with DeLong's variance.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DeLong {
    /// The area, ties counting one half.
    pub auc: f64,
    /// Its variance; NaN with fewer than two rows of either class.
    pub variance: f64,
}

/// DeLong's comparison of two areas on the same rows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct DeLongTest {
    /// The first area.
    pub first: DeLong,
    /// The second area.
    pub second: DeLong,
    /// Covariance of the two areas.
    pub covariance: f64,
    /// Variance of the difference `first − second`.
    pub variance: f64,
    /// The difference over its standard error; NaN when that is 0 or undefined.
    pub z: f64,
    /// Two-sided p-value of z; 1 when the areas are equal and their difference has no variance, NaN when it is undefined.
    pub p_value: f64,
}

/// For each positive the share of negatives below it, for each negative the share of positives above it; ties count one half.
struct Placements {
    positives: Vec<f64>,
    negatives: Vec<f64>,
}

impl Placements {
    /// By one sort, in row order within each class.
    fn new(labels: &[bool], scores: &[f64]) -> Self {
        let total = labels.iter().filter(|&&label| label).count();
        let (m, n) = (total as f64, (labels.len() - total) as f64);
        let mut placement = vec![0.0; scores.len()];
        let order = descending(scores);
        let (mut tp, mut fp, mut start) = (0.0, 0.0, 0);
        while let Some(&first) = order.get(start) {
            let score = scores[first as usize];
            let length = order[start..].iter().take_while(|&&row| scores[row as usize] == score).count();
            let run = &order[start..start + length];
            let tied_tp = run.iter().filter(|&&row| labels[row as usize]).count() as f64;
            let tied_fp = length as f64 - tied_tp;
            for &row in run {
                placement[row as usize] =
                    if labels[row as usize] { (n - fp - tied_fp / 2.0) / n } else { (tp + tied_tp / 2.0) / m };
            }
            tp += tied_tp;
            fp += tied_fp;
            start += length;
        }
        let of =
            |class: bool| placement.iter().zip(labels).filter(|(_, label)| **label == class).map(|(p, _)| *p).collect();
        Self { positives: of(true), negatives: of(false) }
    }

    fn auc(&self) -> f64 {
        mean(&self.positives)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn covariance(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum: f64 = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
    if a.len() < 2 { f64::NAN } else { sum / (a.len() as f64 - 1.0) }
}

fn auc_covariance(a: &Placements, b: &Placements) -> f64 {
    covariance(&a.positives, &b.positives) / a.positives.len() as f64
        + covariance(&a.negatives, &b.negatives) / a.negatives.len() as f64
}

/// The area under the ROC curve with DeLong's variance.
///
/// A positive's placement is the share of negatives below it (ties one half), a negative's the share of positives above it; the area
/// is the mean placement, its variance the sample variance of the positives' placements over their number plus that of the
/// negatives'. Takes n log n time. Rows are taken for independent; for clustered rows use the cluster bootstrap. NaN when a class has
/// no rows, NaN variance when one has fewer than two; variance 0 at an area of 0 or 1, where
/// [`score_auc_interval`] still gives an interval.
///
/// Source: E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
/// characteristic curves", Biometrics 44 (1988); by ranks after X. Sun, W. Xu, IEEE Signal Process. Lett. 21 (2014).
///
/// # Errors
/// No rows, inputs of different length, a score that is not finite.
///
/// ```
/// let d = wardline_metrics::delong(&[true, true, false, false], &[0.9, 0.4, 0.4, 0.1])?;
/// assert_eq!(d.auc, 0.875);
/// // Placements 1, ¾ and ¾, 1: variance 1/32 of two on either side.
/// assert_eq!(d.variance, 1.0 / 32.0);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn delong(labels: &[bool], scores: &[f64]) -> Result<DeLong, MetricsError> {
    check::scored(labels, scores)?;
    let placements = Placements::new(labels, scores);
    Ok(DeLong { auc: placements.auc(), variance: auc_covariance(&placements, &placements) })
}

/// DeLong's test that two detectors have the same area under the ROC curve, on the same rows.
///
/// z = (first − second) / √(Var first + Var second − 2 Cov), compared with the standard normal distribution. Rows are taken for
/// independent. See [`delong`] for the variance, ties, and classes with too few rows.
///
/// Source: as [`delong`].
///
/// # Errors
/// No rows, inputs of different length, a score that is not finite.
///
/// ```
/// let labels = [true, true, true, false, false, false];
/// let t = wardline_metrics::delong_test(&labels, &[0.9, 0.8, 0.3, 0.4, 0.2, 0.1], &[0.9, 0.2, 0.3, 0.4, 0.8, 0.1])?;
/// assert!((t.first.auc - t.second.auc - 1.0 / 3.0).abs() < 1e-15);
/// assert!(t.p_value > 0.05);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn delong_test(labels: &[bool], first: &[f64], second: &[f64]) -> Result<DeLongTest, MetricsError> {
    check::scored(labels, first)?;
    check::scored(labels, second)?;
    let (a, b) = (Placements::new(labels, first), Placements::new(labels, second));
    let difference_of = |x: &[f64], y: &[f64]| -> Vec<f64> { x.iter().zip(y).map(|(x, y)| x - y).collect() };
    // The variance of the differences themselves: subtracting variances would lose it to rounding for like detectors.
    let d = Placements {
        positives: difference_of(&a.positives, &b.positives),
        negatives: difference_of(&a.negatives, &b.negatives),
    };
    let variance = auc_covariance(&d, &d);
    let difference = a.auc() - b.auc();
    let z = if variance > 0.0 { difference / variance.sqrt() } else { f64::NAN };
    let p_value = if variance == 0.0 && difference == 0.0 { 1.0 } else { 2.0 * normal_cdf(-z.abs()) };
    Ok(DeLongTest {
        first: DeLong { auc: a.auc(), variance: auc_covariance(&a, &a) },
        second: DeLong { auc: b.auc(), variance: auc_covariance(&b, &b) },
        covariance: auc_covariance(&a, &b),
        variance,
        z,
        p_value,
    })
}

/// Newcombe's score interval for an area under the ROC curve, which needs no scores: for an area with no spread, such as 1.
///
/// The bounds are the θ with |area − θ| = z √V(θ), where V(θ) = θ(1 − θ)(1 + (N − 1)((1 − θ)/(2 − θ) + θ/(1 + θ))) / (mn) and
/// N = (m + n)/2 for m positives and n negatives. No positives or no negatives give `None`.
///
/// Source: R. G. Newcombe, "Confidence intervals for an effect size measure based on the Mann–Whitney statistic. Part 2", Statist.
/// Med. 25 (2006), method 5; the variance is that of J. A. Hanley, B. J. McNeil, Radiology 143 (1982).
///
/// # Errors
/// An area outside 0..=1, or a confidence outside (0, 1).
///
/// ```
/// let i = wardline_metrics::score_auc_interval(1.0, 50, 200, 0.95)?.expect("both classes");
/// assert_eq!(i.high, 1.0);
/// assert!(i.low > 0.9 && i.low < 1.0);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn score_auc_interval(
    auc: f64,
    positives: u64,
    negatives: u64,
    confidence: f64,
) -> Result<Option<Interval>, MetricsError> {
    check::unit_interval("area", auc)?;
    check::confidence(confidence)?;
    if positives == 0 || negatives == 0 {
        return Ok(None);
    }
    let (m, n) = (positives as f64, negatives as f64);
    let z = normal_quantile(f64::midpoint(1.0, confidence));
    let excess = |theta: f64| {
        let pairs = 1.0 + (f64::midpoint(m, n) - 1.0) * ((1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta));
        (auc - theta).abs() - z * (theta * (1.0 - theta) * pairs / (m * n)).sqrt()
    };
    // Within a bound the excess is negative, beyond it positive.
    let bound = |mut outside: f64| {
        let mut inside = auc;
        if excess(outside) <= 0.0 {
            return outside;
        }
        loop {
            let middle = f64::midpoint(inside, outside);
            if middle == inside || middle == outside {
                return middle;
            }
            if excess(middle) > 0.0 {
                outside = middle;
            } else {
                inside = middle;
            }
        }
    };
    Ok(Some(Interval { low: bound(0.0), high: bound(1.0) }))
}
