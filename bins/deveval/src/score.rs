//! Scoring defenses on a corpus: what `deveval` does without a subcommand.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use wardline_classifier::CorpusTexts;
use wardline_cli::{Exit, Failure, Stdout};
use wardline_defense::{
    Comparison, DefenseResult, EvaluateError, FlowGuard, Kind, OnError, Outcome, Scenario, Source, SweepOptions,
    correct_labels, egress_reach, evaluate, exposure, label_counts, label_sweep,
};

use crate::args::{OnErrorArg, ScoreArgs};
use crate::classifiers::{self, Classifiers};
use crate::output::{self, Ground, Reach, Report};
use crate::{corpora, defenses};

pub(crate) fn run(args: &ScoreArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    if args.sweep && args.corpus != corpora::GROUND {
        return Err(Failure::usage("--sweep goes with --corpus agentdojo".to_owned()));
    }
    if !args.baseline_scores.is_empty() {
        classifiers::drops(args, out)?;
        return Ok(Exit::Ok);
    }
    let classifiers = Classifiers::read(args)?;
    let chosen = defenses::chosen(args, &classifiers)?;
    let corpus = corpora::load(&args.corpus, args.data_dir.as_deref())?;
    let scenarios = in_suite(corpus.scenarios(), args.suite.as_deref(), &args.corpus)?;
    if args.corpus == corpora::EGRESS_REACH {
        output::reach(&Reach::new(egress_reach(&scenarios)), args.format, out)?;
        return Ok(Exit::Ok);
    }

    let texts = if classifiers.is_empty() { CorpusTexts::default() } else { CorpusTexts::of(&scenarios) };
    classifiers.require(&texts)?;

    let on_error = match args.on_error {
        OnErrorArg::Fail => OnError::Fail,
        OnErrorArg::Deny => OnError::Deny,
        OnErrorArg::Allow => OnError::Allow,
    };
    let bar = wardline_cli::progress_bar(chosen.len() as u64, "defenses");
    let mut evaluations = Vec::with_capacity(chosen.len());
    for defense in &chosen {
        bar.set_message(defense.name().to_owned());
        evaluations.push(evaluate(&**defense, &scenarios, on_error).map_err(failure)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let comparison = Comparison { evaluations };

    let of_attacks = args.corpus.starts_with("attacks");
    let of_pairs = of_attacks || args.corpus == "pairs";
    let attacks: BTreeSet<&String> = scenarios.iter().filter_map(|s| s.attack.as_ref()).collect();
    let by_attack = |attack: &String| exposure(&scenarios, |s| s.attack.as_ref().is_none_or(|a| a == attack));
    let versus = match &args.versus {
        None => None,
        Some(name) => {
            let unknown = || Failure::usage(format!("--versus {name}: it is not among the scored defenses"));
            Some(comparison.versus(name, &scenarios).ok_or_else(unknown)?.map_err(failure)?)
        }
    };
    let report = Report {
        schema: output::SCHEMA,
        corpus: args.corpus.clone(),
        corpus_sha256: corpus.sha256().to_owned(),
        suite: args.suite.clone(),
        results: comparison.overall(&scenarios),
        by_suite: comparison.by_suite(&scenarios),
        by_attack: Some(comparison.by_attack(&scenarios)).filter(|_| of_attacks),
        versus,
        exposure: of_pairs.then(|| exposure(&scenarios, |_| true)),
        exposure_by_attack: of_pairs.then(|| attacks.iter().map(|a| ((*a).clone(), by_attack(a))).collect()),
        classifiers: classifiers.reports(&scenarios, &texts)?,
        classifiers_by_attack: if of_attacks { classifiers.by_attack(&scenarios)? } else { BTreeMap::new() },
        ground: if args.corpus == corpora::GROUND { Some(ground(&scenarios, args.sweep)?) } else { None },
    };
    output::report(&report, args.format, out)?;
    Ok(Exit::Ok)
}

/// A defense that cannot rule leaves the run incomplete; everything else is wrong input.
fn failure(error: EvaluateError) -> Failure {
    let incomplete = matches!(error, EvaluateError::Decide { .. });
    let message = Failure::from(error).to_string();
    if incomplete { Failure::new(Exit::Incomplete, message) } else { Failure::usage(message) }
}

fn in_suite<'a>(scenarios: &'a [Scenario], suite: Option<&str>, corpus: &str) -> Result<Cow<'a, [Scenario]>, Failure> {
    let Some(suite) = suite else { return Ok(scenarios.into()) };
    let suites: BTreeSet<String> = scenarios.iter().map(|s| s.suite.clone()).collect();
    if !suites.contains(suite) {
        let known = suites.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!("corpus {corpus} has no suite {suite}; it has {known}")));
    }
    Ok(scenarios.iter().filter(|s| s.suite == suite).cloned().collect())
}

fn ground(scenarios: &[Scenario], sweep: bool) -> Result<Ground, Failure> {
    let corrected = correct_labels(scenarios);
    let guard = FlowGuard::new();
    let evaluation = evaluate(&guard, &corrected, OnError::Fail).map_err(failure)?;
    let unscorable = scenarios.iter().filter(|s| s.kind == Kind::Injection && !s.is_scorable()).map(|s| s.id.clone());
    let allowed = scenarios
        .iter()
        .zip(&evaluation.scored)
        .filter(|(_, scored)| matches!(scored.outcome, Outcome::Injection { denial: None, .. }));
    // A goal ends in the call that does the harm; what comes before it prepares.
    let last = |s: &Scenario| s.steps.iter().rfind(|x| x.injected).map(|x| x.call.tool.clone());
    let mut allows: Vec<String> = allowed.filter_map(|(s, _)| last(s)).collect();
    allows.sort();
    Ok(Ground {
        labels: label_counts(scenarios),
        flow_guard_corrected: DefenseResult::tally(&evaluation, &corrected, |_| true),
        flow_guard_allows: allows,
        unscorable: unscorable.collect(),
        label_sweep: if sweep {
            Some(label_sweep(&corrected, &SweepOptions::default()).map_err(failure)?)
        } else {
            None
        },
    })
}
