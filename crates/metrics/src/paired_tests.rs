use crate::interval::normal_cdf;
use crate::{MetricsError, check};

/// McNemar's exact test of two detectors or defenses on the same rows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct McNemar {
    /// Rows that only the first got right (or blocked, or flagged).
    pub only_first: u64,
    /// Rows that only the second got right.
    pub only_second: u64,
    /// Two-sided exact p-value.
    pub p_value: f64,
}

/// McNemar's exact test from the two discordant counts.
///
/// Under the null hypothesis the discordant rows fall to either side like a fair coin: with n = `only_first` + `only_second` and
/// k the smaller of the two, p = min(1, 2 · P(X ≤ k)) for X binomial (n, ½); beyond n = 10^7 by the normal approximation. No discordant rows give p = 1.
/// The test takes the rows for independent; rows that share a payload or a task are not, and the paired cluster or two-way
/// bootstrap is then the one to quote.
///
/// Source: Q. McNemar, Psychometrika 12 (1947); the exact form as `statsmodels.stats.contingency_tables.mcnemar(exact=True)`.
///
/// ```
/// let t = wardline_metrics::mcnemar_exact(2, 10);
/// assert!((t.p_value - 158.0 / 4096.0).abs() < 1e-15); // 2 · (1 + 12 + 66) / 2^12
/// assert_eq!(wardline_metrics::mcnemar_exact(0, 0).p_value, 1.0);
/// ```
#[must_use]
pub fn mcnemar_exact(only_first: u64, only_second: u64) -> McNemar {
    let k = only_first.min(only_second);
    let n = only_first.saturating_add(only_second);
    let p_value = if only_first == only_second { 1.0 } else { (2.0 * fair_coin_tail(k, n)).min(1.0) };
    McNemar { only_first, only_second, p_value }
}

/// P(X ≤ k) for X binomial (n, ½) and k < n / 2.
fn fair_coin_tail(k: u64, n: u64) -> f64 {
    if n > 10_000_000 {
        return half_integer_normal_tail(k, n);
    }
    // C(n, k) / 2^n as a product that stays near 1: the halvings are exact.
    let mut term = 1.0;
    let mut halvings = n;
    for i in 1..=k {
        term *= (n - k + i) as f64 / i as f64;
        while term >= 1.0 && halvings > 0 {
            term *= 0.5;
            halvings -= 1;
        }
    }
    // After 2,200 more nothing is left of any double.
    (0..halvings.min(2200)).for_each(|_| term *= 0.5);
    let mut sum = term;
    for i in (1..=k).rev() {
        term *= i as f64 / (n - i + 1) as f64;
        sum += term;
    }
    sum
}

/// [`mcnemar_exact`] of two outcomes for each row.
///
/// # Errors
/// The inputs differ in length.
///
/// ```
/// let t = wardline_metrics::mcnemar(&[true, true, true, false], &[true, false, false, false])?;
/// assert_eq!((t.only_first, t.only_second, t.p_value), (2, 0, 0.5));
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn mcnemar(first: &[bool], second: &[bool]) -> Result<McNemar, MetricsError> {
    check::same_length("second", first.len(), second.len())?;
    let only = |a: &[bool], b: &[bool]| a.iter().zip(b).filter(|(a, b)| **a && !**b).count() as u64;
    Ok(mcnemar_exact(only(first, second), only(second, first)))
}

/// Holm's step-down adjustment of a family of p-values, in the order given.
///
/// With the m p-values sorted ascending, the i-th (from 1) becomes the largest of (m − j + 1) · p₍ⱼ₎ over j ≤ i, at most 1.
/// Rejecting what is at or below α keeps the chance of any false rejection at or below α, whatever the dependence.
/// Tied p-values get the same adjusted value; an empty family gives an empty one.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979).
///
/// # Errors
/// A p-value outside 0..=1, or NaN.
///
/// ```
/// let adjusted = wardline_metrics::holm(&[0.01, 0.04, 0.03, 0.005])?;
/// assert_eq!(adjusted, [0.03, 0.06, 0.06, 0.02]);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, MetricsError> {
    for &p in p_values {
        check::unit_interval("p-value", p)?;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (done, &i) in order.iter().enumerate() {
        largest = largest.max(((p_values.len() - done) as f64 * p_values[i]).min(1.0));
        adjusted[i] = largest;
    }
    Ok(adjusted)
}

/// The normal approximation with continuity correction, for more discordant rows than any sum is worth.
fn half_integer_normal_tail(k: u64, n: u64) -> f64 {
    let (k, n) = (k as f64, n as f64);
    normal_cdf((k + 0.5 - n / 2.0) / (n.sqrt() / 2.0))
}
