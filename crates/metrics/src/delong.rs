use crate::interval::normal_quantile;
use crate::{Interval, MetricsError, check};

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
