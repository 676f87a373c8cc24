//! The published protocol and what goes beyond it.

mod compare;
mod curves;
mod detector;
mod ensemble;
mod population;
mod reference;
mod result;
mod sample;
mod settings;
mod slices;
mod tiers;
mod views;

use std::collections::BTreeMap;

use rayon::prelude::*;
use wardline_metrics::Half;

pub use curves::{DetectorCurves, TaskCurves};
pub use reference::{carry_forward, read_analysis};
pub use result::{
    ANALYSIS_SCHEMA, Analysis, Calibrated, Comparison, Cost, DetectorResult, Difference, Headline, Points, Population,
    RecipePart, Slice, Slices, SplitAudit, TaskCounts, TaskResult, TierResult, Tuned, ViewResult, ViewSlice,
};
pub use settings::{Ensemble, GroupBy, IntervalMethod, Settings};
pub(crate) use slices::FEW;

use crate::{AnalysisError, Column, Run, Task};
use population::Rows;
use sample::Sample;

/// A run that is ready to be analysed: its population, and the split into dev and test.
pub struct Prepared<'a> {
    run: &'a Run,
    settings: &'a Settings,
    columns: Vec<Column>,
    rows: Rows,
    halves: Vec<Half>,
}

impl<'a> Prepared<'a> {
    /// Selects the population, splits it, and makes the ensembles.
    ///
    /// # Errors
    /// A setting out of range; an ensemble, a price or a baseline of an unknown detector; no record left; a group in both halves.
    pub fn new(run: &'a Run, settings: &'a Settings) -> Result<Self, AnalysisError> {
        Self::over(run, settings, true)
    }

