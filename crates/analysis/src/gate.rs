use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use wardline_metrics::{Design, Half, Measure, TprEstimator};

use crate::analyze::Prepared;
use crate::{AnalysisError, Figure, Task};

/// What a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GateMeasure {
    /// `auc`.
    Auc,
    /// `ap`: average precision.
    AveragePrecision,
    /// `tpr@1%fpr`: recall at a target false-positive rate.
    TprAtFpr(f64),
    /// `recall@.35`.
    Recall(f64),
    /// `fpr@.35`.
    Fpr(f64),
    /// `precision@.35`.
    Precision(f64),
}

impl GateMeasure {
    fn measure(self) -> Measure {
        match self {
            Self::Auc => Measure::RocAuc,
            Self::AveragePrecision => Measure::AveragePrecision,
            Self::TprAtFpr(target) => Measure::TprAtFpr { target, estimator: TprEstimator::Analyze },
            Self::Recall(threshold) => Measure::Recall { threshold },
            Self::Fpr(threshold) => Measure::Fpr { threshold },
            Self::Precision(threshold) => Measure::Precision { threshold },
        }
    }
}

impl fmt::Display for GateMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auc => f.write_str("auc"),
            Self::AveragePrecision => f.write_str("ap"),
            Self::TprAtFpr(target) => write!(f, "tpr@{}%fpr", target * 100.0),
            Self::Recall(t) => write!(f, "recall@{t}"),
            Self::Fpr(t) => write!(f, "fpr@{t}"),
            Self::Precision(t) => write!(f, "precision@{t}"),
        }
    }
}

/// A measure and the value that it must reach or stay under: `tpr@1%fpr=.8`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Condition {
    /// What is measured.
    pub measure: GateMeasure,
    /// The value, in 0..=1.
    pub value: f64,
}

impl FromStr for Condition {
    type Err = AnalysisError;

    /// ```
    /// use wardline_analysis::{Condition, GateMeasure};
    /// let condition: Condition = "tpr@1%fpr=.8".parse()?;
    /// assert_eq!((condition.measure, condition.value), (GateMeasure::TprAtFpr(0.01), 0.8));
    /// assert!("tpr@1%=.8".parse::<Condition>().is_err());
    /// # Ok::<(), wardline_analysis::AnalysisError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, AnalysisError> {
        let wrong = || {
            AnalysisError::Request(format!(
                "{text:?} is no condition: auc=V, ap=V, tpr@P%fpr=V, recall@T=V, fpr@T=V or precision@T=V, with V and T between 0 and 1"
            ))
        };
        let rate = |text: &str| text.parse::<f64>().ok().filter(|v| (0.0..=1.0).contains(v)).ok_or_else(wrong);
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let (name, at) = name.split_once('@').map_or((name, None), |(name, at)| (name, Some(at)));
        let measure = match (name, at) {
            ("auc", None) => GateMeasure::Auc,
            ("ap", None) => GateMeasure::AveragePrecision,
            ("tpr", Some(at)) => {
                let percent = at.strip_suffix("%fpr").and_then(|p| p.parse::<f64>().ok()).ok_or_else(wrong)?;
                // Half a percent is .005, and no digit more: through the decimal text, not through a product.
                let target = format!("{percent}e-2").parse::<f64>().map_err(|_| wrong())?;
                GateMeasure::TprAtFpr(Some(target).filter(|t| *t > 0.0 && *t <= 1.0).ok_or_else(wrong)?)
            }
            ("recall", Some(at)) => GateMeasure::Recall(rate(at)?),
            ("fpr", Some(at)) => GateMeasure::Fpr(rate(at)?),
            ("precision", Some(at)) => GateMeasure::Precision(rate(at)?),
            _ => return Err(wrong()),
        };
        Ok(Self { measure, value: rate(value)? })
    }
}

/// Whether a condition is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval lies on the right side of the value.
    Met,
    /// The whole interval lies on the wrong side.
    NotMet,
    /// The value lies within the interval, or the measure is undefined: there are too few samples to say.
    TooFew,
}

/// A condition with what was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GateResult {
    /// The measure, as it is written on the command line.
    pub measure: String,
    /// `min` or `max`.
    pub bound: &'static str,
    /// The value of the condition.
    pub value: f64,
    /// What was found; missing scores count against the detector.
    pub found: Figure,
    /// Positives and negatives that it rests on.
    pub rows: (u64, u64),
    /// Rows without a score.
    pub missing: u64,
    /// The decision.
    pub verdict: Verdict,
}

/// The rows that a gate is decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GateRows {
    /// The whole population.
    #[default]
    Whole,
    /// The test half.
    Test,
}

