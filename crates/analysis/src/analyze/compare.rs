use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};
use wardline_metrics::{Design, Estimate, Half, holm};

use super::result::{Comparison, Difference};
use super::sample::measures;
use super::settings::IntervalMethod;
use super::{Prepared, Settings};
use crate::{AnalysisError, Column, Figure, Task};

impl Prepared<'_> {
    pub(super) fn comparisons(&self) -> Result<Vec<Comparison>, AnalysisError> {
        let Some(name) = &self.settings.baseline else { return Ok(Vec::new()) };
        let Some(baseline) = self.columns.iter().find(|c| c.detector == *name) else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for task in Task::PUBLISHED {
            let others: Vec<&Column> = self.columns.iter().filter(|c| c.detector != *name).collect();
            let found: Result<Vec<Option<Comparison>>, AnalysisError> =
                others.par_iter().map(|column| self.compare(column, baseline, task)).collect();
            let mut found: Vec<Comparison> = found?.into_iter().flatten().collect();
            for measure in [
                (|c| &mut c.auc) as fn(&mut Comparison) -> &mut Difference,
                |c| &mut c.tpr_at_target_fpr,
                |c| &mut c.recall,
                |c| &mut c.fpr,
            ] {
                adjust(&mut found, measure)?;
            }
            all.extend(found);
        }
        Ok(all)
    }

    fn compare(&self, column: &Column, baseline: &Column, task: Task) -> Result<Option<Comparison>, AnalysisError> {
        let mut sample = self.half(column, task, Half::Test);
        let other = baseline.of(task);
        let both: Vec<usize> =
            (0..sample.rows.len()).filter(|&i| other[self.rows.rows[sample.rows[i]]].is_ok()).collect();
        let other: Vec<f64> = both.iter().filter_map(|&i| other[self.rows.rows[sample.rows[i]]].ok()).collect();
        sample.labels = both.iter().map(|&i| sample.labels[i]).collect();
        sample.scores = both.iter().map(|&i| sample.scores[i]).collect();
        sample.groups = both.iter().map(|&i| sample.groups[i]).collect();
        if sample.labels.is_empty() {
            return Ok(None);
        }
        let what = || format!("{} against {}, {task}", column.detector, baseline.detector);
        let design = Design::clusters(&sample.groups).map_err(AnalysisError::metrics(what()))?;
        // Numpy's stream was published for single detectors only.
        let keyed = Settings { interval: IntervalMethod::Percentile, ..self.settings.clone() };
        let settings = if self.settings.interval == IntervalMethod::Numpy { &keyed } else { self.settings };
        let row = format!("{} - {}", column.detector, baseline.detector);
        let estimates = settings
            .bootstrap(&format!("{task}/compare"), &row)
            .measure_differences(&design, &sample.labels, &sample.scores, &other, &measures(settings)[..4])
            .map_err(AnalysisError::metrics(what()))?;
        let &[auc, tpr, recall, fpr] = estimates.as_slice() else { return Ok(None) };
        Ok(Some(Comparison {
            task,
            detector: column.detector.clone(),
            baseline: baseline.detector.clone(),
            rows: sample.labels.len() as u64,
            auc: difference(auc),
            tpr_at_target_fpr: difference(tpr),
            recall: difference(recall),
            fpr: difference(fpr),
        }))
    }
}

/// The p-value is that of the difference over the bootstrap's standard error, against the normal distribution.
fn difference(estimate: Estimate) -> Difference {
    let (value, error) = (estimate.value, estimate.standard_error);
    let p = match (value.is_finite(), error > 0.0) {
        (true, true) => Some(2.0 * Normal::standard().cdf(-(value / error).abs())),
        (true, false) if value == 0.0 => Some(1.0),
        _ => None,
    };
    Difference { difference: Figure::from(estimate), p, p_holm: None }
}

fn adjust(found: &mut [Comparison], measure: fn(&mut Comparison) -> &mut Difference) -> Result<(), AnalysisError> {
    let p: Vec<f64> = found.iter_mut().filter_map(|c| measure(c).p).collect();
    let mut adjusted = holm(&p).map_err(AnalysisError::metrics("Holm's adjustment"))?.into_iter();
    for difference in found.iter_mut().map(measure).filter(|d| d.p.is_some()) {
        difference.p_holm = adjusted.next();
    }
    Ok(())
}
