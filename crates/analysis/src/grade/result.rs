use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wardline_metrics::Confusion;

use crate::{Cost, Coverage, Figure, Layout, Task};

/// The format of a grade in JSON.
pub const GRADE_SCHEMA: &str = "wardline-mail-grade/1";

/// The grades of a run's detectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grade {
    /// [`GRADE_SCHEMA`].
    pub schema: String,
    /// The version of the program.
    pub version: String,
    /// SHA-256 of the manifest.
    pub manifest_sha256: String,
    /// Scores at or above it are flagged.
    pub threshold: f64,
    /// What the reader must not miss.
    pub warnings: Vec<String>,
    /// One entry a detector.
    pub detectors: Vec<Graded>,
}

/// One detector's grade, over every record of the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Graded {
    /// The detector.
    pub detector: String,
    /// How its rows give scores.
    pub layout: Layout,
    /// SHA-256 of the predictions file.
    pub predictions_sha256: String,
    /// What the reader must not miss.
    pub warnings: Vec<String>,
    /// Latency and usage.
    pub cost: Cost,
    /// Results by task.
    pub tasks: BTreeMap<Task, GradedTask>,
    /// Share of the phishing task's positives that the injection score flags.
    pub cross_fire_on_phishing: Figure,
}

/// A detector's grade on one task. Rows count as independent in the intervals: `analyze` knows the groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GradedTask {
    /// How many records have a score, and why the others have none.
    pub coverage: Coverage,
    /// Positives with a score.
    pub n_pos: u64,
    /// Negatives with a score.
    pub n_neg: u64,
    /// Positives without.
    pub missing_pos: u64,
    /// Negatives without.
    pub missing_neg: u64,
    /// Counts at the threshold.
    pub confusion: Confusion,
    /// TP / (TP + FP).
    pub precision: Figure,
    /// TP / positives.
    pub recall: Figure,
    /// Harmonic mean of precision and recall.
    pub f1: Figure,
    /// FP / negatives.
    pub fpr: Figure,
    /// Area under the ROC curve.
    pub roc_auc: Figure,
    /// Average precision.
    pub pr_auc: Figure,
    /// Recall at the highest ROC point with a false-positive rate of at most 1 %; undefined below 100 negatives.
    pub tpr_at_1pct_fpr: Figure,
    /// The false-positive rate that this point realises.
    pub realised_fpr_1pct: Option<f64>,
    /// Its threshold.
    pub threshold_1pct: Option<f64>,
    /// The same at .1 %; undefined below 1,000 negatives.
    pub tpr_at_01pct_fpr: Figure,
    /// The false-positive rate that this point realises.
    pub realised_fpr_01pct: Option<f64>,
    /// By surface, threat type, split and sender authentication.
    pub slices: Vec<GradedSlice>,
}

/// Records that share a property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GradedSlice {
    /// The property.
    pub by: String,
    /// Its value.
    pub name: String,
    /// Positives with a score.
    pub n_pos: u64,
    /// Negatives with a score.
    pub n_neg: u64,
    /// Fewer than 30 rows of a class that has any.
    pub few: bool,
    /// Recall at the threshold.
    pub recall: Figure,
    /// False-positive rate at the threshold.
    pub fpr: Figure,
}