impl Prepared<'_> {
    /// Decides conditions on the bounds of intervals. Scores that are missing count against the detector, a judge's too when the run
    /// was prepared with [`Prepared::of_all_records`]. A recall at a target false-positive rate is undefined with fewer negatives
    /// than the target needs for one false alarm.
    ///
    /// # Errors
    /// An unknown detector, or the statistics refuse their input.
    pub fn gate(
        &self,
        detector: &str,
        task: Task,
        rows: GateRows,
        min: &[Condition],
        max: &[Condition],
    ) -> Result<Vec<GateResult>, AnalysisError> {
        let column = self
            .column(detector)
            .ok_or_else(|| AnalysisError::Request(format!("no predictions of detector {detector:?}")))?;
        let sample = self.sample_against(column, task, |half| rows == GateRows::Whole || half == Half::Test);
        let all: Vec<(&Condition, bool)> =
            min.iter().map(|c| (c, true)).chain(max.iter().map(|c| (c, false))).collect();
        let measures: Vec<Measure> = all.iter().map(|(c, _)| c.measure.measure()).collect();
        let figures: Vec<Figure> = if sample.labels.is_empty() {
            vec![Figure::default(); all.len()]
        } else {
            let design = Design::clusters(&sample.groups).map_err(AnalysisError::metrics(detector))?;
            self.settings()
                .bootstrap(&format!("{task}/gate"), detector)
                .measures(&design, &sample.labels, &sample.scores, &measures)
                .map_err(AnalysisError::metrics(detector))?
                .into_iter()
                .map(Figure::from)
                .collect()
        };
        let too_few =
            |measure| matches!(measure, GateMeasure::TprAtFpr(target) if target * (sample.negatives() as f64) < 1.0);
        let results = all.into_iter().zip(figures).map(|((condition, at_least), found)| {
            let found = if too_few(condition.measure) { Figure::default() } else { found };
            GateResult {
                measure: condition.measure.to_string(),
                bound: if at_least { "min" } else { "max" },
                value: condition.value,
                found,
                rows: (sample.positives(), sample.negatives()),
                missing: sample.missing_pos + sample.missing_neg,
                verdict: decide(&found, condition.value, at_least),
            }
        });
        Ok(results.collect())
    }
}

fn decide(found: &Figure, value: f64, at_least: bool) -> Verdict {
    let Some(interval) = found.interval else { return Verdict::TooFew };
    let (near, far) = if at_least { (interval.low, interval.high) } else { (-interval.high, -interval.low) };
    let value = if at_least { value } else { -value };
    match (near >= value, far < value) {
        (true, _) => Verdict::Met,
        (false, true) => Verdict::NotMet,
        (false, false) => Verdict::TooFew,
    }
}

#[cfg(test)]
mod tests {
    use wardline_metrics::{Interval, IntervalKind};

    use super::*;

    #[test]
    fn decisions_rest_on_the_bound() {
        let found = Figure::with_interval(0.85, Some(Interval { low: 0.8, high: 0.9 }), IntervalKind::Percentile);
        for (value, min, max) in [
            (0.79, Verdict::Met, Verdict::NotMet),
            (0.8, Verdict::Met, Verdict::TooFew),
            (0.85, Verdict::TooFew, Verdict::TooFew),
            (0.9, Verdict::TooFew, Verdict::Met),
            (0.91, Verdict::NotMet, Verdict::Met),
        ] {
            assert_eq!((decide(&found, value, true), decide(&found, value, false)), (min, max), "{value}");
        }
        assert_eq!(decide(&Figure::default(), 0.0, true), Verdict::TooFew);
    }

    #[test]
    fn conditions() {
        for (text, measure) in [
            ("auc=.9", GateMeasure::Auc),
            ("tpr@0.1%fpr=.9", GateMeasure::TprAtFpr(0.001)),
            ("tpr@.5%fpr=.9", GateMeasure::TprAtFpr(0.005)),
            ("fpr@.35=.9", GateMeasure::Fpr(0.35)),
        ] {
            assert_eq!(text.parse::<Condition>().unwrap().measure, measure, "{text}");
        }
        for text in [
            "",
            "auc",
            "auc=",
            "auc=1.1",
            "auc=NaN",
            "auc@.3=.5",
            "recall=.5",
            "tpr@0%fpr=.5",
            "tpr@101%fpr=.5",
            "f1@.3=.1",
        ] {
            let error = text.parse::<Condition>().unwrap_err().to_string();
            assert!(error.contains("is no condition"), "{text}: {error}");
        }
    }
}
