use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::beta_reg;

use crate::{MetricsError, check};

/// A two-sided interval, `low <= high`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Interval {
    /// `high − low`.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Whether `low <= value <= high`.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The standard normal quantile of `p`.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// The standard normal distribution function at `z`, to the last digits also in the tails (statrs gives eleven digits).
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// Wilson's score interval for a proportion.
///
/// With p = successes / trials and z the normal quantile of (1 + confidence) / 2, the bounds are
/// (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n), kept within 0..=1; the lower bound at 0 successes is exactly 0 and
/// the upper bound at `trials` successes exactly 1. No trials give `None`: nothing is known.
///
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
///
/// # Errors
/// More successes than trials, or a confidence outside (0, 1).
///
/// ```
/// let i = wardline_metrics::wilson(22, 26, 0.95)?.expect("26 trials");
/// assert!((i.low - 0.664_688_0).abs() < 1e-6 && (i.high - 0.938_499_7).abs() < 1e-6);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn wilson(successes: u64, trials: u64, confidence: f64) -> Result<Option<Interval>, MetricsError> {
    if successes > trials {
        return Err(MetricsError::MoreSuccessesThanTrials { successes, trials });
    }
    check::confidence(confidence)?;
    if trials == 0 {
        return Ok(None);
    }
    let n = trials as f64;
    Ok(Some(wilson_of_share(successes as f64 / n, n, confidence)))
}

/// Wilson's interval of a share `p` that rests on `n` independent units, not necessarily a count of them.
pub(crate) fn wilson_of_share(p: f64, n: f64, confidence: f64) -> Interval {
    wilson_at(p, n, normal_quantile(f64::midpoint(1.0, confidence)))
}

/// Wilson's interval with a quantile `z` that need not be the normal one.
pub(crate) fn wilson_at(p: f64, n: f64, z: f64) -> Interval {
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    let low = if p <= 0.0 { 0.0 } else { ((centre - half) / scale).max(0.0) };
    let high = if p >= 1.0 { 1.0 } else { ((centre + half) / scale).min(1.0) };
    Interval { low, high }
}

/// The exact (Clopper–Pearson) interval for a proportion.
///
/// The lower bound is the p at which `successes` or more have probability (1 − confidence) / 2, the upper bound the p at which
/// `successes` or fewer have it: beta quantiles with shapes (x, n − x + 1) and (x + 1, n − x). Never covers less than its nominal
/// level. The lower bound at 0 successes is 0, the upper bound at `trials` successes is 1. No trials give `None`.
///
/// Source: C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
/// Biometrika 26 (1934).
///
/// # Errors
/// More successes than trials, or a confidence outside (0, 1).
///
/// ```
/// let i = wardline_metrics::clopper_pearson(0, 26, 0.95)?.expect("26 trials");
/// assert_eq!(i.low, 0.0);
/// assert!((i.high - (1.0 - 0.025_f64.powf(1.0 / 26.0))).abs() < 1e-14);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn clopper_pearson(successes: u64, trials: u64, confidence: f64) -> Result<Option<Interval>, MetricsError> {
    if successes > trials {
        return Err(MetricsError::MoreSuccessesThanTrials { successes, trials });
    }
    check::confidence(confidence)?;
    if trials == 0 {
        return Ok(None);
    }
    let tail = (1.0 - confidence) / 2.0;
    let (x, n) = (successes as f64, trials as f64);
    let low = if successes == 0 { 0.0 } else { beta_quantile(x, n - x + 1.0, tail) };
    let high = if successes == trials { 1.0 } else { 1.0 - beta_quantile(n - x, x + 1.0, tail) };
    Ok(Some(Interval { low, high }))
}

/// The x at which the regularised incomplete beta function reaches `p`, by bisection: its inverse in closed approximations
/// is not good to the last digits.
fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if beta_reg(a, b, middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
}
