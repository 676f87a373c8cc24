use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wardline_metrics::{Calibration, Leakage};

use super::Settings;
use crate::{Coverage, Figure, Layout, Task};

/// The format of an analysis in JSON.
pub const ANALYSIS_SCHEMA: &str = "wardline-mail-analysis/1";

/// Everything that `analyze` finds. Field names are those of the JSON output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Analysis {
    /// [`ANALYSIS_SCHEMA`].
    pub schema: String,
    /// The version of the program.
    pub version: String,
    /// SHA-256 of the manifest.
    pub manifest_sha256: String,
    /// SHA-256 over id, role, source, authentication and group of every record of the population: results with the same signature
    /// were read from the same records.
    pub population_signature: String,
    /// What was asked for.
    pub settings: Settings,
    /// The records.
    pub population: Population,
    /// How far the halves of the split know each other.
    pub split: SplitAudit,
    /// What the reader must not miss.
    pub warnings: Vec<String>,
    /// One entry a detector.
    pub detectors: Vec<DetectorResult>,
    /// Every detector against the baseline, on the test half.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<Comparison>,
    /// Detectors on the canonical and on the naive view, whole population, as published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<ViewResult>,
    /// The same on the test half: what to read of a detector that was fitted to dev.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views_test: Vec<ViewResult>,
    /// The headline with scenario-level groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario_level: Option<Headline>,
}

impl Analysis {
    /// The results of a detector.
    #[must_use]
    pub fn detector(&self, name: &str) -> Option<&DetectorResult> {
        self.detectors.iter().find(|d| d.detector == name)
    }
}

/// Counts of records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Population {
    /// Records of the manifest.
    pub manifest: u64,
    /// Held out to the vision track: the text stands in a PDF.
    pub pdf_held_out: u64,
    /// Left out because a judge has no score for them.
    pub not_covered: u64,
    /// What is left.
    pub text_ids: u64,
    /// Records of the dev half.
    pub dev: u64,
    /// Records of the test half.
    pub test: u64,
    /// Positives and negatives by task.
    pub tasks: BTreeMap<Task, TaskCounts>,
    /// The parts of the published recipe: how many it has, and how many are here.
    pub recipe: Vec<RecipePart>,
}

/// Positives and negatives of a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCounts {
    /// Positives of the population.
    pub n_pos: u64,
    /// Negatives of the population.
    pub n_neg: u64,
    /// Positives of the test half.
    pub test_pos: u64,
    /// Negatives of the test half.
    pub test_neg: u64,
}

/// A part of the published recipe, or one of its counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecipePart {
    /// The part in words.
    pub part: String,
    /// Records of the full recipe.
    pub published: u64,
    /// Records here.
    pub here: u64,
}

/// Groups and rows that stand in both halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitAudit {
    /// By base payload: none, or the split would be refused.
    pub base_payload: Leakage,
    /// By base scenario: several payloads may come from one.
    pub base_scenario: Leakage,
}

/// One detector's results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DetectorResult {
    /// The detector.
    pub detector: String,
    /// Whether it is a judge.
    pub judge: bool,
    /// The one task that it is for, where its run says that it has no other; its figures on the other task enter no mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Task>,
    /// How its rows give scores.
    pub layout: Layout,
    /// SHA-256 of the predictions file; empty for an ensemble.
    pub predictions_sha256: String,
    /// Version, model and parameters as the run states them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub identity: BTreeMap<String, Value>,
    /// Whether the results come from a reference file and not from predictions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carried_forward: bool,
    /// What the reader must not miss.
    pub warnings: Vec<String>,
    /// Latency and cost.
    pub cost: Cost,
    /// Results by task.
    pub tasks: BTreeMap<Task, TaskResult>,
    /// Policies with a threshold of their own for verified senders, on the injection task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_tier: Option<TierResult>,
}

impl DetectorResult {
    /// Whether the detector is for the task, as far as its run says.
    #[must_use]
    pub fn is_for(&self, task: Task) -> bool {
        self.only.is_none_or(|only| only == task)
    }

    /// The name in tables, which says when the results were not computed here.
    pub(crate) fn shown(&self) -> String {
        let mark = if self.carried_forward { " (carried forward)" } else { "" };
        format!("{}{mark}", self.detector)
    }
}

/// What a detector's answers take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Cost {
    /// Median latency in milliseconds.
    pub latency_ms_p50: Option<f64>,
    /// 95th percentile of the latency in milliseconds.
    pub latency_ms_p95: Option<f64>,
    /// Requests put.
    pub requests: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens answered.
    pub output_tokens: u64,
    /// Dollars for 1,000 messages, where a price was given.
    pub dollars_per_1000: Option<f64>,
}

/// A detector's results on one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskResult {
    /// Scores of the population: how many, and why not all.
    pub coverage: Coverage,
    /// On the test half.
    pub test: Points,
    /// On the whole population.
    pub whole: Points,
    /// The threshold of most dev recall within the target, read once on test; for judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_tuned: Option<Tuned>,
    /// How well scores read as probabilities, on the test half.
    pub calibration: Option<Calibrated>,
    /// By surface, source, era, sender authentication: whole population.
    pub slices: Vec<Slices>,
}

