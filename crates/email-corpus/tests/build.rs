//! Building the profiles: counts of the recipe, the same bytes every time, and a lock that names what differs.
#![cfg(feature = "build")]

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::PathBuf;

use tempfile::TempDir;
use wardline_email_corpus::{
    BaseFolder, BuildInputs, Corpus, EvalRole, Lock, MailFile, OwnMail, Placement, Profile, SenderAuth, ThreatType,
    assemble, compare_with_built, own_mail, read_manifest, verify, write_corpus,
};

fn seeds() -> Corpus {
    assemble(Profile::Seeds, &BuildInputs::default()).expect("the seeds build from nothing else")
}

/// The upstream data sets, and the built AgentDojo inbox, where the machine has them.
#[expect(clippy::disallowed_methods, reason = "the test runner names the folders of test data in the environment")]
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn full_inputs() -> Option<BuildInputs> {
    let Some(upstream) = env::var_os("WARDLINE_UPSTREAM") else {
        println!("skipped: WARDLINE_UPSTREAM is not set (the full profile is built from it)");
        return None;
    };
    let inbox = env::var_os("WARDLINE_DATA_TEST").map(|data| PathBuf::from(data).join("agentdojo/inbox.jsonl"));
    let Some(inbox) = inbox.filter(|path| path.is_file()) else {
        println!(
            "skipped: WARDLINE_DATA_TEST names no folder with agentdojo/inbox.jsonl (the full profile is built from it)"
        );
        return None;
    };
    Some(BuildInputs { agentdojo_inbox: Some(inbox), upstream: Some(upstream.into()), ..BuildInputs::default() })
}

#[test]
fn the_seeds_hold_what_the_recipe_promises() {
    let corpus = seeds();
    let stats = corpus.stats();
    assert_eq!(stats.role["pi_positive"], (5 + 60) * 8 + 18);
    assert_eq!(stats.role["negative"], (25 + 40) * 8 + 40);
    assert_eq!(stats.role["phishing"], 40);
    assert_eq!(stats.records, 1138);
    let ids: BTreeSet<&str> = corpus.items.iter().map(|i| i.record.id.as_str()).collect();
    assert_eq!(ids.len(), corpus.items.len());
    assert!(corpus.items.iter().all(|i| i.eml.as_ref().is_some_and(|eml| !eml.is_empty())));
}

#[test]
fn placement_decides_direct_and_indirect() {
    for item in seeds().items.iter().filter(|i| i.record.label.scenario.is_some()) {
        let id = &item.record.id;
        let indirect =
            ["quoted_thread", "pdf_attachment", "nested_thread", "pdf_and_body"].iter().any(|end| id.ends_with(end));
        let expected = if indirect { ThreatType::PromptInjectionIndirect } else { ThreatType::PromptInjectionDirect };
        assert_eq!(item.record.label.threat_type, expected, "{id}");
    }
}

#[test]
fn authentication_rotates_over_payload_and_surface() {
    let corpus = seeds();
    let auth: BTreeMap<&str, SenderAuth> =
        corpus.items.iter().map(|i| (i.record.id.as_str(), i.record.sender_auth_condition)).collect();
    // The 343rd payload has index 342, a multiple of three.
    assert_eq!(auth["pi_0343_plaintext"], SenderAuth::Verified);
    assert_eq!(auth["pi_0343_html_visible"], SenderAuth::Spoofed);
    assert_eq!(auth["pi_0343_css_hidden"], SenderAuth::Unauthenticated);
    assert_eq!(auth["pi_0343_multipart_mismatch"], SenderAuth::Verified);
    assert_eq!(auth["pi_0344_plaintext"], SenderAuth::Spoofed);
    let mut counts: BTreeMap<SenderAuth, i64> = BTreeMap::new();
    for item in corpus.items.iter().filter(|i| i.record.role() == EvalRole::PiPositive) {
        *counts.entry(item.record.sender_auth_condition).or_default() += 1;
    }
    assert!(counts.values().max().expect("some") - counts.values().min().expect("some") <= 1, "{counts:?}");
}

#[test]
fn addresses_of_synthetic_mail_are_defanged() {
    for item in seeds().items {
        let text = String::from_utf8_lossy(item.eml.as_deref().unwrap_or_default()).into_owned();
        assert!(!text.contains("http://") && !text.contains("https://"), "{}", item.record.id);
    }
}

#[test]
fn two_builds_give_the_same_bytes_on_any_number_of_threads() {
    let one = rayon_pool(1, seeds);
    let many = rayon_pool(4, seeds);
    assert_eq!(one.items, many.items);
    assert_eq!(Lock::of(&one).expect("a lock"), Lock::of(&many).expect("a lock"));
}

fn rayon_pool<T: Send>(threads: usize, job: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(job)
}

