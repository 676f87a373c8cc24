use wardline_metrics::{Design, Interval, IntervalKind, Measure, Ranked, TprEstimator, quantiles};

use super::Settings;
use super::result::Points;
use super::settings::IntervalMethod;
use crate::figure::defined;
use crate::{AnalysisError, Figure};

/// Rows with a label and a score, and how many have a label alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    pub(crate) labels: Vec<bool>,
    pub(crate) scores: Vec<f64>,
    pub(crate) groups: Vec<u32>,
    /// The rows, as numbers within the population.
    pub(super) rows: Vec<usize>,
    pub(crate) missing_pos: u64,
    pub(crate) missing_neg: u64,
}

impl Sample {
    pub(crate) fn positives(&self) -> u64 {
        self.labels.iter().filter(|l| **l).count() as u64
    }

    pub(crate) fn negatives(&self) -> u64 {
        self.labels.len() as u64 - self.positives()
    }

    /// The sample with the missing scores put where they harm or help the detector most.
    fn completed(&self, worst: bool) -> (Vec<bool>, Vec<f64>) {
        let (mut labels, mut scores) = (self.labels.clone(), self.scores.clone());
        for (label, n) in [(true, self.missing_pos), (false, self.missing_neg)] {
            let score = if label == worst { BELOW } else { ABOVE };
            labels.extend((0..n).map(|_| label));
            scores.extend((0..n).map(|_| score));
        }
        (labels, scores)
    }

    /// Areas and operating points, with intervals when `name` gives the row's table and name.
    pub(super) fn points(&self, settings: &Settings, name: Option<(&str, &str)>) -> Result<Points, AnalysisError> {
        let mut points = Points {
            n_pos: self.positives(),
            n_neg: self.negatives(),
            missing_pos: self.missing_pos,
            missing_neg: self.missing_neg,
            auc: Figure::default(),
            average_precision: Figure::default(),
            tpr_at_target_fpr: Figure::default(),
            realised_fpr: None,
            attainable_threshold: None,
            recall: Figure::default(),
            fpr: Figure::default(),
            precision: Figure::default(),
        };
        let measures = measures(settings);
        let mut figures = [Figure::default(); 6];
        if !self.labels.is_empty() {
            let ranked = ranked(&self.labels, &self.scores)?;
            let at_target = ranked
                .tpr_at_fpr(settings.target_fpr, TprEstimator::Analyze)
                .map_err(AnalysisError::metrics("recall at the target"))?;
            points.realised_fpr = defined(at_target.fpr);
            points.attainable_threshold = defined(at_target.threshold);
            figures = match name {
                Some((table, row)) => self.estimates(settings, table, row, &measures)?,
                None => values(&ranked, &self.labels, &self.scores, settings, at_target.tpr).map(Figure::bare),
            };
        }
        if self.missing_pos + self.missing_neg > 0 {
            let bound = |worst| -> Result<[f64; 6], AnalysisError> {
                let (labels, scores) = self.completed(worst);
                let ranked = ranked(&labels, &scores)?;
                let tpr = ranked
                    .tpr_at_fpr(settings.target_fpr, TprEstimator::Analyze)
                    .map_err(AnalysisError::metrics("recall at the target"))?
                    .tpr;
                Ok(values(&ranked, &labels, &scores, settings, tpr))
            };
            let (worst, best) = (bound(true)?, bound(false)?);
            for (n, figure) in figures.iter_mut().enumerate() {
                *figure = figure.bounds(worst[n], best[n]);
            }
        }
        [points.auc, points.tpr_at_target_fpr, points.recall, points.fpr, points.average_precision, points.precision] =
            figures;
        Ok(points)
    }

