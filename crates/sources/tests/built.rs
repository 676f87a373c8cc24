//! What is built from AgentDojo, against the published figures and score tables.
//!
//! Runs where `WARDLINE_DATA_TEST` names a data folder with built corpora, which `cargo xtask test` makes; `WARDLINE_SCORES` adds
//! the published score tables.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use wardline_defense::{Call, Kind, Origin, Provenance, Scenario, Source};
use wardline_sources::agentdojo::{self, CorpusName, FileState, Status};
use wardline_sources::{Corpus, Error};

fn folder(variable: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the test's setting")]
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {variable} is not set");
    }
    folder
}

fn built(name: CorpusName) -> Option<Corpus> {
    Some(agentdojo::load(&folder("WARDLINE_DATA_TEST")?, name).unwrap())
}

fn calls(scenarios: &[Scenario]) -> impl Iterator<Item = &Call> {
    scenarios.iter().flat_map(|s| &s.steps).map(|s| &*s.call)
}

fn of(corpus: &Corpus, kind: Kind) -> impl Iterator<Item = &Scenario> {
    corpus.scenarios().iter().filter(move |s| s.kind == kind)
}

/// Distinct outputs that some later call of an injection scenario has read and that carry the injection.
fn carrying<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> usize {
    let outputs = scenarios.flat_map(|s| &s.steps).filter_map(|s| s.output.as_ref());
    outputs.filter(|o| o.carries_injection).map(|o| o.text.sha256()).collect::<BTreeSet<_>>().len()
}

#[test]
fn ground_has_the_published_counts() {
    let Some(corpus) = built(CorpusName::Ground) else { return };
    let injections: Vec<_> = of(&corpus, Kind::Injection).collect();
    assert_eq!(of(&corpus, Kind::Benign).count(), 97);
    assert_eq!(injections.iter().filter(|s| s.is_scorable()).count(), 26);
    assert_eq!(injections.iter().filter(|s| !s.is_scorable()).count(), 9);

    let args = of(&corpus, Kind::Benign).flat_map(|s| &s.steps).flat_map(|s| &s.call.args);
    let untrusted: Vec<_> = args.filter(|a| a.provenance != Provenance::Trusted).map(|a| a.origin.unwrap()).collect();
    assert_eq!(untrusted.len(), 293);
    assert_eq!(untrusted.iter().filter(|o| **o == Origin::Environment).count(), 224);
    assert_eq!(untrusted.iter().filter(|o| **o == Origin::Neither).count(), 69);

    let reach = |wanted: fn(usize, usize) -> bool| {
        let scorable = injections.iter().filter(|s| s.is_scorable());
        scorable.filter(|s| wanted(s.steps.iter().filter(|s| s.call.is_egress()).count(), s.steps.len())).count()
    };
    assert_eq!(reach(|egress, all| egress == all), 13);
    assert_eq!(reach(|egress, all| 0 < egress && egress < all), 9);
    assert_eq!(reach(|egress, _| egress == 0), 4);
    assert!(calls(corpus.scenarios()).all(|c| c.context.is_empty()));
}

#[test]
fn pairs_have_the_published_counts() {
    let Some(corpus) = built(CorpusName::Pairs) else { return };
    let benign: BTreeMap<_, _> = of(&corpus, Kind::Benign).map(|s| (s.id.as_str(), s)).collect();
    let pairs: Vec<_> = of(&corpus, Kind::Injection).collect();
    assert_eq!((pairs.len(), benign.len()), (949, 97));
    let scorable: Vec<_> = pairs.iter().filter(|s| s.is_scorable()).collect();
    assert_eq!((scorable.len(), pairs.len() - scorable.len()), (609, 340));
    assert!(scorable.iter().all(|s| s.steps.iter().any(|s| s.output.as_ref().is_some_and(|o| o.carries_injection))));

    let identical = pairs.iter().filter(|pair| {
        let own: Vec<_> = pair.steps.iter().filter(|s| !s.injected).collect();
        let twin = &benign[pair.twin.as_deref().unwrap()].steps;
        own.len() == twin.len() && own.iter().zip(twin).all(|(a, b)| a.call.same_action(&b.call))
    });
    assert_eq!(identical.count(), 914);
    assert_eq!(carrying(pairs.iter().copied()), 434);
    let read = benign.values().flat_map(|s| &s.steps).flat_map(|s| &s.call.context);
    assert_eq!(read.map(|t| t.sha256()).collect::<BTreeSet<_>>().len(), 100);
}

