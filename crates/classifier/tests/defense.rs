//! Score tables as defenses.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use wardline_classifier::{
    Chunking, ClassifierDefense, CorpusTexts, Scope, ScoreTable, changed_outputs, drop_under_transform, labels, report,
};
use wardline_defense::{Arg, Call, Defense, Kind, Output, Provenance, Scenario, Step, Text};

fn table(model: &str, scores: &[(&str, f64)]) -> Arc<ScoreTable> {
    let mut table = ScoreTable::new(model, "r1", "INJECTION", Chunking::PUBLISHED);
    for (text, score) in scores {
        table.insert(*Text::new(*text).sha256(), *score).unwrap();
    }
    Arc::new(table)
}

fn call(args: &[&str], context: &[&str]) -> Call {
    let arg = |text: &&str| Arg {
        name: "a".to_owned(),
        provenance: Provenance::Trusted,
        text: (*text).to_owned(),
        origin: None,
    };
    Call {
        tool: "send".to_owned(),
        args: args.iter().map(arg).collect(),
        dest: None,
        context: context.iter().map(|t| Arc::new(Text::new(*t))).collect(),
        task: "task".into(),
        history: Vec::new(),
    }
}

fn denies(scope: Scope, threshold: f64, call: &Call) -> bool {
    let table = table("x/y", &[("out 1", 0.2), ("out 2", 0.7), ("p\nq", 0.5), ("q", 0.9)]);
    let defense = ClassifierDefense::new("classifier", table, scope, threshold).unwrap();
    assert_eq!(defense.name(), format!("classifier-{scope}@{threshold}"));
    defense.decide(call).unwrap().is_deny()
}

#[test]
fn scopes_read_outputs_and_arguments() {
    let both = call(&["p", "q"], &["out 1", "out 2"]);
    assert!(denies(Scope::Context, 0.7, &both), "at the threshold is denied");
    assert!(!denies(Scope::Context, 0.71, &both));
    assert!(denies(Scope::Args, 0.5, &both), "arguments are joined by a newline");
    assert!(!denies(Scope::Args, 0.51, &both));
    assert!(denies(Scope::Both, 0.6, &both));
    assert!(!denies(Scope::Both, 0.8, &both));
}

#[test]
fn a_call_without_texts_is_allowed() {
    for scope in Scope::ALL {
        assert!(!denies(scope, 0.0, &call(&[], &[])));
    }
    // The empty text scores 0 and needs no key.
    assert!(!denies(Scope::Both, 0.1, &call(&[""], &[""])));
}

#[test]
fn a_text_without_a_score_is_an_error() {
    let defense = ClassifierDefense::new("c", table("x/y", &[]), Scope::Context, 0.5).unwrap();
    let error = defense.decide(&call(&[], &["unseen"])).unwrap_err().to_string();
    assert!(error.contains("x/y lacks 1 texts"), "{error}");
}

#[test]
fn thresholds_outside_0_to_1_are_refused() {
    for threshold in [-0.1, 1.1, f64::NAN] {
        assert!(ClassifierDefense::new("c", table("x/y", &[]), Scope::Both, threshold).is_err());
    }
}

#[test]
fn labels_tell_tables_apart() {
    let named = |models: &[&str]| {
        let tables: Vec<_> = models.iter().map(|m| table(m, &[])).collect();
        labels(&tables.iter().map(|t| &**t).collect::<Vec<_>>()).map_err(|e| e.to_string())
    };
    assert_eq!(named(&["ProtectAI/one"]).unwrap(), ["classifier"]);
    assert_eq!(named(&["ProtectAI/one", "deepset/two"]).unwrap(), ["protectai", "deepset"]);
    assert_eq!(named(&["meta/a", "Meta/b", "deepset/c"]).unwrap(), ["a", "b", "deepset"]);
    assert!(named(&["meta/a", "meta/a"]).unwrap_err().contains("two score tables are named a"));
    let mut capped = ScoreTable::new("x/y", "r", "L", Chunking::new(510, 256, Some(1)).unwrap());
    capped.insert([0; 32], 0.5).unwrap();
    assert_eq!(labels(&[&capped]).unwrap(), ["classifier+1w"]);
}

