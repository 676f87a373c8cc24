use crate::{MetricsError, check};

/// The quantile of sorted values; the caller has checked that there is at least one and that `q` is in 0..=1.
pub(crate) fn of_sorted(sorted: &[f64], q: f64) -> f64 {
    let position = (sorted.len() - 1) as f64 * q;
    let below = position.floor();
    let (i, t) = (below as usize, position - below);
    let (a, b) = (sorted[i], sorted[(i + 1).min(sorted.len() - 1)]);
    // numpy interpolates from the nearer end, so that the result never leaves a..=b.
    if (b - a).is_infinite() {
        a * (1.0 - t) + b * t
    } else if t < 0.5 {
        a + (b - a) * t
    } else {
        b - (b - a) * (1.0 - t)
    }
}

/// The quantile of `values` at `q`, by linear interpolation between order statistics.
///
/// With the n values sorted and counted from 0, the quantile stands at position (n − 1) · q; between two order statistics it is
/// interpolated linearly. This is definition 7 of Hyndman and Fan, numpy's default (`method="linear"`). One value is its own
/// quantile at every `q`.
///
/// Source: R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996).
///
/// # Errors
/// No values, a value that is not finite, `q` outside 0..=1.
///
/// ```
/// assert_eq!(wardline_metrics::quantile(&[4.0, 1.0, 3.0, 2.0], 0.25)?, 1.75);
/// assert_eq!(wardline_metrics::quantile(&[7.0], 0.9)?, 7.0);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn quantile(values: &[f64], q: f64) -> Result<f64, MetricsError> {
    Ok(quantiles(values, &[q])?[0])
}

/// [`quantile`] at several points, with one sort.
///
/// # Errors
/// No values, a value that is not finite, a point outside 0..=1.
///
/// ```
/// assert_eq!(wardline_metrics::quantiles(&[4.0, 1.0, 3.0, 2.0], &[0.0, 0.5, 1.0])?, [1.0, 2.5, 4.0]);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn quantiles(values: &[f64], points: &[f64]) -> Result<Vec<f64>, MetricsError> {
    if values.is_empty() {
        return Err(MetricsError::Empty);
    }
    check::finite("value", values)?;
    for &q in points {
        check::unit_interval("quantile", q)?;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Ok(points.iter().map(|&q| of_sorted(&sorted, q)).collect())
}