#[test]
fn each_attack_reaches_as_many_outputs_as_the_main_one() {
    let Some(corpus) = built(CorpusName::Attacks) else { return };
    assert_eq!(corpus.attacks(), ["direct", "ignore_previous", "injecagent", "system_message", "tool_knowledge"]);
    for attack in corpus.attacks() {
        let pairs = || of(&corpus, Kind::Injection).filter(|s| s.attack.as_ref() == Some(attack));
        assert_eq!((pairs().count(), pairs().filter(|s| s.is_scorable()).count()), (949, 609), "{attack}");
        assert_eq!(carrying(pairs()), 434, "{attack}");
    }
}

/// Exactly the texts that the published score tables hold: a byte too many in any of them would show.
#[test]
fn texts_are_those_of_the_published_score_tables() {
    #[derive(serde::Deserialize)]
    struct Table {
        scores: BTreeMap<String, f64>,
    }
    let Some(scores) = folder("WARDLINE_SCORES") else { return };
    for (name, table, count) in [
        (CorpusName::Pairs, "pairs/protectai.json", 788),
        (CorpusName::Attacks, "attacks/protectai.json", 2_644),
        (CorpusName::AttacksFraming, "transformed/protectai-framing.json", 2_644),
        (CorpusName::AttacksFieldSplit, "transformed/protectai-field_split.json", 2_634),
        (CorpusName::AttacksLeet, "transformed/protectai-leet.json", 2_634),
    ] {
        let Some(corpus) = built(name) else { return };
        let table: Table = serde_json::from_slice(&fs::read(scores.join(table)).unwrap()).unwrap();
        let mut texts: BTreeSet<String> = BTreeSet::new();
        for call in calls(corpus.scenarios()) {
            texts.extend(call.context.iter().map(|t| hex(t.sha256())));
            if !call.args.is_empty() {
                let args: Vec<_> = call.args.iter().map(|a| a.text.as_str()).collect();
                texts.insert(hex(wardline_defense::Text::new(args.join("\n")).sha256()));
            }
        }
        assert_eq!(texts.len(), count, "{name}");
        assert!(texts.iter().eq(table.scores.keys()), "{name}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn the_inbox_has_thirty_scenarios_in_six_formulations() {
    let Some(data) = folder("WARDLINE_DATA_TEST") else { return };
    let records = agentdojo::inbox(&data).unwrap();
    let distinct = |of: fn(&agentdojo::InboxRecord) -> &str| records.iter().map(of).collect::<BTreeSet<_>>().len();
    assert_eq!((records.len(), distinct(|r| &r.id), distinct(|r| &r.scenario)), (180, 180, 30));
    assert_eq!((distinct(|r| &r.formulation), distinct(|r| &r.goal), distinct(|r| &r.carrier.placeholder)), (6, 6, 5));
    for r in &records {
        assert_eq!(r.body, format!("{}{}{}", r.carrier.before, r.payload, r.carrier.after), "{}", r.id);
        assert!(r.payload.contains(&r.goal), "{}", r.id);
    }
}

/// A data folder of its own with one built corpus.
fn copy_of(name: CorpusName) -> Option<tempfile::TempDir> {
    let data = folder("WARDLINE_DATA_TEST")?;
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir(copy.path().join("agentdojo")).unwrap();
    for extension in ["jsonl", "sha256"] {
        let file = |folder: &Path| agentdojo::file(folder, name).with_extension(extension);
        fs::copy(file(&data), file(copy.path())).unwrap();
    }
    Some(copy)
}

fn change(data: &Path, name: CorpusName, change: impl FnOnce(&mut Vec<u8>)) {
    let path = agentdojo::file(data, name);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
}

fn find(bytes: &[u8], needle: &str) -> usize {
    bytes.windows(needle.len()).position(|w| w == needle.as_bytes()).unwrap()
}

#[test]
fn a_flipped_byte_is_found_and_named() {
    let name = CorpusName::Pairs;
    let (Some(data), Some(copy)) = (folder("WARDLINE_DATA_TEST"), copy_of(name)) else { return };
    assert!(agentdojo::check(copy.path(), &[name], None).unwrap().is_ok());
    let id = "slack/user_task_3/injection_task_1/important_instructions_no_names";
    let mut offset = 0;
    change(copy.path(), name, |bytes| {
        let at = find(bytes, &format!("\"id\":\"{id}\""));
        let line = bytes[..at].iter().rposition(|&b| b == b'\n').unwrap() + 1;
        offset = 20;
        bytes[line + offset] ^= 1;
    });
    assert_eq!(agentdojo::status(copy.path(), name).unwrap(), Status::Changed);
    let error = agentdojo::load(copy.path(), name).unwrap_err().to_string();
    assert!(error.contains(id) && error.contains("`deveval corpora build pairs`"), "{error}");

    // The untouched file stands in for a regenerated one.
    let report = agentdojo::check(copy.path(), &[name], Some(&data.join("agentdojo"))).unwrap();
    assert!(!report.is_ok());
    let FileState::Differs(differences) = &report.files[0].state else { panic!("{report}") };
    assert_eq!((differences.len(), differences[0].record.as_str()), (1, id));
    let bytes = differences[0].bytes.as_ref().unwrap();
    assert_eq!(bytes.offset, offset);
    assert_ne!(bytes.expected, bytes.found);
    assert_eq!(report.files[1].state, FileState::Same);
}

#[test]
fn a_changed_text_is_named_by_its_first_reader() {
    let name = CorpusName::Pairs;
    let (Some(corpus), Some(copy)) = (built(name), copy_of(name)) else { return };
    let reader = corpus.scenarios().iter().find(|s| s.steps.iter().any(|s| s.output.is_some())).unwrap();
    change(copy.path(), name, |bytes| {
        let line = find(bytes, "\n{\"text\":") + 1;
        bytes[line + 15] ^= 1;
    });
    let report = agentdojo::check(copy.path(), &[name], None).unwrap();
    let FileState::Differs(differences) = &report.files[0].state else { panic!("{report}") };
    assert_eq!(differences[0].line, 2);
    assert_eq!(differences[0].record, format!("text 0, first read in {}", reader.id));
}

#[test]
fn bad_files_have_messages_of_their_own() {
    let name = CorpusName::Ground;
    let load = |data: &Path| agentdojo::load(data, name).unwrap_err();
    let empty = tempfile::tempdir().unwrap();
    let error = load(empty.path());
    assert!(matches!(error, Error::NotBuilt { .. }) && error.to_string().contains("`deveval corpora build agentdojo`"));

    let Some(copy) = copy_of(name) else { return };
    change(copy.path(), name, |bytes| bytes.truncate(bytes.len() - 100));
    let error = load(copy.path());
    let named = |error: &Error, what: &str| {
        let message = error.to_string();
        assert!(message.contains(what) && message.contains("`deveval corpora build agentdojo`"), "{message}");
    };
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    named(&error, "ends at line 133");

    let Some(copy) = copy_of(name) else { return };
    change(copy.path(), name, |bytes| {
        let at = find(bytes, "\"version\":1") + "\"version\":".len();
        bytes[at] = b'2';
    });
    let error = load(copy.path());
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    named(&error, "version 2");

    // As another release would have left it: the digest beside the file fits.
    let Some(copy) = copy_of(name) else { return };
    fs::write(agentdojo::file(copy.path(), name), "{\"format\":\"wardline-scenarios\"}\n").unwrap();
    let digest = "6596fd7ac1d5a1005df3b2859ea308f14c9c4aa5b260695e5da191edce3e91ce";
    fs::write(copy.path().join("agentdojo/ground.sha256"), format!("{digest}  ground.jsonl\n")).unwrap();
    let error = load(copy.path());
    assert!(matches!(error, Error::Stale { .. }), "{error}");
    assert_eq!(agentdojo::status(copy.path(), name).unwrap(), Status::Stale);
}

#[test]
fn lines_left_out_and_put_in_are_told_apart() {
    let name = CorpusName::Ground;
    let Some(copy) = copy_of(name) else { return };
    change(copy.path(), name, |bytes| {
        let start = find(bytes, "\n") + 1;
        let end = start + find(&bytes[start..], "\n") + 1;
        bytes.drain(start..end);
    });
    let report = agentdojo::check(copy.path(), &[name], None).unwrap();
    let FileState::Differs(differences) = &report.files[0].state else { panic!("{report}") };
    assert_eq!((differences.len(), differences[0].line, differences[0].what), (1, 2, "missing"));

    let Some(copy) = copy_of(name) else { return };
    change(copy.path(), name, |bytes| {
        let at = find(bytes, "\n") + 1;
        bytes.splice(at..at, b"{\"id\":\"mine\"}\n".iter().copied());
    });
    let report = agentdojo::check(copy.path(), &[name], None).unwrap();
    let FileState::Differs(differences) = &report.files[0].state else { panic!("{report}") };
    assert_eq!((differences[0].record.as_str(), differences[0].what), ("mine", "not in the lock"));
}
