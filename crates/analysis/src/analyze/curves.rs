use wardline_metrics::{Half, Ranked};

use super::Prepared;
use crate::{AnalysisError, Task};

/// Bins of a score histogram.
const BINS: usize = 20;

/// What the plots of one task are drawn from: the test half.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TaskCurves {
    /// The task.
    pub task: Task,
    /// One entry a detector.
    pub detectors: Vec<DetectorCurves>,
}

/// One detector's curves.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DetectorCurves {
    /// The detector.
    pub detector: String,
    /// False-positive rate and recall, from (0, 0) to (1, 1).
    pub roc: Vec<(f64, f64)>,
    /// Recall and precision.
    pub precision_recall: Vec<(f64, f64)>,
    /// Threshold, recall and false-positive rate.
    pub thresholds: Vec<(f64, f64, f64)>,
    /// Positives by score, in 20 bins.
    pub positives: Vec<u64>,
    /// Negatives by score.
    pub negatives: Vec<u64>,
}

impl Prepared<'_> {
    /// The curves of every detector that has scores of both classes.
    ///
    /// # Errors
    /// The statistics refuse their input.
    pub fn curves(&self) -> Result<Vec<TaskCurves>, AnalysisError> {
        Task::PUBLISHED.into_iter().map(|task| self.task_curves(task)).collect()
    }

    fn task_curves(&self, task: Task) -> Result<TaskCurves, AnalysisError> {
        let mut detectors = Vec::new();
        for column in &self.columns {
            let test = self.half(column, task, Half::Test);
            if test.positives() == 0 || test.negatives() == 0 {
                continue;
            }
            let ranked = Ranked::new(&test.labels, &test.scores)
                .map_err(AnalysisError::metrics(format!("{}, curves", column.detector)))?;
            let roc = ranked.roc_curve(true);
            let pr = ranked.precision_recall_curve();
            let at = |i: u32| f64::from(i) / 100.0;
            let histogram = |label: bool| {
                let mut bins = vec![0; BINS];
                for (_, score) in test.labels.iter().zip(&test.scores).filter(|(l, _)| **l == label) {
                    bins[((score * BINS as f64) as usize).min(BINS - 1)] += 1;
                }
                bins
            };
            detectors.push(DetectorCurves {
                detector: column.detector.clone(),
                roc: roc.fpr.into_iter().zip(roc.tpr).collect(),
                precision_recall: pr.recall.into_iter().zip(pr.precision).collect(),
                thresholds: (0..=100)
                    .map(|i| {
                        let point = ranked.at_threshold(at(i));
                        (at(i), point.tpr, point.fpr)
                    })
                    .collect(),
                positives: histogram(true),
                negatives: histogram(false),
            });
        }
        Ok(TaskCurves { task, detectors })
    }
}
