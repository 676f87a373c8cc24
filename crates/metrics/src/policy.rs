use crate::operating_point::ordered;
use crate::{MetricsError, OperatingPoint, Ranked, check};

/// Candidate thresholds for a sweep: the distinct scores rounded to `decimals` places, ascending, of which every `step`-th is kept,
/// counted from the lowest; and `above`, a threshold that flags nothing.
///
/// The published two-tier sweep has `decimals` 3, `step` 4 and `above` 1.1. Rounding is to the nearest decimal of the score's exact
/// value (ties to even), as Python's `round` has it. A rounded threshold can lie above the score it came from, which it then
/// does not flag.
///
/// # Errors
/// A score that is not finite, a step of 0, a threshold `above` that is NaN.
///
/// ```
/// let grid = wardline_metrics::score_grid(&[0.9994, 0.2, 0.9996, 0.5, 0.2, 0.7, 0.8], 3, 4, 1.1)?;
/// assert_eq!(grid, [0.2, 0.999, 1.1]);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn score_grid(scores: &[f64], decimals: u8, step: usize, above: f64) -> Result<Vec<f64>, MetricsError> {
    check::finite("score", scores)?;
    ordered(&[above])?;
    if step == 0 {
        return Err(MetricsError::OutOfRange { what: "step", value: 0.0, range: "1.." });
    }
    let mut rounded: Vec<f64> = scores.iter().map(|&score| round(score, decimals)).collect();
    rounded.sort_unstable_by(f64::total_cmp);
    rounded.dedup();
    let mut grid: Vec<f64> = rounded.into_iter().step_by(step).collect();
    if !grid.contains(&above) {
        grid.push(above);
    }
    grid.sort_unstable_by(f64::total_cmp);
    Ok(grid)
}

/// The double nearest to the decimal nearest to `value`.
fn round(value: f64, decimals: u8) -> f64 {
    // The text of a finite number is one.
    format!("{value:.*}", usize::from(decimals)).parse::<f64>().map_or(value, |rounded| rounded + 0.0)
}

/// Two thresholds, one for verified senders and one for the rest, and what they yield together.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TwoTier {
    /// Threshold of the first tier (verified).
    pub verified: f64,
    /// Threshold of the other rows.
    pub other: f64,
    /// Recall over all positives.
    pub tpr: f64,
    /// False-positive rate over all negatives.
    pub fpr: f64,
}

/// A tier's scores, for reading counts at a threshold.
struct Tier(Option<Ranked>);

impl Tier {
    fn new(labels: &[bool], scores: &[f64], rows: impl Fn(usize) -> bool) -> Result<Self, MetricsError> {
        let kept: Vec<usize> = (0..labels.len()).filter(|&row| rows(row)).collect();
        if kept.is_empty() {
            return Ok(Self(None));
        }
        let labels: Vec<bool> = kept.iter().map(|&row| labels[row]).collect();
        let scores: Vec<f64> = kept.iter().map(|&row| scores[row]).collect();
        Ranked::new(&labels, &scores).map(|ranked| Self(Some(ranked)))
    }

    /// Candidates in ascending order, each with true and false positives.
    fn sweep(&self, candidates: &[f64]) -> Vec<(f64, (f64, f64))> {
        let mut ascending = candidates.to_vec();
        ascending.sort_unstable_by(f64::total_cmp);
        ascending.into_iter().map(|t| (t, self.flagged(t))).collect()
    }

    /// True and false positives at a threshold.
    fn flagged(&self, threshold: f64) -> (f64, f64) {
        let Some(ranked) = &self.0 else { return (0.0, 0.0) };
        match ranked.thresholds.partition_point(|&t| t >= threshold) {
            0 => (0.0, 0.0),
            n => (ranked.true_positives[n - 1], ranked.false_positives[n - 1]),
        }
    }
}

/// The rows of a policy with one threshold for verified senders and another for the rest.
///
/// ```
/// use wardline_metrics::{two_tier_sweep, TwoTierRows};
/// let rows = TwoTierRows {
///     labels: &[true, true, false, true, false],
///     scores: &[0.9, 0.6, 0.7, 0.4, 0.2],
///     verified: &[true, true, true, false, false],
/// };
/// // Verified senders need 0.8 to keep their false alarm out; the rest can go down to 0.3.
/// let tuned = two_tier_sweep(&rows, &[0.5, 0.8], &[0.3, 0.5], 0.0)?.expect("a pair within the bound");
/// assert_eq!((tuned.verified, tuned.other, tuned.tpr, tuned.fpr), (0.8, 0.3, 2.0 / 3.0, 0.0));
/// assert_eq!(rows.at(tuned.verified, tuned.other)?, tuned);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TwoTierRows<'a> {
    /// Labels, true for the positive class.
    pub labels: &'a [bool],
    /// Scores; rows at or above their tier's threshold are flagged.
    pub scores: &'a [f64],
    /// Whether the row belongs to the first tier.
    pub verified: &'a [bool],
}

