use std::collections::BTreeMap;

use wardline_metrics::{Half, Ranked, brier_score, calibration, quantiles};

use super::Prepared;
use super::result::{Calibrated, Cost, DetectorResult, TaskResult, Tuned};
use super::sample::Sample;
use super::settings::IntervalMethod;
use crate::figure::defined;
use crate::{AnalysisError, Column, Figure, Layout, Task};

/// Bins of the reliability diagram.
const BINS: usize = 10;

impl Prepared<'_> {
    pub(super) fn detector(&self, column: &Column) -> Result<DetectorResult, AnalysisError> {
        let mut tasks = BTreeMap::new();
        for task in Task::PUBLISHED {
            tasks.insert(task, self.task(column, task)?);
        }
        Ok(DetectorResult {
            detector: column.detector.clone(),
            judge: column.judge,
            only: column.only,
            layout: column.layout,
            predictions_sha256: column.sha256.clone(),
            identity: column.identity.clone(),
            carried_forward: false,
            warnings: warnings(column, &tasks, self),
            cost: self.cost(column)?,
            two_tier: self.two_tier(column)?,
            tasks,
        })
    }

    fn task(&self, column: &Column, task: Task) -> Result<TaskResult, AnalysisError> {
        let name = column.detector.as_str();
        let test = self.half(column, task, Half::Test);
        let whole = self.sample(column, task, &self.rows.payload, |_| true);
        // Numpy's stream was published for the test half only.
        let whole_name = (self.settings.interval != IntervalMethod::Numpy).then(|| format!("{task}/whole"));
        let in_task =
            self.rows.rows.iter().copied().filter(|&row| task.label(&self.run.manifest.records[row]).is_some());
        Ok(TaskResult {
            coverage: column.coverage(task, in_task),
            test: test.points(self.settings, Some((&format!("{task}/test"), name)))?,
            whole: whole.points(self.settings, whole_name.as_deref().map(|table| (table, name)))?,
            dev_tuned: if column.judge { self.tuned(column, task, &test)? } else { None },
            calibration: calibrated(&test, column)?,
            slices: self.slices(column, task, &whole)?,
        })
    }

    /// The threshold of most dev recall at a dev false-positive rate within the target; its test figures are read once.
    fn tuned(&self, column: &Column, task: Task, test: &Sample) -> Result<Option<Tuned>, AnalysisError> {
        let dev = self.half(column, task, Half::Dev);
        if dev.labels.is_empty() || test.labels.is_empty() {
            return Ok(None);
        }
        let what = || format!("{}, {task}, threshold from dev", column.detector);
        let point = Ranked::new(&dev.labels, &dev.scores)
            .and_then(|ranked| ranked.tune(self.settings.target_fpr))
            .map_err(AnalysisError::metrics(what()))?;
        if point.threshold.is_nan() {
            return Ok(None);
        }
        let rate = |label: bool, measure: &str| {
            let rows: Vec<usize> = (0..test.labels.len()).filter(|&i| test.labels[i] == label).collect();
            let hits: Vec<bool> = rows.iter().map(|&i| test.scores[i] >= point.threshold).collect();
            let groups: Vec<u32> = rows.iter().map(|&i| test.groups[i]).collect();
            super::sample::rate(&hits, &groups, self.settings, &format!("{task}/tuned/{measure}"), &column.detector)
        };
        Ok(Some(Tuned {
            threshold: defined(point.threshold),
            dev_recall: defined(point.tpr),
            dev_fpr: defined(point.fpr),
            recall: self.without_numpy(rate(true, "recall")?),
            fpr: self.without_numpy(rate(false, "fpr")?),
        }))
    }

    /// Numbers that were never published with an interval keep none in the mode that checks published ones.
    pub(super) fn without_numpy(&self, figure: Figure) -> Figure {
        if self.settings.interval == IntervalMethod::Numpy {
            return Figure { value: figure.value, ..Figure::default() };
        }
        figure
    }

    fn cost(&self, column: &Column) -> Result<Cost, AnalysisError> {
        let [requests, input_tokens, output_tokens] = column.usage;
        let mut cost = Cost { requests, input_tokens, output_tokens, ..Cost::default() };
        if !column.latencies.is_empty() {
            let at = quantiles(&column.latencies, &[0.5, 0.95])
                .map_err(AnalysisError::metrics(format!("{}, latency", column.detector)))?;
            (cost.latency_ms_p50, cost.latency_ms_p95) = (Some(at[0]), Some(at[1]));
        }
        let answered = column.any.iter().filter(|r| r.is_ok()).count();
        if let (Some((sent, got)), true) = (self.settings.prices.get(&column.detector), answered > 0) {
            let dollars = (input_tokens as f64 * sent + output_tokens as f64 * got) / 1e6;
            cost.dollars_per_1000 = Some(dollars / answered as f64 * 1000.0);
        }
        Ok(cost)
    }
}

fn calibrated(test: &Sample, column: &Column) -> Result<Option<Calibrated>, AnalysisError> {
    if test.labels.is_empty() || column.layout == Layout::FlagOnly {
        return Ok(None);
    }
    let what = || format!("{}, calibration", column.detector);
    let found = calibration(&test.labels, &test.scores, BINS).map_err(AnalysisError::metrics(what()))?;
    let brier = brier_score(&test.labels, &test.scores).map_err(AnalysisError::metrics(what()))?;
    Ok(Some(Calibrated::new(&found, brier)))
}

fn warnings(column: &Column, tasks: &BTreeMap<Task, TaskResult>, prepared: &Prepared<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let name = &column.detector;
    if column.layout == Layout::FlagOnly {
        warnings.push(format!("{name} only flags: areas and operating points rest on two scores, 0 and 1"));
    }
    for (task, result) in tasks {
        let records = &prepared.run.manifest.records;
        let rows = || prepared.rows.rows.iter().filter(|row| task.label(&records[**row]).is_some());
        let scores = || rows().filter_map(|&row| column.of(*task)[row].ok());
        let mut distinct = scores();
        let first = distinct.next();
        if first.is_some() && scores().all(|s| Some(s) == first) {
            warnings.push(format!(
                "{name}, {task}: EVERY SCORE IS {}: the detector tells nothing apart, and its AUC of .5 is no measurement",
                first.unwrap_or_default()
            ));
        }
        let missing = result.coverage.missing();
        if missing > 0 {
            warnings.push(format!(
                "{name}, {task}: {missing} of {} records have no score ({}); figures are of the rest, with worst and best \
                 values beside them",
                result.coverage.expected,
                result.coverage.faults()
            ));
        }
    }
    warnings.dedup();
    warnings
}
