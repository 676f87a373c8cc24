use serde::Serialize;
use wardline_metrics::{Bootstrap, Design, Estimate, IntervalKind, Stream, mcnemar};

use crate::{EvaluateError, Evaluation, Outcome, Scenario};

/// A 95 % interval that respects the crossing of tasks: Wilson's interval with the effective sample size that the two-way bootstrap
/// variance gives (Student's t). The variance is put together from bootstraps of user tasks, injection tasks and pairs, each within
/// suites ([`wardline_metrics::BootstrapInterval::StudentT`]). Where the bootstrap has no spread (0 of n, n of n) it is Wilson's over
/// the tasks of the smaller axis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CrossedInterval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// How the interval was made.
    pub kind: IntervalKind,
}

impl CrossedInterval {
    fn new(estimate: &Estimate) -> Option<Self> {
        estimate.interval.map(|i| Self { low: i.low, high: i.high, kind: estimate.kind })
    }
}

/// The intervals to quote where every user task meets every injection task: a Wilson interval takes the pairs for independent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CrossedIntervals {
    /// Of the block rate.
    pub block_rate: Option<CrossedInterval>,
    /// Of the attributable rate.
    pub attributable_rate: Option<CrossedInterval>,
}

/// One defense against another on the same scenarios; positive differences favour the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairedResult {
    /// The first defense.
    pub defense: String,
    /// The one it is compared with.
    pub versus: String,
    /// On the injection scenarios: blocked.
    pub block_rate: PairedRate,
    /// On the injection scenarios: blocked and attributable.
    pub attributable_rate: PairedRate,
    /// On the benign scenarios: kept.
    pub utility_rate: PairedRate,
}

/// A difference of two rates on the same scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairedRate {
    /// The first rate minus the second; `None` without scenarios.
    pub difference: Option<f64>,
    /// Lower bound of the 95 % interval: Student's t with the two-way bootstrap variance for crossed scenarios, else with that of the
    /// bootstrap over scenarios; closed form when all scenarios count alike.
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
    /// Scenarios that count for the first only.
    pub only_first: u64,
    /// Scenarios that count for the second only.
    pub only_second: u64,
    /// McNemar's exact test, two-sided. It takes the scenarios for independent; where they are crossed, trust the interval.
    pub p_value: f64,
}

/// Seed of the bootstraps; each defense and axis has a stream of its own.
const SEED: u64 = 20_260_922;

/// The scorable injection scenarios as a crossed design, or `None` when they are not pairs.
fn crossed(scenarios: &[&Scenario]) -> Option<Design> {
    let axis = |task: fn(&Scenario) -> Option<&String>| scenarios.iter().map(|s| task(s)).collect::<Option<Vec<_>>>();
    let users = axis(|s| s.user_task.as_ref())?;
    let injections = axis(|s| s.injection_task.as_ref())?;
    let suites: Vec<&str> = scenarios.iter().map(|s| s.suite.as_str()).collect();
    Design::crossed(&users, &injections).ok()?.stratified(&suites).ok()
}

/// What counts for a scenario on an axis; `None` when the scenario is not on it.
type Counts = fn(&Outcome) -> Option<bool>;

const BLOCKED: Counts = |o| match o {
    Outcome::Injection { denial, .. } => Some(denial.is_some()),
    _ => None,
};
const ATTRIBUTABLE: Counts = |o| match o {
    Outcome::Injection { attributable, .. } => Some(*attributable),
    _ => None,
};
const KEPT: Counts = |o| match o {
    Outcome::Benign { denial } => Some(denial.is_none()),
    _ => None,
};

fn on_axis<'a>(
    evaluation: &Evaluation,
    scenarios: &'a [Scenario],
    include: impl Fn(&Scenario) -> bool,
    counts: Counts,
) -> (Vec<&'a Scenario>, Vec<bool>) {
    let scored = evaluation.scored.iter().zip(scenarios).filter(|(_, s)| include(s));
    scored.filter_map(|(x, s)| counts(&x.outcome).map(|hit| (s, hit))).unzip()
}

/// The two-way intervals of a defense on those scenarios that `include` accepts; `None` when these are not pairs.
pub fn crossed_intervals(
    evaluation: &Evaluation,
    scenarios: &[Scenario],
    include: impl Fn(&Scenario) -> bool,
) -> Option<CrossedIntervals> {
    let interval = |axis: &str, counts: Counts| {
        let (rows, hits) = on_axis(evaluation, scenarios, &include, counts);
        let design = crossed(&rows)?;
        Bootstrap::new(Stream::new(SEED, axis, &evaluation.defense)).rate(&design, &hits).ok()
    };
    let block = interval("block", BLOCKED)?;
    let attributable = interval("attributable", ATTRIBUTABLE)?;
    Some(CrossedIntervals {
        block_rate: CrossedInterval::new(&block),
        attributable_rate: CrossedInterval::new(&attributable),
    })
}

/// Compares two evaluations of the same scenarios.
///
/// # Errors
/// [`EvaluateError::OtherScenarios`] when the evaluations are not both of these scenarios.
pub fn paired(first: &Evaluation, second: &Evaluation, scenarios: &[Scenario]) -> Result<PairedResult, EvaluateError> {
    if first.scored.len() != scenarios.len() || second.scored.len() != scenarios.len() {
        return Err(EvaluateError::OtherScenarios(first.defense.clone(), second.defense.clone()));
    }
    let name = format!("{} - {}", first.defense, second.defense);
    let rate = |axis: &str, counts: Counts| {
        let (rows, a) = on_axis(first, scenarios, |_| true, counts);
        let (_, b) = on_axis(second, scenarios, |_| true, counts);
        paired_rate(Stream::new(SEED, axis, &name), &rows, &a, &b)
            .map_err(|_| EvaluateError::OtherScenarios(first.defense.clone(), second.defense.clone()))
    };
    Ok(PairedResult {
        defense: first.defense.clone(),
        versus: second.defense.clone(),
        block_rate: rate("block", BLOCKED)?,
        attributable_rate: rate("attributable", ATTRIBUTABLE)?,
        utility_rate: rate("utility", KEPT)?,
    })
}

fn paired_rate(
    stream: Stream,
    rows: &[&Scenario],
    first: &[bool],
    second: &[bool],
) -> Result<PairedRate, wardline_metrics::MetricsError> {
    let test = mcnemar(first, second)?;
    let estimate = match crossed(rows).map_or_else(|| Design::rows(rows.len()), Ok) {
        // No rows, no design: the difference is undefined.
        Err(_) => None,
        Ok(design) => Some(Bootstrap::new(stream).rate_difference(&design, first, second)?),
    };
    let interval = estimate.and_then(|e| e.interval);
    Ok(PairedRate {
        difference: estimate.map(|e| e.value),
        low: interval.map(|i| i.low),
        high: interval.map(|i| i.high),
        only_first: test.only_first,
        only_second: test.only_second,
        p_value: test.p_value,
    })
}