/// Areas and operating points on one set of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Points {
    /// Positives with a score.
    pub n_pos: u64,
    /// Negatives with a score.
    pub n_neg: u64,
    /// Positives without.
    pub missing_pos: u64,
    /// Negatives without.
    pub missing_neg: u64,
    /// Area under the ROC curve.
    pub auc: Figure,
    /// Average precision.
    pub average_precision: Figure,
    /// Recall of scores strictly above the k-th highest negative, k = ⌊target × negatives⌋.
    pub tpr_at_target_fpr: Figure,
    /// The false-positive rate that the attainable threshold realises.
    pub realised_fpr: Option<f64>,
    /// The lowest score that is flagged at the target.
    pub attainable_threshold: Option<f64>,
    /// Recall at the threshold.
    pub recall: Figure,
    /// False-positive rate at the threshold.
    pub fpr: Figure,
    /// Precision at the threshold.
    pub precision: Figure,
}

/// A threshold from the dev half and what it does on test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// The threshold; `None` when nothing can be flagged within the target.
    pub threshold: Option<f64>,
    /// Recall on dev.
    pub dev_recall: Option<f64>,
    /// False-positive rate on dev.
    pub dev_fpr: Option<f64>,
    /// Recall on test.
    pub recall: Figure,
    /// False-positive rate on test.
    pub fpr: Figure,
}

/// Calibration with its proper score. Undefined numbers of empty bins are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Calibrated {
    /// Expected calibration error over ten bins.
    pub expected_error: f64,
    /// Largest error of a bin.
    pub maximum_error: f64,
    /// Brier score.
    pub brier: f64,
    /// Bins with rows: lower edge, upper edge, rows, mean score, share of positives.
    pub bins: Vec<(f64, f64, u64, f64, f64)>,
}

impl Calibrated {
    pub(crate) fn new(calibration: &Calibration, brier: f64) -> Self {
        let filled = calibration.bins.iter().filter(|b| b.count > 0);
        Self {
            expected_error: calibration.expected_error,
            maximum_error: calibration.maximum_error,
            brier,
            bins: filled.map(|b| (b.low, b.high, b.count, b.mean_score, b.positive_share)).collect(),
        }
    }
}

/// The population by one property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slices {
    /// The property: `surface`, `source`, `era`, `sender_auth`.
    pub by: String,
    /// One entry a value.
    pub slices: Vec<Slice>,
}

/// Rows that share a property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Slice {
    /// The value of the property.
    pub name: String,
    /// Positives with a score.
    pub n_pos: u64,
    /// Negatives with a score.
    pub n_neg: u64,
    /// Fewer than 30 rows of a class that has any.
    pub few: bool,
    /// Area under the ROC curve of the slice's positives against its negatives; by surface and source, against all negatives.
    pub auc: Option<f64>,
    /// Recall at the target, of the same rows as the area.
    pub tpr_at_target_fpr: Option<f64>,
    /// Recall at the threshold.
    pub recall: Figure,
    /// False-positive rate at the threshold.
    pub fpr: Figure,
}

/// Policies tuned on dev by sweeps of the published grid, read once on test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TierResult {
    /// Recall on dev of the two thresholds.
    pub dev_recall: f64,
    /// Threshold for verified senders.
    pub t_verified: f64,
    /// Threshold for the rest.
    pub t_other: f64,
    /// Recall on test.
    pub test_recall: Option<f64>,
    /// False-positive rate on test.
    pub test_fpr: Option<f64>,
    /// The single threshold of the same sweep.
    pub single_threshold: f64,
    /// Its recall on test.
    pub single_test_recall: Option<f64>,
    /// Its false-positive rate on test.
    pub single_test_fpr: Option<f64>,
}

/// A detector against the baseline, `detector − baseline`, on the test rows that both score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The task.
    pub task: Task,
    /// The detector.
    pub detector: String,
    /// The baseline.
    pub baseline: String,
    /// Rows that both score.
    pub rows: u64,
    /// Area under the ROC curve.
    pub auc: Difference,
    /// Recall at the target.
    pub tpr_at_target_fpr: Difference,
    /// Recall at the threshold.
    pub recall: Difference,
    /// False-positive rate at the threshold.
    pub fpr: Difference,
}

/// A paired difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Difference {
    /// The difference and its interval.
    pub difference: Figure,
    /// Two-sided p-value of no difference; `None` where it is undefined.
    pub p: Option<f64>,
    /// Adjusted after Holm over the detectors compared on this task by this measure.
    pub p_holm: Option<f64>,
}

/// A detector on two views of the same messages: injection task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ViewResult {
    /// The detector.
    pub detector: String,
    /// On canonical segments.
    pub canonical: Points,
    /// On the naive view.
    pub naive: Points,
    /// SHA-256 of the predictions file on the naive view.
    #[serde(default)]
    pub naive_sha256: String,
    /// Recall at the threshold on the canonical view minus that on the naive view: what structure alone costs.
    pub recall_lost: Figure,
    /// Positives flagged on the canonical view alone, and on the naive view alone.
    #[serde(default)]
    pub only_one: (u64, u64),
    /// The same by surface.
    pub surfaces: Vec<ViewSlice>,
}

/// One surface of a [`ViewResult`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ViewSlice {
    /// The surface.
    pub name: String,
    /// Positives that both views score.
    pub n_pos: u64,
    /// Recall on canonical segments.
    pub canonical: Figure,
    /// Recall on the naive view.
    pub naive: Figure,
    /// The difference, paired.
    pub recall_lost: Figure,
    /// Positives flagged on the canonical view alone, and on the naive view alone.
    #[serde(default)]
    pub only_one: (u64, u64),
}

/// The headline under another grouping: its own split, its own intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Headline {
    /// Records of the dev half.
    pub dev: u64,
    /// Records of the test half.
    pub test: u64,
    /// Test results by task and detector.
    pub tasks: BTreeMap<Task, BTreeMap<String, Points>>,
}
