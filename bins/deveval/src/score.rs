//! Scoring defenses on a corpus: what `deveval` does without a subcommand.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use wardline_classifier::CorpusTexts;
use wardline_cli::{Exit, Failure, ProgressBar, Stdout};
use wardline_defense::{
    Call, Comparison, Decision, Defense, DefenseError, DefenseResult, EvaluateError, FlowGuard, Kind, OnError, Outcome,
    Scenario, Source, SweepOptions, correct_labels, egress_reach, evaluate, exposure, label_counts, label_sweep,
};

use crate::args::{Format, OnErrorArg, ScoreArgs};
use crate::classifiers::{self, Classifiers};
use crate::output::{self, Ground, Reach, Report};
use crate::{corpora, defenses};

pub(crate) fn run(args: &ScoreArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    refuse_idle_flags(args)?;
    if !args.baseline_scores.is_empty() {
        classifiers::drops(args, out)?;
        return Ok(Exit::Ok);
    }
    let html = args.html.as_deref().map(output::PageFile::open).transpose()?;
    let classifiers = Classifiers::read(args)?;
    let chosen = defenses::chosen(args, &classifiers)?;
    if let Some(name) = args.versus.as_deref().filter(|name| !chosen.iter().any(|d| d.name() == *name)) {
        let names: Vec<&str> = chosen.iter().map(|d| d.name()).collect();
        return Err(Failure::usage(format!("--versus {name}: scored are {}", names.join(", "))));
    }
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
    let calls = scenarios.iter().filter(|s| s.is_scorable()).map(|s| s.steps.len() as u64).sum::<u64>();
    let bar = wardline_cli::progress_bar(calls * chosen.len() as u64, "calls");
    let mut evaluations = Vec::with_capacity(chosen.len());
    for (i, defense) in chosen.iter().enumerate() {
        bar.set_message(defense.name().to_owned());
        let counted = Counted { inner: &**defense, bar: &bar };
        evaluations.push(evaluate(&counted, &scenarios, on_error).map_err(failure)?);
        // Injections end at their first denial, so that fewer calls were put than there are.
        bar.set_position(calls * (i as u64 + 1));
    }
    bar.finish_and_clear();
    let comparison = Comparison { evaluations };

    let of_attacks = args.corpus.starts_with("attacks");
    let of_pairs = of_attacks || args.corpus == "pairs";
    let attacks: BTreeSet<&String> = scenarios.iter().filter_map(|s| s.attack.as_ref()).collect();
    let by_attack = |attack: &String| exposure(&scenarios, |s| s.attack.as_ref().is_none_or(|a| a == attack));
    let versus = args.versus.as_deref().and_then(|name| comparison.versus(name, &scenarios));
    let report = Report {
        schema: output::SCHEMA,
        corpus: args.corpus.clone(),
        corpus_sha256: corpus.sha256().to_owned(),
        suite: args.suite.clone(),
        results: comparison.overall(&scenarios),
        by_suite: comparison.by_suite(&scenarios),
        by_attack: Some(comparison.by_attack(&scenarios)).filter(|_| of_attacks),
        versus: versus.transpose().map_err(failure)?,
        allowed_destinations: args.allowed_destinations.clone(),
        exposure: of_pairs.then(|| exposure(&scenarios, |_| true)),
        exposure_by_attack: of_pairs.then(|| attacks.iter().map(|a| ((*a).clone(), by_attack(a))).collect()),
        classifiers: classifiers.reports(&scenarios, &texts)?,
        classifiers_by_attack: if of_attacks { classifiers.by_attack(&scenarios)? } else { BTreeMap::new() },
        ground: if args.corpus == corpora::GROUND { Some(ground(&scenarios, args.sweep)?) } else { None },
    };
    if let Some(file) = html {
        file.write(&output::page(&report, args)?)?;
    }
    output::report(&report, args.format, out)?;
    Ok(Exit::Ok)
}

/// Flags that would have no effect are refused: a figure must be what its command line says.
fn refuse_idle_flags(args: &ScoreArgs) -> Result<(), Failure> {
    let refused = |flag: &str, why: &str| Err(Failure::usage(format!("{flag} {why}")));
    if args.sweep && args.corpus != corpora::GROUND {
        return refused("--sweep", "goes with --corpus agentdojo");
    }
    if !args.baseline_scores.is_empty() {
        let flags = [
            ("--defense", !args.defenses.is_empty()),
            ("--allow-destination", !args.allowed_destinations.is_empty()),
            ("--versus", args.versus.is_some()),
            ("--scope", !args.scopes.is_empty()),
            ("--html", args.html.is_some()),
            ("--on-error", args.on_error != OnErrorArg::Fail),
            ("--exec-timeout", args.exec_timeout.is_some()),
        ];
        if let Some((flag, _)) = flags.iter().find(|(_, given)| *given) {
            return refused(flag, "does not go with --baseline-scores, which compares tables and scores no defense");
        }
    } else if args.scores.is_empty() {
        let flags = [("--threshold", args.threshold.is_some()), ("--scope", !args.scopes.is_empty())];
        if let Some((flag, _)) = flags.iter().find(|(_, given)| *given) {
            return refused(flag, "goes with --scores");
        }
    }
    if args.corpus == corpora::EGRESS_REACH {
        let flags = [
            ("--defense", !args.defenses.is_empty()),
            ("--allow-destination", !args.allowed_destinations.is_empty()),
            ("--versus", args.versus.is_some()),
            ("--scores", !args.scores.is_empty()),
            ("--html", args.html.is_some()),
            ("--on-error", args.on_error != OnErrorArg::Fail),
            ("--exec-timeout", args.exec_timeout.is_some()),
        ];
        if let Some((flag, _)) = flags.iter().find(|(_, given)| *given) {
            return refused(flag, "does not go with --corpus egress-reach, which sorts tasks and scores nothing");
        }
    }
    if args.versus.is_some() && args.format == Format::Csv {
        return refused("--versus", "is printed as text, markdown or json, not as csv");
    }
    let any = |wanted| args.defenses.iter().any(|d| defenses::has(d, wanted));
    if !args.allowed_destinations.is_empty() && !args.defenses.is_empty() && !any(|d| d == "flow-guard") {
        return refused("--allow-destination", "goes with flow-guard, which is not among the defenses");
    }
    if args.exec_timeout.is_some() && !any(|d| d.starts_with("exec:")) {
        return refused("--exec-timeout", "goes with a defense exec:COMMAND");
    }
    Ok(())
}

/// A defense that moves a progress bar.
struct Counted<'a> {
    inner: &'a dyn Defense,
    bar: &'a ProgressBar,
}

impl Defense for Counted<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn decide(&self, call: &Call) -> Result<Decision, DefenseError> {
        self.bar.inc(1);
        self.inner.decide(call)
    }

    fn is_parallel(&self) -> bool {
        self.inner.is_parallel()
    }
}

/// A defense that cannot rule leaves the run incomplete; everything else is wrong input.
fn failure(error: EvaluateError) -> Failure {
    let incomplete = matches!(error, EvaluateError::Decide { .. });
    let message = Failure::from(error).to_string();
    if incomplete { Failure::new(Exit::Incomplete, message) } else { Failure::usage(message) }
}

pub(crate) fn in_suite<'a>(
    scenarios: &'a [Scenario],
    suite: Option<&str>,
    corpus: &str,
) -> Result<Cow<'a, [Scenario]>, Failure> {
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
