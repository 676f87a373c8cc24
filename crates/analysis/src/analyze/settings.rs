use serde::{Deserialize, Serialize};
use wardline_metrics::{Bootstrap, BootstrapInterval, Stream};

use crate::AnalysisError;

/// How intervals are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IntervalMethod {
    /// Percentiles of the replicates, as published, with a closed form where the replicates do not differ.
    #[default]
    Percentile,
    /// Student's t with the standard deviation of the replicates, corrected for few groups.
    StudentT,
    /// Bias-corrected and accelerated.
    Bca,
    /// Bare percentiles over numpy's random stream, the same for every cell: for checking published intervals.
    Numpy,
}

/// What rows a split keeps together and a replicate draws together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// `base_payload_id`, else the id: as published.
    #[default]
    BasePayloadId,
    /// `base_scenario_id`, else the base payload, else the id.
    BaseScenarioId,
}

/// The mean score of several detectors, over the records that all of them cover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ensemble {
    /// The name in the tables.
    pub name: String,
    /// The detectors.
    pub members: Vec<String>,
}

/// What an analysis is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Scores at or above it are flagged.
    pub threshold: f64,
    /// The false-positive rate that a gateway can live with.
    pub target_fpr: f64,
    /// Bootstrap replicates.
    pub replicates: usize,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Seed of the random streams.
    pub seed: u64,
    /// How intervals are made.
    pub interval: IntervalMethod,
    /// Whether the headline is computed with scenario-level groups too, beside the published payload-level ones.
    pub scenario_level: bool,
    /// The detector that every other one is compared with.
    pub baseline: Option<String>,
    /// Ensembles to add as detectors.
    pub ensembles: Vec<Ensemble>,
    /// Dollars per million tokens sent and answered, by detector.
    pub prices: std::collections::BTreeMap<String, (f64, f64)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threshold: 0.35,
            target_fpr: 0.01,
            replicates: 1000,
            confidence: 0.95,
            seed: 0,
            interval: IntervalMethod::default(),
            scenario_level: false,
            baseline: None,
            ensembles: Vec::new(),
            prices: std::collections::BTreeMap::new(),
        }
    }
}

impl Settings {
    pub(crate) fn check(&self) -> Result<(), AnalysisError> {
        let rate = |v: f64| (0.0..=1.0).contains(&v);
        let wrong = |what: &str, range: &str| Err(AnalysisError::Request(format!("{what} is not {range}")));
        if !rate(self.threshold) {
            return wrong("the threshold", "between 0 and 1");
        }
        if !(rate(self.target_fpr) && self.target_fpr > 0.0) {
            return wrong("the target false-positive rate", "above 0 and at most 1");
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return wrong("the confidence", "between 0 and 1");
        }
        if self.replicates < 2 {
            return wrong("the number of replicates", "2 or more");
        }
        if self.prices.values().any(|(a, b)| !(a.is_finite() && b.is_finite() && *a >= 0.0 && *b >= 0.0)) {
            return wrong("a price", "a number from 0 up");
        }
        Ok(())
    }

    /// The bootstrap of one row of a table; its stream depends on nothing but the seed and the names.
    pub(crate) fn bootstrap(&self, table: &str, row: &str) -> Bootstrap {
        let (stream, interval) = match self.interval {
            IntervalMethod::Numpy => (Stream::numpy(self.seed), BootstrapInterval::Percentile),
            IntervalMethod::Percentile => (Stream::new(self.seed, table, row), BootstrapInterval::Percentile),
            IntervalMethod::StudentT => (Stream::new(self.seed, table, row), BootstrapInterval::StudentT),
            IntervalMethod::Bca => (Stream::new(self.seed, table, row), BootstrapInterval::Bca),
        };
        Bootstrap::new(stream).replicates(self.replicates).confidence(self.confidence).interval(interval)
    }
}
