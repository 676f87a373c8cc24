use std::collections::BTreeMap;

use wardline_metrics::{Ranked, TprEstimator};

use super::Prepared;
use super::result::{Slice, Slices};
use super::sample::{Sample, rate};
use crate::figure::defined;
use crate::{AnalysisError, Column, Record, Task};

/// Fewer rows than this are flagged.
pub(crate) const FEW: u64 = 30;

/// A property to slice by: its name, its value of a record, and whether areas take all negatives (positives and negatives do not share
/// values).
type Property = (&'static str, fn(&Record) -> Option<&str>, bool);

const PROPERTIES: [Property; 4] = [
    ("surface", |r| Some(r.surface_name()), true),
    ("source", |r| Some(&r.source), true),
    ("era", |r| r.era.as_deref(), false),
    ("sender_auth", |r| Some(r.auth.as_str()), false),
];

impl Prepared<'_> {
    pub(super) fn slices(&self, column: &Column, task: Task, whole: &Sample) -> Result<Vec<Slices>, AnalysisError> {
        let mut all = Vec::new();
        for (by, value, all_negatives) in PROPERTIES {
            let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for (i, &n) in whole.rows.iter().enumerate() {
                if let Some(value) = value(&self.run.manifest.records[self.rows.rows[n]]) {
                    rows.entry(value).or_default().push(i);
                }
            }
            let slices: Result<Vec<Slice>, AnalysisError> = rows
                .iter()
                .map(|(name, rows)| {
                    let table = format!("{task}/{by}/{name}");
                    self.slice(column, whole, name, rows, all_negatives, &table)
                })
                .collect();
            let slices = slices?;
            if !slices.is_empty() {
                all.push(Slices { by: by.into(), slices });
            }
        }
        Ok(all)
    }

    fn slice(
        &self,
        column: &Column,
        whole: &Sample,
        name: &str,
        rows: &[usize],
        all_negatives: bool,
        table: &str,
    ) -> Result<Slice, AnalysisError> {
        let of_class = |label: bool| {
            let class: Vec<usize> = rows.iter().copied().filter(|&i| whole.labels[i] == label).collect();
            let hits: Vec<bool> = class.iter().map(|&i| whole.scores[i] >= self.settings.threshold).collect();
            let groups: Vec<u32> = class.iter().map(|&i| whole.groups[i]).collect();
            (hits, groups)
        };
        let ((pos, pos_groups), (neg, neg_groups)) = (of_class(true), of_class(false));
        let ranked_rows: Vec<usize> = if all_negatives {
            let positives = rows.iter().copied().filter(|&i| whole.labels[i]);
            positives.chain((0..whole.labels.len()).filter(|&i| !whole.labels[i])).collect()
        } else {
            rows.to_vec()
        };
        let (mut auc, mut tpr) = (f64::NAN, f64::NAN);
        if !pos.is_empty() {
            let labels: Vec<bool> = ranked_rows.iter().map(|&i| whole.labels[i]).collect();
            let scores: Vec<f64> = ranked_rows.iter().map(|&i| whole.scores[i]).collect();
            let ranked = Ranked::new(&labels, &scores).map_err(AnalysisError::metrics(table))?;
            auc = ranked.roc_auc();
            tpr = ranked
                .tpr_at_fpr(self.settings.target_fpr, TprEstimator::Analyze)
                .map_err(AnalysisError::metrics(table))?
                .tpr;
        }
        let (n_pos, n_neg) = (pos.len() as u64, neg.len() as u64);
        let figure = |hits: &[bool], groups: &[u32], measure: &str| {
            let found = rate(hits, groups, self.settings, &format!("{table}/{measure}"), &column.detector)?;
            Ok::<_, AnalysisError>(self.without_numpy(found))
        };
        Ok(Slice {
            name: name.into(),
            n_pos,
            n_neg,
            few: (1..FEW).contains(&n_pos) || (1..FEW).contains(&n_neg),
            auc: defined(auc),
            tpr_at_target_fpr: defined(tpr),
            recall: figure(&pos, &pos_groups, "recall")?,
            fpr: figure(&neg, &neg_groups, "fpr")?,
        })
    }
}
