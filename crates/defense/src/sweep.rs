use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use crate::pcg::PcgDxsm;
use crate::{DefenseResult, EvaluateError, FlowGuard, OnError, Origin, Provenance, Scenario, Step, evaluate};

/// The label sweep's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepOptions {
    /// First state word of every trial's generator; the second is the trial's index.
    pub seed: u64,
    /// Trials a rate.
    pub trials: u64,
    /// Probabilities of a wrong label, in 0..=1.
    pub rates: Vec<f64>,
}

impl Default for SweepOptions {
    /// The published sweep: seed 20260922, 100 trials, rates 0 .05 .1 .2 .3 .5 .75 1.
    fn default() -> Self {
        Self { seed: 20_260_922, trials: 100, rates: vec![0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0] }
    }
}

/// Flow-guard's rates at one probability of a wrong label, over the trials. A mean is the sum in trial order, then divided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SweepPoint {
    /// The probability of a wrong label.
    pub rate: f64,
    /// Mean block rate.
    pub block_mean: f64,
    /// Lowest block rate.
    pub block_min: f64,
    /// Highest block rate.
    pub block_max: f64,
    /// Mean utility.
    pub utility_mean: f64,
    /// Lowest utility.
    pub utility_min: f64,
    /// Highest utility.
    pub utility_max: f64,
}

/// How flow-guard fares as labels go wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LabelSweep {
    /// The seed used.
    pub seed: u64,
    /// Trials a rate.
    pub trials: u64,
    /// Untrusted arguments that pass as trusted.
    pub missed_taint: Vec<SweepPoint>,
    /// Trusted arguments that pass as untrusted.
    pub over_taint: Vec<SweepPoint>,
    /// No labels at all: every argument is unknown.
    pub stripped: DefenseResult,
}

/// Corrects what the provenance rule gets wrong in user tasks: an argument whose value stands neither in the prompt nor in the
/// environment was composed by the agent for the user, so it becomes trusted. Injected calls keep their labels.
pub fn correct_labels(scenarios: &[Scenario]) -> Vec<Scenario> {
    let correct = |step: &Step, p: Provenance, origin: Option<Origin>| {
        if !step.injected && origin == Some(Origin::Neither) { Provenance::Trusted } else { p }
    };
    relabel(scenarios, correct)
}

/// Draws wrong labels and scores flow-guard under them. Labels should be corrected first ([`correct_labels`]).
///
/// Each trial has one generator and draws once an argument, in corpus order, whatever the argument's label: a draw below the rate
/// of the label's axis flips it, and the other axis's rate is 0.
///
/// # Errors
/// As [`evaluate`].
pub fn label_sweep(scenarios: &[Scenario], options: &SweepOptions) -> Result<LabelSweep, EvaluateError> {
    let slim = without_context(scenarios);
    let axis = |missed: bool| {
        let point = |&rate: &f64| sweep_point(&slim, options, rate, missed);
        options.rates.iter().map(point).collect::<Result<Vec<_>, _>>()
    };
    let stripped = relabel(scenarios, |_, _, _| Provenance::Unknown);
    Ok(LabelSweep {
        seed: options.seed,
        trials: options.trials,
        missed_taint: axis(true)?,
        over_taint: axis(false)?,
        stripped: flow_guard(&stripped)?,
    })
}

fn sweep_point(
    scenarios: &[Scenario],
    options: &SweepOptions,
    rate: f64,
    missed: bool,
) -> Result<SweepPoint, EvaluateError> {
    let trial = |scratch: &mut Vec<Scenario>, index: u64| {
        let mut pcg = PcgDxsm::new(options.seed, index);
        relabel_into(scenarios, scratch, |_, provenance, _| {
            let trusted = provenance == Provenance::Trusted;
            let wrong = pcg.next_f64() < if trusted == missed { 0.0 } else { rate };
            match (wrong, trusted) {
                (false, _) => provenance,
                (true, true) => Provenance::UntrustedWeb,
                (true, false) => Provenance::Trusted,
            }
        });
        let r = flow_guard(scratch)?;
        Ok((r.block_rate.map_or(f64::NAN, |x| x.value), r.utility_rate.map_or(f64::NAN, |x| x.value)))
    };
    // Each thread relabels a copy of its own in place.
    let scored = (0..options.trials).into_par_iter().map_init(|| scenarios.to_vec(), trial);
    let trials: Vec<(f64, f64)> = scored.collect::<Vec<_>>().into_iter().collect::<Result<_, _>>()?;
    let (block_mean, block_min, block_max) = spread(trials.iter().map(|t| t.0));
    let (utility_mean, utility_min, utility_max) = spread(trials.iter().map(|t| t.1));
    Ok(SweepPoint { rate, block_mean, block_min, block_max, utility_mean, utility_min, utility_max })
}

fn flow_guard(scenarios: &[Scenario]) -> Result<DefenseResult, EvaluateError> {
    Ok(DefenseResult::tally(&evaluate(&FlowGuard::new(), scenarios, OnError::Fail)?, scenarios, |_| true))
}

/// Mean, least and greatest; NaN of none.
fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64, f64) {
    let n = values.clone().count() as f64;
    (values.clone().sum::<f64>() / n, values.clone().fold(f64::NAN, f64::min), values.fold(f64::NAN, f64::max))
}

/// Copies scenarios with other labels; `label` sees every argument once, in corpus order.
fn relabel(
    scenarios: &[Scenario],
    label: impl FnMut(&Step, Provenance, Option<Origin>) -> Provenance,
) -> Vec<Scenario> {
    let mut copy = scenarios.to_vec();
    relabel_into(scenarios, &mut copy, label);
    copy
}

/// Labels `copy`, which has the same arguments as `scenarios`, from the labels that `scenarios` have.
fn relabel_into(
    scenarios: &[Scenario],
    copy: &mut [Scenario],
    mut label: impl FnMut(&Step, Provenance, Option<Origin>) -> Provenance,
) {
    let steps = scenarios.iter().flat_map(|s| &s.steps);
    for (step, copied) in steps.zip(copy.iter_mut().flat_map(|s| &mut s.steps)) {
        let call = Arc::make_mut(&mut copied.call);
        for (arg, copied) in step.call.args.iter().zip(&mut call.args) {
            copied.provenance = label(step, arg.provenance, arg.origin);
        }
    }
}

/// The scenarios without what flow-guard never reads: outputs and histories, which would be copied with every label.
fn without_context(scenarios: &[Scenario]) -> Vec<Scenario> {
    let mut slim = scenarios.to_vec();
    for step in slim.iter_mut().flat_map(|s| &mut s.steps) {
        let call = Arc::make_mut(&mut step.call);
        call.context.clear();
        call.history.clear();
        step.output = None;
    }
    slim
}