impl TwoTierRows<'_> {
    fn tiers(&self) -> Result<(Tier, Tier, f64, f64), MetricsError> {
        check::scored(self.labels, self.scores)?;
        check::same_length("tiers", self.labels.len(), self.verified.len())?;
        let verified = Tier::new(self.labels, self.scores, |row| self.verified[row])?;
        let other = Tier::new(self.labels, self.scores, |row| !self.verified[row])?;
        let positives = self.labels.iter().filter(|&&label| label).count();
        Ok((verified, other, positives as f64, (self.labels.len() - positives) as f64))
    }

    /// What a pair of thresholds yields on these rows; a rate over a class with no rows is NaN.
    ///
    /// # Errors
    /// No rows, inputs of different length, a score that is not finite, a threshold that is NaN.
    pub fn at(&self, verified: f64, other: f64) -> Result<TwoTier, MetricsError> {
        ordered(&[verified, other])?;
        let (first, second, positives, negatives) = self.tiers()?;
        let ((tp, fp), (tp_other, fp_other)) = (first.flagged(verified), second.flagged(other));
        Ok(TwoTier { verified, other, tpr: (tp + tp_other) / positives, fpr: (fp + fp_other) / negatives })
    }
}

/// The pair of thresholds that maximises recall over all positives, among pairs whose false-positive rate over all negatives is at
/// or below a bound.
///
/// Each tier has candidates of its own (see [`score_grid`]). The published figures fit grids of each tier's own scores, and no single
/// grid with one rule for ties (a tier's threshold that the single sweep also had was passed over). Of pairs with the same recall
/// the one with the lowest first threshold is taken, then the one with the lowest second.
/// `None` when no pair is within the bound or a class has no rows.
///
/// # Errors
/// No rows, inputs of different length, a score that is not finite, a candidate that is NaN, a bound outside 0..=1.
pub fn two_tier_sweep(
    rows: &TwoTierRows<'_>,
    verified: &[f64],
    other: &[f64],
    max_fpr: f64,
) -> Result<Option<TwoTier>, MetricsError> {
    check::unit_interval("largest false-positive rate", max_fpr)?;
    let (first, second, positives, negatives) = rows.tiers()?;
    if positives == 0.0 || negatives == 0.0 {
        return Ok(None);
    }
    ordered(verified)?;
    ordered(other)?;
    let (verified, other) = (first.sweep(verified), second.sweep(other));
    let mut best: Option<(f64, TwoTier)> = None;
    for &(first, (tp, fp)) in &verified {
        // False positives fall as the second threshold rises, and so do true positives: the lowest one within the bound is best.
        let lowest = other.partition_point(|&(_, (_, fp_other))| (fp + fp_other) / negatives > max_fpr);
        let Some(&(second, (tp_other, fp_other))) = other.get(lowest) else { continue };
        let found = tp + tp_other;
        if best.is_none_or(|(most, _)| found > most) {
            let pair =
                TwoTier { verified: first, other: second, tpr: found / positives, fpr: (fp + fp_other) / negatives };
            best = Some((found, pair));
        }
    }
    Ok(best.map(|(_, pair)| pair))
}

/// The single threshold of the same sweep, for comparison: [`Ranked::tune_over`] on a grid of all scores.
///
/// # Errors
/// As [`Ranked::tune_over`] and [`Ranked::new`].
///
/// ```
/// use wardline_metrics::{TwoTierRows, single_tier_sweep};
/// let rows = TwoTierRows { labels: &[true, false], scores: &[0.9, 0.2], verified: &[true, false] };
/// assert_eq!(single_tier_sweep(&rows, &[0.1, 0.5, 1.1], 0.0)?.map(|p| p.threshold), Some(0.5));
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn single_tier_sweep(
    rows: &TwoTierRows<'_>,
    candidates: &[f64],
    max_fpr: f64,
) -> Result<Option<OperatingPoint>, MetricsError> {
    Ranked::new(rows.labels, rows.scores)?.tune_over(candidates, max_fpr)
}
