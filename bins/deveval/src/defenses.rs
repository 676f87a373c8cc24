//! Defenses by name.

use std::time::Duration;

use wardline_cli::Failure;
use wardline_defense::{AllowAll, Combined, Defense, DenyAll, DenyEgress, ExecDefense, FlowGuard, KeywordFilter, Rule};

use crate::args::ScoreArgs;
use crate::classifiers::Classifiers;

/// The defenses of the command line, or the reference set; then those of the score tables.
pub(crate) fn chosen(args: &ScoreArgs, classifiers: &Classifiers) -> Result<Vec<Box<dyn Defense>>, Failure> {
    let reference = ["deny-all", "deny-egress", "flow-guard", "keyword-filter", "allow-all"];
    let mut specs: Vec<&str> = args.defenses.iter().map(String::as_str).collect();
    if specs.is_empty() {
        specs = reference.to_vec();
    } else {
        // The controls are always shown: a rate means nothing without the two ends.
        for control in ["deny-all", "allow-all"] {
            if !specs.contains(&control) {
                specs.push(control);
            }
        }
    }
    for (i, spec) in specs.iter().enumerate() {
        if specs[..i].contains(spec) {
            return Err(Failure::usage(format!("defense {spec} is given twice")));
        }
    }
    let mut all = specs.into_iter().map(|s| defense(s, args, classifiers)).collect::<Result<Vec<_>, _>>()?;
    for classifier in classifiers.defenses()? {
        if all.iter().all(|d| d.name() != classifier.name()) {
            all.push(classifier);
        }
    }
    Ok(all)
}

fn defense(spec: &str, args: &ScoreArgs, classifiers: &Classifiers) -> Result<Box<dyn Defense>, Failure> {
    Ok(match spec {
        "allow-all" => Box::new(AllowAll),
        "deny-all" => Box::new(DenyAll),
        "keyword-filter" => Box::new(KeywordFilter),
        "deny-egress" => Box::new(DenyEgress),
        "flow-guard" if args.allowed_destinations.is_empty() => Box::new(FlowGuard::new()),
        "flow-guard" => Box::new(FlowGuard::with_allowed_destinations(args.allowed_destinations.iter().cloned())),
        _ => match spec.split_once(':') {
            Some(("any", members)) => Box::new(combined(Rule::Any, members, args, classifiers)?),
            Some(("all", members)) => Box::new(combined(Rule::All, members, args, classifiers)?),
            Some(("exec", command)) => Box::new(exec(spec, command, args)?),
            _ => {
                if let Some(classifier) = classifiers.named(spec) {
                    return classifier;
                }
                return Err(Failure::usage(format!(
                    "unknown defense {spec}; there are allow-all, deny-all, keyword-filter, deny-egress, flow-guard, \
                     any:A,B, all:A,B and exec:COMMAND"
                )));
            }
        },
    })
}

/// Whether a defense, or a member of a combination, is such a one.
pub(crate) fn has(spec: &str, wanted: fn(&str) -> bool) -> bool {
    match spec.split_once(':') {
        Some(("any" | "all", members)) => members.split(',').any(|m| has(m.trim(), wanted)),
        _ => wanted(spec),
    }
}

fn combined(rule: Rule, members: &str, args: &ScoreArgs, classifiers: &Classifiers) -> Result<Combined, Failure> {
    let members = members.split(',').map(|m| defense(m.trim(), args, classifiers)).collect::<Result<Vec<_>, _>>()?;
    Ok(Combined::new(rule, members)?)
}

fn exec(spec: &str, command: &str, args: &ScoreArgs) -> Result<ExecDefense, Failure> {
    let words = shell_words::split(command).map_err(|e| Failure::usage(format!("defense {spec}: {e}")))?;
    let mut words = words.into_iter();
    let program = words.next().ok_or_else(|| Failure::usage("exec: needs a command".to_owned()))?;
    Ok(ExecDefense::new(spec, program, words, Duration::from_secs_f64(args.exec_timeout())))
}