    /// The same, but that a judge leaves no record out: a judge that fails on a record must not choose what it is measured on.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub fn of_all_records(run: &'a Run, settings: &'a Settings) -> Result<Self, AnalysisError> {
        Self::over(run, settings, false)
    }

    fn over(run: &'a Run, settings: &'a Settings, judges_choose: bool) -> Result<Self, AnalysisError> {
        settings.check()?;
        let mut columns = run.columns.clone();
        for wanted in &settings.ensembles {
            columns.push(ensemble::mean(wanted, &columns)?);
        }
        columns.sort_by(|a, b| a.detector.cmp(&b.detector));
        for name in settings.baseline.iter().chain(settings.prices.keys()) {
            if !columns.iter().any(|c| c.detector == *name) {
                return Err(AnalysisError::Request(format!("no predictions of detector {name:?}")));
            }
        }
        let judges: Vec<&Column> = columns.iter().filter(|c| c.judge && judges_choose).collect();
        let rows = Rows::select(run, &judges)?;
        let halves = rows.split(run, GroupBy::BasePayloadId)?;
        Ok(Self { run, settings, columns, rows, halves })
    }

    /// Rows of a task that `keep` (a number within the population) lets pass, with a detector's scores.
    fn sample(&self, column: &Column, task: Task, groups: &[u32], keep: impl Fn(usize) -> bool) -> Sample {
        let mut sample = Sample::default();
        for (n, &row) in self.rows.rows.iter().enumerate() {
            let Some(label) = task.label(&self.run.manifest.records[row]) else { continue };
            if !keep(n) {
                continue;
            }
            match column.of(task)[row] {
                Ok(score) => {
                    sample.labels.push(label);
                    sample.scores.push(score);
                    sample.groups.push(groups[n]);
                    sample.rows.push(n);
                }
                Err(_) if label => sample.missing_pos += 1,
                Err(_) => sample.missing_neg += 1,
            }
        }
        sample
    }

    /// SHA-256 over what makes the population: see [`Analysis::population_signature`].
    #[must_use]
    pub fn population_signature(&self) -> String {
        self.rows.signature(self.run)
    }

    pub(crate) fn settings(&self) -> &Settings {
        self.settings
    }

    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.detector == name)
    }

    /// Rows of a task in the halves that `keep` lets pass; a missing score is put where it harms the detector most.
    pub(crate) fn sample_against(&self, column: &Column, task: Task, keep: impl Fn(Half) -> bool) -> Sample {
        let mut sample = Sample::default();
        for (n, &row) in self.rows.rows.iter().enumerate() {
            let Some(label) = task.label(&self.run.manifest.records[row]) else { continue };
            if !keep(self.halves[n]) {
                continue;
            }
            let reading = column.of(task)[row];
            *if label { &mut sample.missing_pos } else { &mut sample.missing_neg } += u64::from(reading.is_err());
            sample.labels.push(label);
            sample.scores.push(reading.unwrap_or(if label { sample::BELOW } else { sample::ABOVE }));
            sample.groups.push(self.rows.payload[n]);
            sample.rows.push(n);
        }
        sample
    }

    fn half(&self, column: &Column, task: Task, half: Half) -> Sample {
        self.sample(column, task, &self.rows.payload, |n| self.halves[n] == half)
    }

    /// Every number of the protocol, and what goes beyond it. `naive` is the run of the same detectors on the naive view.
    ///
    /// # Errors
    /// The statistics refuse their input; the naive run has other records.
    pub fn analyze(&self, naive: Option<&Run>) -> Result<Analysis, AnalysisError> {
        let detectors: Result<Vec<DetectorResult>, AnalysisError> =
            self.columns.par_iter().map(|column| self.detector(column)).collect();
        let detectors = detectors?;
        let views = |half| naive.map_or(Ok(Vec::new()), |naive| self.views(naive, half, &detectors));
        let (views, views_test) = (views(None)?, views(Some(Half::Test))?);
        let population = self.rows.counts(self.run, &self.halves);
        let split = self.rows.audit(&self.halves)?;
        let mut warnings = Vec::new();
        if !self.columns.iter().any(|c| c.judge) {
            warnings.push("no judge among the detectors: the population is every record without a PDF".to_owned());
        }
        let differ = population.recipe.iter().filter(|p| p.published != p.here).count();
        if differ > 0 {
            warnings.push(format!(
                "{differ} of {} counts differ from the published recipe: figures are not comparable with the published ones",
                population.recipe.len()
            ));
        }
        if split.base_scenario.groups_in_both > 0 {
            warnings.push(format!(
                "the split keeps payloads apart, not scenarios: {} of {} test rows come from a scenario that dev has too",
                split.base_scenario.test_rows_in_both, split.base_scenario.test_rows
            ));
        }
        for name in &self.run.absent {
            warnings.push(format!("no predictions of {name}"));
        }
        let columns = self.columns.iter().map(|c| c.detector.as_str());
        let one_view: Vec<&str> = columns.filter(|name| naive.is_some_and(|n| n.column(name).is_none())).collect();
        if !one_view.is_empty() {
            warnings.push(format!("not on the naive view, and absent from its tables: {}", one_view.join(", ")));
        }
        Ok(Analysis {
            schema: ANALYSIS_SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            manifest_sha256: self.run.manifest.sha256.clone(),
            population_signature: self.rows.signature(self.run),
            settings: self.settings.clone(),
            population,
            split,
            warnings,
            detectors,
            comparisons: self.comparisons()?,
            views,
            views_test,
            scenario_level: self.settings.scenario_level.then(|| self.scenario_level()).transpose()?,
        })
    }

    /// The headline with scenarios as groups, of the split and of the replicates.
    fn scenario_level(&self) -> Result<Headline, AnalysisError> {
        let halves = self.rows.split(self.run, GroupBy::BaseScenarioId)?;
        let count = |half| halves.iter().filter(|h| **h == half).count() as u64;
        let mut tasks = BTreeMap::new();
        for task in Task::PUBLISHED {
            let points: Result<BTreeMap<String, Points>, AnalysisError> = self
                .columns
                .par_iter()
                .map(|column| {
                    let test = self.sample(column, task, &self.rows.scenario, |n| halves[n] == Half::Test);
                    let table = format!("{task}/test/base_scenario_id");
                    Ok((column.detector.clone(), test.points(self.settings, Some((&table, &column.detector)))?))
                })
                .collect();
            tasks.insert(task, points?);
        }
        Ok(Headline { dev: count(Half::Dev), test: count(Half::Test), tasks })
    }
}