#[test]
fn the_extension_adds_two_surfaces_and_changes_no_other_record() {
    let plain = seeds();
    let extended = assemble(Profile::Seeds, &BuildInputs { extended: true, ..BuildInputs::default() }).expect("built");
    let added = |id: &str| id.ends_with("_calendar_invitation") || id.ends_with("_docx_attachment");
    let kept: Vec<_> = extended.items.iter().filter(|i| !added(&i.record.id)).collect();
    assert_eq!(kept, plain.items.iter().collect::<Vec<_>>());
    assert_eq!(extended.items.len() - kept.len(), (5 + 60 + 25 + 40) * 2);
    assert_eq!(Placement::EXTENDED.len() - Placement::PUBLISHED.len(), 2);
}

#[test]
fn what_is_written_verifies_and_replaces_what_stood_there() {
    let corpus = seeds();
    let dir = TempDir::new().expect("a folder");
    let folder = dir.path().join("mail/seeds");
    for _ in 0..2 {
        let manifest = write_corpus(&corpus, &folder).expect("written");
        let found = verify(&manifest, &BaseFolder::open(&folder).expect("a folder")).expect("readable");
        assert!(found.is_ok(), "{:?}", found.problems);
        assert_eq!(found.digests_compared, corpus.items.len() as u64);
        assert_eq!(found.stats, corpus.stats());
        assert!(compare_with_built(&corpus, &folder).expect("compared").is_empty());
        let names: Vec<_> = std::fs::read_dir(dir.path().join("mail")).expect("listed").collect();
        assert_eq!(names.len(), 1, "nothing is left beside the folder");
    }
}

#[test]
fn a_folder_of_other_files_is_left_as_it_is() {
    let dir = TempDir::new().expect("a folder");
    std::fs::write(dir.path().join("thesis.txt"), "years of work").expect("written");
    let error = write_corpus(&seeds(), dir.path()).expect_err("refused").to_string();
    assert!(error.contains("it is left as it is"), "{error}");
    assert!(dir.path().join("thesis.txt").exists());
}

#[test]
fn differences_from_what_is_built_name_the_record_and_the_first_byte() {
    let corpus = seeds();
    let dir = TempDir::new().expect("a folder");
    let folder = dir.path().join("seeds");
    write_corpus(&corpus, &folder).expect("written");
    let victim = folder.join(corpus.items[3].record.eml_path.as_ref().expect("a path"));
    let mut bytes = std::fs::read(&victim).expect("read");
    bytes[10] ^= 1;
    std::fs::write(&victim, bytes).expect("written");
    std::fs::remove_file(folder.join(corpus.items[5].record.eml_path.as_ref().expect("a path"))).expect("removed");
    let differences = compare_with_built(&corpus, &folder).expect("compared");
    assert_eq!(differences.len(), 2, "{differences:?}");
    assert_eq!(differences[0].id, corpus.items[3].record.id);
    assert!(differences[0].message.contains("differs at byte 10: expected \""), "{}", differences[0].message);
    assert_eq!(differences[1].id, corpus.items[5].record.id);
}

#[test]
fn the_lock_names_what_differs() {
    let corpus = seeds();
    let lock = Lock::of(&corpus).expect("a lock");
    let (header, records) = lock.to_texts().expect("texts");
    let lock = Lock::parse(&header, &records).expect("a lock");
    assert!(lock.differences(&corpus).expect("compared").is_empty());

    let mut other = corpus.clone();
    other.items[0].eml.as_mut().expect("a message").push(b'\n');
    other.items[1].record.notes = Some("changed".into());
    let gone = other.items.remove(2);
    let named: Vec<(String, String)> =
        lock.differences(&other).expect("compared").into_iter().map(|d| (d.id, d.message)).collect();
    let id = |n: usize| corpus.items[n].record.id.clone();
    assert_eq!(
        named,
        [
            (id(0), "the message has changed".to_owned()),
            (id(1), "the record has changed".to_owned()),
            (gone.record.id, "is missing".to_owned())
        ]
    );

    let mut other = corpus.clone();
    other.items.swap(0, 1);
    let named: Vec<String> = lock.differences(&other).expect("compared").into_iter().map(|d| d.message).collect();
    assert_eq!(named, ["stands in line 2 instead of 1", "stands in line 1 instead of 2"]);

    assert!(Lock::parse(&header, "pi x y\n").is_err());
    assert!(Lock::parse(&header, &records[..100]).is_err());
}

#[test]
fn the_embedded_locks_parse() {
    for profile in [Profile::Core, Profile::Full] {
        assert!(Lock::embedded(profile).expect("parses").is_some());
    }
}