    fn estimates(
        &self,
        settings: &Settings,
        table: &str,
        row: &str,
        measures: &[Measure; 6],
    ) -> Result<[Figure; 6], AnalysisError> {
        let what = || format!("{row}, {table}");
        let design = Design::clusters(&self.groups).map_err(AnalysisError::metrics(what()))?;
        let bootstrap = settings.bootstrap(table, row);
        let mut figures = [Figure::default(); 6];
        if settings.interval == IntervalMethod::Numpy {
            let replicates = bootstrap
                .measure_replicates(&design, &self.labels, &self.scores, measures)
                .map_err(AnalysisError::metrics(what()))?;
            let ranked = ranked(&self.labels, &self.scores)?;
            let tpr = ranked
                .tpr_at_fpr(settings.target_fpr, TprEstimator::Analyze)
                .map_err(AnalysisError::metrics(what()))?
                .tpr;
            let values = values(&ranked, &self.labels, &self.scores, settings, tpr);
            for (figure, (value, replicates)) in figures.iter_mut().zip(values.into_iter().zip(replicates)) {
                *figure = bare_percentiles(value, &replicates, settings.confidence)?;
            }
        } else {
            let estimates = bootstrap
                .measures(&design, &self.labels, &self.scores, measures)
                .map_err(AnalysisError::metrics(what()))?;
            for (figure, estimate) in figures.iter_mut().zip(estimates) {
                *figure = Figure::from(estimate);
            }
        }
        Ok(figures)
    }
}

/// Below and above every score.
pub(super) const BELOW: f64 = -1.0;
pub(super) const ABOVE: f64 = 2.0;

fn ranked(labels: &[bool], scores: &[f64]) -> Result<Ranked, AnalysisError> {
    Ranked::new(labels, scores).map_err(AnalysisError::metrics("ranking the scores"))
}

/// What `points` holds, in the order that `values` gives it too.
pub(super) fn measures(settings: &Settings) -> [Measure; 6] {
    let threshold = settings.threshold;
    [
        Measure::RocAuc,
        Measure::TprAtFpr { target: settings.target_fpr, estimator: TprEstimator::Analyze },
        Measure::Recall { threshold },
        Measure::Fpr { threshold },
        Measure::AveragePrecision,
        Measure::Precision { threshold },
    ]
}

fn values(ranked: &Ranked, labels: &[bool], scores: &[f64], settings: &Settings, tpr: f64) -> [f64; 6] {
    let at = ranked.at_threshold(settings.threshold);
    let count = |wanted: bool| {
        let flagged = labels.iter().zip(scores).filter(|(l, s)| **l == wanted && **s >= settings.threshold);
        flagged.count() as f64
    };
    let (tp, fp) = (count(true), count(false));
    [ranked.roc_auc(), tpr, at.tpr, at.fpr, ranked.average_precision(), tp / (tp + fp)]
}

/// The percentiles of the replicates and nothing else, as the published script reads them.
fn bare_percentiles(value: f64, replicates: &[f64], confidence: f64) -> Result<Figure, AnalysisError> {
    let defined: Vec<f64> = replicates.iter().copied().filter(|v| v.is_finite()).collect();
    let mut figure = Figure::bare(value);
    figure.undefined_replicates = replicates.len() - defined.len();
    if !defined.is_empty() {
        let tail = (1.0 - confidence) / 2.0;
        let ends =
            quantiles(&defined, &[tail, 1.0 - tail]).map_err(AnalysisError::metrics("percentiles of replicates"))?;
        figure.interval = Some(Interval { low: ends[0], high: ends[1] });
        figure.method = Some(IntervalKind::Percentile);
    }
    Ok(figure)
}

/// A rate with its interval: Wilson's where every row is a group of its own, else the bootstrap of groups.
pub(super) fn rate(
    hits: &[bool],
    groups: &[u32],
    settings: &Settings,
    table: &str,
    row: &str,
) -> Result<Figure, AnalysisError> {
    if hits.is_empty() {
        return Ok(Figure::default());
    }
    let what = || format!("{row}, {table}");
    let count = hits.iter().filter(|h| **h).count() as u64;
    let mut distinct = groups.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() == groups.len() {
        let n = hits.len() as u64;
        let interval =
            wardline_metrics::wilson(count, n, settings.confidence).map_err(AnalysisError::metrics(what()))?;
        return Ok(Figure::with_interval(count as f64 / n as f64, interval, IntervalKind::Score));
    }
    let design = Design::clusters(groups).map_err(AnalysisError::metrics(what()))?;
    let estimate = settings.bootstrap(table, row).rate(&design, hits).map_err(AnalysisError::metrics(what()))?;
    Ok(Figure::from(estimate))
}