/// A user's call that reads nothing, then an injected one that reads its output.
fn scenario(id: &str, kind: Kind, output: &str, carries: bool) -> Scenario {
    let step = |context: &[&str], injected, output: Option<&str>| Step {
        call: Arc::new(call(&["p"], context)),
        injected,
        output: output.map(|o| Output { text: Arc::new(Text::new(o)), carries_injection: carries }),
    };
    let last = kind == Kind::Injection;
    Scenario {
        id: id.to_owned(),
        suite: "s".to_owned(),
        kind,
        user_task: None,
        injection_task: None,
        attack: None,
        twin: None,
        steps: vec![step(&[], false, Some(output)), step(&[output], last, Some("unread"))],
    }
}

#[test]
fn a_report_counts_distinct_outputs_that_were_read() {
    let scenarios = [
        scenario("b1", Kind::Benign, "clean", false),
        scenario("b2", Kind::Benign, "clean", false),
        scenario("i1", Kind::Injection, "dirty", true),
        scenario("i2", Kind::Injection, "dirty 2", true),
    ];
    let texts = CorpusTexts::of(&scenarios);
    // "unread" is returned by the last call and read by none.
    assert_eq!((texts.len(), texts.benign_outputs().len(), texts.carrying_outputs().len()), (4, 1, 2));
    let table = table("x/y", &[("clean", 0.6), ("dirty", 0.9), ("dirty 2", 0.1), ("p", 0.0)]);
    table.require("t", texts.iter().map(|t| &**t)).unwrap();
    let r = report("classifier", &table, 0.5, &scenarios, &texts).unwrap();
    assert_eq!((r.benign_outputs_read, r.benign_outputs_flagged), (1, 1));
    assert_eq!((r.carrying_outputs_read, r.injected_outputs_detected), (2, 1));
    let swept: Vec<_> = r.threshold_sweep.iter().map(|x| (x.defense.as_str(), x.blocked, x.kept)).collect();
    assert_eq!(swept[0], ("classifier-both@0.5", 1, 0));
    assert_eq!(swept[4], ("classifier-both@0.99", 0, 2));
}

#[test]
fn a_drop_pairs_outputs_by_their_place() {
    let before = [
        scenario("i1", Kind::Injection, "a", true),
        scenario("i2", Kind::Injection, "b", true),
        scenario("i3", Kind::Injection, "same", true),
    ];
    let after = [
        scenario("i1", Kind::Injection, "A", true),
        scenario("i2", Kind::Injection, "B", true),
        scenario("i3", Kind::Injection, "same", true),
    ];
    let changed = changed_outputs(&before, &after).unwrap();
    assert_eq!(changed.len(), 2, "an output that the transform left alone does not count");
    let (base, transformed) = (table("x/y", &[("a", 0.5), ("b", 0.9)]), table("x/y", &[("A", 0.4), ("B", 1.0)]));
    let drop = drop_under_transform("c", ("base", &base), ("t", &transformed), 0.5, &changed).unwrap();
    assert_eq!((drop.n, drop.evaded), (2, 1));
    let mean = drop.mean.unwrap();
    assert!(mean.abs() < 1e-12, "{mean}");
    assert!((drop.quantiles.unwrap().q25 - -0.05).abs() < 1e-12);
    let error = drop_under_transform("c", ("base", &base), ("t", &base), 0.5, &changed).unwrap_err().to_string();
    assert!(error.starts_with("t lacks 2 texts"), "{error}");
    assert!(changed_outputs(&before[..1], &after).unwrap_err().to_string().contains("no scenario i2"));
    assert!(changed_outputs(&[], &[]).unwrap().is_empty());
}
