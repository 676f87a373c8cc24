use std::collections::BTreeMap;

use rayon::prelude::*;
use wardline_metrics::Design;

use super::result::{ViewResult, ViewSlice};
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

impl Prepared<'_> {
    /// The injection task on the whole population, for every detector that both runs have.
    pub(super) fn views(&self, naive: &Run) -> Result<Vec<ViewResult>, AnalysisError> {
        let same = |a: &crate::Record, b: &crate::Record| a.id == b.id;
        let (ours, theirs) = (&self.run.manifest.records, &naive.manifest.records);
        if ours.len() != theirs.len() || !ours.iter().zip(theirs).all(|(a, b)| same(a, b)) {
            return Err(AnalysisError::Request("the run on the naive view has other records".into()));
        }
        let pairs: Vec<(&Column, &Column)> = self
            .columns
            .iter()
            .filter_map(|c| Some((c, naive.columns.iter().find(|other| other.detector == c.detector)?)))
            .collect();
        pairs.par_iter().map(|(canonical, naive)| self.view(canonical, naive)).collect()
    }

    fn view(&self, canonical: &Column, naive: &Column) -> Result<ViewResult, AnalysisError> {
        let (task, name) = (Task::Injection, canonical.detector.as_str());
        let whole = |column: &Column| self.sample(column, task, &self.rows.payload, |_| true);
        // Numpy's stream was published for test figures only.
        let keyed = Settings { interval: IntervalMethod::Percentile, ..self.settings.clone() };
        let settings = if self.settings.interval == IntervalMethod::Numpy { &keyed } else { self.settings };
        let mut surfaces: BTreeMap<&str, Pairs> = BTreeMap::new();
        let mut all = Pairs::default();
        for (n, &row) in self.rows.rows.iter().enumerate() {
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
                let table = format!("views/{surface}");
                Ok(ViewSlice {
                    name: (*surface).into(),
                    n_pos: pairs.groups.len() as u64,
                    canonical: rate(&pairs.canonical, &pairs.groups, settings, &format!("{table}/canonical"), name)?,
                    naive: rate(&pairs.naive, &pairs.groups, settings, &format!("{table}/naive"), name)?,
                    recall_lost: lost(pairs, settings, &table, name)?,
                })
            })
            .collect();
        Ok(ViewResult {
            detector: name.into(),
            canonical: whole(canonical).points(settings, Some(("views/canonical", name)))?,
            naive: whole(naive).points(settings, Some(("views/naive", name)))?,
            recall_lost: lost(&all, settings, "views", name)?,
            surfaces: slices?,
        })
    }
}

fn lost(pairs: &Pairs, settings: &Settings, table: &str, name: &str) -> Result<Figure, AnalysisError> {
    if pairs.groups.is_empty() {
        return Ok(Figure::default());
    }
    let error = || AnalysisError::metrics(format!("{name}, {table}"));
    let design = Design::clusters(&pairs.groups).map_err(error())?;
    settings
        .bootstrap(&format!("{table}/lost"), name)
        .rate_difference(&design, &pairs.canonical, &pairs.naive)
        .map(Figure::from)
        .map_err(error())
}
