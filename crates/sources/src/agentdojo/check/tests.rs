use super::*;

const GOOD: &str = "{\"header\":1}\n{\"text\":\"seen\"}\n{\"text\":\"unseen\"}\n{\"id\":\"a\",\"calls\":[{\"output\":0}]}\n{\"id\":\"b\",\"calls\":[]}\n";

fn differences(text: &str, with_good: bool) -> Vec<Difference> {
    let lock = Lock::of(GOOD.as_bytes());
    match compare(text.as_bytes(), &lock, with_good.then_some(GOOD.as_bytes())) {
        FileState::Differs(d) => d,
        _ => Vec::new(),
    }
}

fn short(text: &str, with_good: bool) -> Vec<(usize, String, &'static str)> {
    differences(text, with_good).into_iter().map(|d| (d.line, d.record, d.what)).collect()
}

#[test]
fn equal_bytes_are_the_same() {
    assert_eq!(compare(GOOD.as_bytes(), &Lock::of(GOOD.as_bytes()), None), FileState::Same);
}

#[test]
fn changed_records_are_named_with_their_first_byte() {
    let found = differences(&GOOD.replace("seen\"}\n{\"text\":\"un", "seeN\"}\n{\"text\":\"uN"), true);
    let names: Vec<_> = found.iter().map(|d| (d.line, d.record.as_str(), d.what)).collect();
    assert_eq!(names, [(2, "text 0, first read in a", "differs"), (3, "text 1", "differs")]);
    let bytes = found[0].bytes.as_ref().unwrap();
    assert_eq!(
        (bytes.offset, bytes.expected.as_str(), bytes.found.as_str()),
        (12, r#"{\"text\":\"seen\"}"#, r#"{\"text\":\"seeN\"}"#)
    );
    // Without bytes that the lock accepts the file's own names are used, and nothing can be shown.
    let found = differences(&GOOD.replace("\"b\"", "\"c\""), false);
    assert_eq!((found.len(), found[0].record.as_str(), &found[0].bytes), (1, "c", &None));
    assert_eq!(
        short(&GOOD.replace("\"b\",\"calls\":[]}", "\"b\",\"calls\":[]"), false),
        [(5, "b".to_owned(), "differs")]
    );
}

#[test]
fn records_left_out_put_in_and_moved() {
    let cut = GOOD.replace("{\"id\":\"a\",\"calls\":[{\"output\":0}]}\n", "");
    assert_eq!(short(&cut, true), [(4, "a".to_owned(), "missing")]);
    assert_eq!(short(&cut, false), [(4, "a record after text 1".to_owned(), "missing")]);
    let more = GOOD.replace("{\"id\":\"b\"", "{\"id\":\"x\"}\n{\"id\":\"b\"");
    assert_eq!(short(&more, true), [(5, "x".to_owned(), "not in the lock")]);
    assert_eq!(short(GOOD.trim_end(), true), [(5, "b".to_owned(), "ends otherwise")]);
    assert_eq!(short(&format!("{GOOD}\n"), true), [(6, "line 6".to_owned(), "not in the lock")]);
    assert_eq!(short("", true).len(), 5);
}

#[test]
fn the_report_says_where_and_counts_the_rest() {
    let many: String = (0..50).map(|n| format!("{{\"id\":\"r{n}\"}}\n")).collect();
    let lock = Lock::of(many.as_bytes());
    let state = compare(many.replace("\"r", "\"s").as_bytes(), &lock, Some(many.as_bytes()));
    let report = CheckReport {
        files: vec![
            FileReport { name: CorpusName::Pairs, fresh: false, path: "pairs.jsonl".into(), state },
            FileReport { name: CorpusName::Ground, fresh: true, path: "ground.jsonl".into(), state: FileState::Same },
            FileReport { name: CorpusName::Inbox, fresh: false, path: "inbox.jsonl".into(), state: FileState::Missing },
        ],
    };
    assert!(!report.is_ok());
    assert_eq!(report.summary(), "pairs in 50 record(s), first line 1 (the header); inbox is missing");
    let text = report.to_string();
    assert!(text.starts_with(
        "pairs (built): 50 record(s) differ from the lock: pairs.jsonl\n  line 1, the header: differs from byte 7 on\n"
    ));
    assert!(
        text.contains("    expected …{\\\"id\\\":\\\"r0\\\"}…\n    found    …{\\\"id\\\":\\\"s0\\\"}…\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "  … and 30 more\nagentdojo (regenerated): same as the lock\ninbox (built): missing: inbox.jsonl\n"
        ),
        "{text}"
    );
}

#[test]
fn a_lock_reads_as_it_is_written() {
    for name in CorpusName::ALL {
        let lock = locked(name);
        assert_eq!(lock.sha256().len(), 64, "{name}");
        assert!(lock.records().iter().all(|r| r.len() == 16), "{name}");
        assert_eq!(name.as_str().parse::<CorpusName>().unwrap(), name);
    }
    let error = "nothing".parse::<CorpusName>().unwrap_err().to_string();
    assert!(error.starts_with("no corpus is named \"nothing\": there are agentdojo, pairs, "), "{error}");
}
