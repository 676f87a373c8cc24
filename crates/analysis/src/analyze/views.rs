use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use wardline_metrics::{Design, Half, Interval, IntervalKind, wilson};

use super::result::{DetectorResult, Points, ViewResult, ViewSlice};
use super::sample::rate;
use super::settings::IntervalMethod;
use super::{Prepared, Settings};
use crate::{AnalysisError, Column, Figure, Run, Task};

/// Positives that both views score: whether each view flags them, and their groups.
#[derive(Default)]
struct Pairs {
    canonical: Vec<bool>,
    naive: Vec<bool>,
    groups: Vec<u32>,
}

impl Pairs {
    fn only_one(&self) -> (u64, u64) {
        let count = |a: &[bool], b: &[bool]| a.iter().zip(b).filter(|(a, b)| **a && !**b).count() as u64;
        (count(&self.canonical, &self.naive), count(&self.naive, &self.canonical))
    }
}

impl Prepared<'_> {
    /// The injection task on the test half, or on the whole population, for every detector that both runs have.
    /// `results` holds what was found on canonical segments.
    pub(super) fn views(
        &self,
        naive: &Run,
        half: Option<Half>,
        results: &[DetectorResult],
    ) -> Result<Vec<ViewResult>, AnalysisError> {
        let same = |a: &crate::Record, b: &crate::Record| a.id == b.id;
        let (ours, theirs) = (&self.run.manifest.records, &naive.manifest.records);
        if ours.len() != theirs.len() || !ours.iter().zip(theirs).all(|(a, b)| same(a, b)) {
            return Err(AnalysisError::Request("the run on the naive view has other records".into()));
        }
        let asked_with = self.run.asked_with.as_ref().unwrap_or(&self.run.manifest.sha256);
        if naive.asked_with.as_ref().is_some_and(|other| other != asked_with) {
            return Err(AnalysisError::Request("the run on the naive view was made with another manifest".into()));
        }
        let pairs: Vec<(&Column, &Column, &Points)> = self
            .columns
            .iter()
            .filter_map(|c| {
                let other = naive.column(&c.detector)?;
                let found = results.iter().find(|r| r.detector == c.detector)?.tasks.get(&Task::Injection)?;
                Some((c, other, if half.is_some() { &found.test } else { &found.whole }))
            })
            .collect();
        pairs.par_iter().map(|(canonical, naive, points)| self.view(canonical, naive, half, points)).collect()
    }

    fn view(
        &self,
        canonical: &Column,
        naive: &Column,
        half: Option<Half>,
        points: &Points,
    ) -> Result<ViewResult, AnalysisError> {
        let (task, name) = (Task::Injection, canonical.detector.as_str());
        let table = if half.is_some() { "views/test" } else { "views" };
        let keep = |n: usize| half.is_none_or(|half| self.halves[n] == half);
        // Numpy's stream was published for test figures only.
        let keyed = Settings { interval: IntervalMethod::Percentile, ..self.settings.clone() };
        let settings = if self.settings.interval == IntervalMethod::Numpy { &keyed } else { self.settings };
        let mut surfaces: BTreeMap<&str, Pairs> = BTreeMap::new();
        let mut all = Pairs::default();
        for (n, &row) in self.rows.rows.iter().enumerate().filter(|(n, _)| keep(*n)) {
            let record = &self.run.manifest.records[row];
            let (Some(true), Ok(a), Ok(b)) = (task.label(record), canonical.pi[row], naive.pi[row]) else { continue };
            for pairs in [&mut all, surfaces.entry(record.surface_name()).or_default()] {
                pairs.canonical.push(a >= settings.threshold);
                pairs.naive.push(b >= settings.threshold);
                pairs.groups.push(self.rows.payload[n]);
            }
        }
        let slices: Result<Vec<ViewSlice>, AnalysisError> = surfaces
            .iter()
            .map(|(surface, pairs)| {
                let table = format!("{table}/{surface}");
                Ok(ViewSlice {
                    name: (*surface).into(),
                    n_pos: pairs.groups.len() as u64,
                    canonical: rate(&pairs.canonical, &pairs.groups, settings, &format!("{table}/canonical"), name)?,
                    naive: rate(&pairs.naive, &pairs.groups, settings, &format!("{table}/naive"), name)?,
                    recall_lost: lost(pairs, settings, &table, name)?,
                    only_one: pairs.only_one(),
                })
            })
            .collect();
        Ok(ViewResult {
            detector: name.into(),
            canonical: points.clone(),
            naive: self
                .sample(naive, task, &self.rows.payload, keep)
                .points(settings, Some((&format!("{table}/naive"), name)))?,
            naive_sha256: naive.sha256.clone(),
            recall_lost: lost(&all, settings, table, name)?,
            only_one: all.only_one(),
            surfaces: slices?,
        })
    }
}

fn lost(pairs: &Pairs, settings: &Settings, table: &str, name: &str) -> Result<Figure, AnalysisError> {
    if pairs.groups.is_empty() {
        return Ok(Figure::default());
    }
    let error = || AnalysisError::metrics(format!("{name}, {table}"));
    if pairs.only_one() == (0, 0) {
        // No replicate differs. The difference is at most the share of records that differ, of which none was seen.
        let groups = pairs.groups.iter().collect::<BTreeSet<_>>().len() as u64;
        let differ = wilson(0, groups, settings.confidence).map_err(error())?;
        let interval = differ.map(|i| Interval { low: -i.high, high: i.high });
        return Ok(Figure::with_interval(0.0, interval, IntervalKind::Score));
    }
    let design = Design::clusters(&pairs.groups).map_err(error())?;
    settings
        .bootstrap(&format!("{table}/lost"), name)
        .rate_difference(&design, &pairs.canonical, &pairs.naive)
        .map(Figure::from)
        .map_err(error())
}