#[test]
fn full_and_core_need_their_inputs() {
    let error = assemble(Profile::Full, &BuildInputs::default()).expect_err("refused").to_string();
    assert!(error.contains("upstream"), "{error}");
    let error = assemble(Profile::Core, &BuildInputs::default()).expect_err("refused").to_string();
    assert!(error.contains("agentdojo/inbox.jsonl"), "{error}");
    let nowhere = BuildInputs { upstream: Some("/nowhere".into()), ..BuildInputs::default() };
    assert_eq!(assemble(Profile::Full, &nowhere).expect_err("refused").to_string(), "/nowhere: is no folder");
}

#[test]
fn the_full_profile_has_the_counts_of_the_recipe_and_is_what_the_lock_says() {
    let Some(inputs) = full_inputs() else { return };
    let corpus = assemble(Profile::Full, &inputs).expect("built");
    let stats = corpus.stats();
    assert_eq!(stats.role["pi_positive"], 2794);
    assert_eq!(stats.role["negative"], 2039);
    assert_eq!(stats.role_and_source["negative / ham_corpus"], 1500);
    assert_eq!(stats.role_and_source["negative / notinject"], 339);
    assert_eq!(stats.role_and_source["negative / handcrafted"], 200);
    assert_eq!(stats.threat_type["spam"], 500);
    let missing = 1000 - stats.threat_type["phishing"];
    assert_eq!(stats.records + missing, 6333);
    let noted =
        corpus.notes.iter().any(|note| note.contains("Nazario") && note.contains(&format!("{missing} missing")));
    assert!(noted || missing == 0, "{:?}", corpus.notes);

    let main = corpus.items.iter().filter(|i| i.record.id.starts_with("pi_"));
    let direct = main.clone().filter(|i| i.record.label.threat_type == ThreatType::PromptInjectionDirect).count();
    assert_eq!((main.clone().count(), direct), (2776, 1002));
    let auth = ["spoofed", "unauthenticated", "verified"].map(|a| stats.role_and_auth[&format!("pi_positive / {a}")]);
    assert!(auth.iter().max().expect("three") - auth.iter().min().expect("three") <= 1, "{auth:?}");

    let lock = Lock::embedded(Profile::Full).expect("parses").expect("a lock");
    assert_eq!(lock.differences(&corpus).expect("compared"), []);
    let core = assemble(Profile::Core, &inputs).expect("built");
    let lock = Lock::embedded(Profile::Core).expect("parses").expect("a lock");
    assert_eq!(lock.differences(&core).expect("compared"), []);

    for (name, built) in [("full", &corpus), ("core", &core)] {
        let card =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dataset.md")).expect("the card");
        let block = card.split_once(&format!("<!-- card:{name} -->\n\n")).expect("the mark").1;
        let block = block.split_once("\n<!-- /card -->").expect("the mark").0;
        assert_eq!(block, built.stats().to_markdown(), "run `cargo xtask dataset lock`");
    }

    // Records that both profiles hold are the same.
    let full: BTreeMap<&str, _> = corpus.items.iter().map(|i| (i.record.id.as_str(), i)).collect();
    let shared = core.items.iter().filter_map(|i| full.get(i.record.id.as_str()).map(|other| (*other, i)));
    assert_eq!(shared.clone().count(), (180 + 5) * 8 + 18 + 25 * 8);
    assert!(shared.into_iter().all(|(a, b)| a == b));
}

#[test]
fn own_mail_becomes_a_corpus_that_verifies() {
    let mail = |name: &str, text: &str| MailFile { name: name.into(), bytes: text.as_bytes().to_vec() };
    let options =
        OwnMail { name: "mine".into(), threat: ThreatType::Phishing, category: Some("bank".into()), auth: None };
    let files = vec![
        mail("a.eml", "From: A <a@b.example>\r\nSubject: =?utf-8?B?w6k=?=\r\n\r\nbody\r\n"),
        mail("b.eml", "no header at all"),
        mail("c.eml", "From: A <a@b.example>\r\nSubject: =?utf-8?B?w6k=?=\r\n\r\nbody\r\n"),
    ];
    let corpus = own_mail(files, &options).expect("a corpus");
    assert_eq!(corpus.items.len(), 2);
    assert_eq!(corpus.notes, ["3 messages found, 1 of them identical to another"]);
    assert_eq!(corpus.items[0].record.detector_input.subject.as_deref(), Some("é"));
    let dir = TempDir::new().expect("a folder");
    let manifest = write_corpus(&corpus, &dir.path().join("mine")).expect("written");
    let records = read_manifest(&manifest).expect("read");
    assert_eq!(records[0].id, "mine_00001");
    assert!(
        verify(&manifest, &BaseFolder::open(&dir.path().join("mine")).expect("a folder")).expect("readable").is_ok()
    );

    for name in ["", "../x", "a b", "a/b"] {
        let options = OwnMail { name: name.into(), ..options.clone() };
        assert!(own_mail(vec![mail("a", "x")], &options).is_err(), "{name}");
    }
    assert!(own_mail(Vec::new(), &options).is_err());
}
