use statrs::distribution::{ContinuousCDF, Normal};

use crate::MetricsError;

/// A two-sided interval, `low <= high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Wilson's score interval for a proportion.
///
/// With p = successes / trials and z the normal quantile of (1 + confidence) / 2, the bounds are
/// (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n), kept within 0..=1.
/// No trials give `None`: nothing is known.
///
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
///
/// # Errors
/// More successes than trials, or a confidence outside (0, 1).
///
/// ```
/// let i = wardline_metrics::wilson(22, 26, 0.95)?.expect("26 trials");
/// assert!((i.low - 0.664_736_7).abs() < 1e-6 && (i.high - 0.938_497_7).abs() < 1e-6);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn wilson(successes: u64, trials: u64, confidence: f64) -> Result<Option<Interval>, MetricsError> {
    if successes > trials {
        return Err(MetricsError::MoreSuccessesThanTrials { successes, trials });
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(MetricsError::Confidence(confidence));
    }
    if trials == 0 {
        return Ok(None);
    }
    let n = trials as f64;
    let p = successes as f64 / n;
    let z = Normal::standard().inverse_cdf(f64::midpoint(1.0, confidence));
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    let low = if successes == 0 { 0.0 } else { ((centre - half) / scale).max(0.0) };
    let high = if successes == trials { 1.0 } else { ((centre + half) / scale).min(1.0) };
    Ok(Some(Interval { low, high }))
}
