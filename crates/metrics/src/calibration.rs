use crate::MetricsError;
use crate::curves::probabilities;

/// One bin of a reliability diagram.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ReliabilityBin {
    /// Lower edge; excluded, save that 0 belongs to the first bin.
    pub low: f64,
    /// Upper edge; included.
    pub high: f64,
    /// Rows in the bin.
    pub count: u64,
    /// Mean score of the rows; NaN in an empty bin.
    pub mean_score: f64,
    /// Share of positives among the rows; NaN in an empty bin.
    pub positive_share: f64,
}

/// How well scores read as probabilities.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Calibration {
    /// Expected calibration error: over the bins, the mean of |positive share − mean score|, weighted by rows. 0 is best.
    pub expected_error: f64,
    /// Maximum calibration error: the largest |positive share − mean score| of any bin.
    pub maximum_error: f64,
    /// The bins, ascending, empty ones included.
    pub bins: Vec<ReliabilityBin>,
}

/// Expected calibration error and its reliability bins: `bins` of equal width over 0..=1.
///
/// Bin i of B holds the scores in ((i − 1)/B, i/B]; 0 belongs to the first. The score is the probability of the positive class, so
/// a bin compares mean score and share of positives. A score on an edge goes to the lower bin. The figure depends on the number
/// of bins, and is biased upward when bins hold few rows. One class alone is fine.
///
/// Source: M. P. Naeini, G. F. Cooper, M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015;
/// the bins of C. Guo et al., "On calibration of modern neural networks", ICML 2017, and of scikit-learn's `calibration_curve`.
///
/// # Errors
/// No rows, inputs of different length, a score outside 0..=1, no bins or more than 1,000,000.
///
/// ```
/// let c = wardline_metrics::calibration(&[true, false, true, true], &[0.25, 0.25, 0.75, 1.0], 2)?;
/// assert_eq!(c.bins[0].positive_share, 0.5);
/// assert_eq!(c.expected_error, 0.5 * 0.25 + 0.5 * 0.125);
/// assert_eq!(c.maximum_error, 0.25);
/// # Ok::<(), wardline_metrics::MetricsError>(())
/// ```
pub fn calibration(labels: &[bool], scores: &[f64], bins: usize) -> Result<Calibration, MetricsError> {
    probabilities(labels, scores)?;
    if !(1..=1_000_000).contains(&bins) {
        return Err(MetricsError::OutOfRange { what: "number of bins", value: bins as f64, range: "1..=1000000" });
    }
    let edge = |i: usize| i as f64 / bins as f64;
    let mut sums = vec![(0_u64, 0.0, 0_u64); bins];
    for (&label, &p) in labels.iter().zip(scores) {
        // The product can round across an edge; the edge itself decides.
        let mut bin = ((p * bins as f64) as usize).min(bins - 1);
        if bin > 0 && p <= edge(bin) {
            bin -= 1;
        } else if bin + 1 < bins && p > edge(bin + 1) {
            bin += 1;
        }
        let (count, score, positives) = &mut sums[bin];
        *count += 1;
        *score += p;
        *positives += u64::from(label);
    }
    let bins: Vec<ReliabilityBin> = sums
        .iter()
        .enumerate()
        .map(|(i, &(count, score, positives))| ReliabilityBin {
            low: edge(i),
            high: edge(i + 1),
            count,
            mean_score: score / count as f64,
            positive_share: positives as f64 / count as f64,
        })
        .collect();
    let (mut expected_error, mut maximum_error) = (0.0, 0.0_f64);
    for bin in bins.iter().filter(|bin| bin.count > 0) {
        let error = (bin.positive_share - bin.mean_score).abs();
        expected_error += error * bin.count as f64 / labels.len() as f64;
        maximum_error = maximum_error.max(error);
    }
    Ok(Calibration { expected_error, maximum_error, bins })
}
