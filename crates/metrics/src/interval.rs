use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
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

/// Student's t quantile of `p` at `free` degrees of freedom; `None` unless these are positive.
pub(crate) fn student_quantile(p: f64, free: f64) -> Option<f64> {
    if free > 1000.0 {
        // Hill's expansion about the normal quantile, to 1e-9 here; statrs loses digits with many degrees and then never returns.
        let z = normal_quantile(p);
        let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
        let terms = [
            (z3 + z) / 4.0,
            (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0,
            (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0,
        ];
        return Some(z + terms[0] / free + terms[1] / (free * free) + terms[2] / (free * free * free));
    }
    StudentsT::new(0.0, 1.0, free).ok().map(|student| student.inverse_cdf(p))
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
/// More successes than trials, more than 10^6 trials (the beta function loses its digits beyond), or a confidence outside (0, 1).
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
    if trials > 1_000_000 {
        return Err(MetricsError::OutOfRange { what: "number of trials", value: trials as f64, range: "0..=1000000" });
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

#[cfg(test)]
mod tests {
    use super::student_quantile;

    /// Those of scipy, which `fixtures/generate.py` wrote down.
    #[test]
    fn students_quantiles_at_any_degrees_of_freedom() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/students.json");
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
        assert!(cases.len() > 30);
        for case in cases {
            let number = |key: &str| case[key].as_f64().unwrap_or_else(|| panic!("{key} of {case}"));
            let found = student_quantile(number("p"), number("free")).unwrap_or(f64::NAN);
            let expected = number("quantile");
            assert!((found / expected - 1.0).abs() < 1e-8, "{case}: {found}");
        }
        assert_eq!((student_quantile(0.975, 0.0), student_quantile(0.975, f64::NAN)), (None, None));
    }
}
