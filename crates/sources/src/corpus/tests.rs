use super::*;

const HEADER: &str = r#"{"format":"wardline-scenarios","version":1,"corpus":"mine","attacks":["x"],"texts":2,"scenarios":2,"note":"ignored"}"#;
const TEXTS: [&str; 2] = [r#"{"text":"first"}"#, r#"{"text":"zwe\u0131te"}"#];
const BENIGN: &str = r#"{"id":"s/u","suite":"s","kind":"benign","user_task":"u","prompt":"Do it","calls":[
    {"tool":"read","args":[],"output":0},
    {"tool":"send","args":[{"name":"to","provenance":"trusted","origin":"prompt","text":"a b"}],"dest":"a,b"}]}"#;
const INJECTION: &str = r#"{"id":"s/u/i","suite":"s","kind":"injection","user_task":"u","injection_task":"i","attack":"x",
    "twin":"s/u","goal":"Steal","prompt":"Do it","calls":[
    {"tool":"read","args":[],"output":1,"carrying":true},
    {"tool":"look","args":[],"output":0},
    {"tool":"send","args":[{"name":"to","provenance":"untrusted_web","text":""}],"dest":"","injected":true}]}"#;

fn file(lines: &[&str]) -> String {
    lines.iter().map(|l| l.replace('\n', " ") + "\n").collect()
}

fn parse(text: &str) -> Result<Corpus> {
    Corpus::parse(Path::new("mine.jsonl"), text.as_bytes())
}

fn good() -> [&'static str; 5] {
    [HEADER, TEXTS[0], TEXTS[1], BENIGN, INJECTION]
}

/// The error of the good file with one line replaced.
fn error_with(index: usize, line: &str) -> String {
    let mut lines = good();
    lines[index] = line;
    parse(&file(&lines)).unwrap_err().to_string()
}

#[test]
fn contexts_and_histories_are_what_came_before() {
    let corpus = parse(&file(&good())).unwrap();
    assert_eq!((corpus.name(), corpus.attacks(), corpus.transform()), ("mine", &["x".to_owned()][..], None));
    assert_eq!(corpus.texts()[1].as_str(), "zweıte");
    assert_eq!(corpus.sha256().len(), 64);
    let [benign, injection] = corpus.scenarios() else { panic!() };
    assert_eq!((benign.twin.as_deref(), injection.twin.as_deref()), (None, Some("s/u")));
    let last = &injection.steps[2];
    let context: Vec<_> = last.call.context.iter().map(|t| t.as_str()).collect();
    assert_eq!(context, ["zweıte", "first"]);
    assert!(Arc::ptr_eq(&last.call.context[1], &corpus.texts()[0]), "texts are shared");
    let history: Vec<_> = last.call.history.iter().map(|c| c.tool.as_str()).collect();
    assert_eq!((history, last.injected, last.call.dest.as_deref()), (vec!["read", "look"], true, Some("")));
    assert!(last.output.is_none() && injection.steps[0].output.as_ref().unwrap().carries_injection);
    assert_eq!((&*benign.steps[1].call.task, benign.steps[0].call.is_egress()), ("Do it", false));
}

#[test]
fn a_file_that_ends_early_is_truncated() {
    let whole = file(&good());
    let lines = good().map(|l| l.len() + 1);
    for cut in [0, 5, lines[0] + 3, lines[0] + lines[1], whole.len() - 1] {
        let error = parse(&whole[..cut]).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{cut}: {error}");
    }
    let error = parse(&whole[..lines[0] + lines[1]]).unwrap_err().to_string();
    assert_eq!(error, "mine.jsonl is truncated: it ends at line 3, where text 1 of 2 should stand");
    let counts = HEADER.replace("\"texts\":2", "\"texts\":18446744073709551615");
    assert!(error_with(0, &counts).contains("line 4"), "counts are not believed");
}

#[test]
fn other_formats_and_versions_are_named() {
    let error = error_with(0, &HEADER.replace("\"version\":1", "\"version\":7"));
    assert_eq!(
        error,
        "mine.jsonl is in format wardline-scenarios version 7, this release reads wardline-scenarios version 1"
    );
    let error = error_with(0, &HEADER.replace("wardline-scenarios", "other"));
    assert!(error.contains("is in format other version 1"), "{error}");
    let error = error_with(0, &format!("\u{feff}{HEADER}"));
    assert_eq!(error, "mine.jsonl line 1: the first line is not the header of a wardline-scenarios file");
}

#[test]
fn errors_name_line_and_id() {
    let error = error_with(3, &BENIGN.replace("\"prompt\"", "\"promt\""));
    assert!(error.starts_with("mine.jsonl line 4 (s/u): unknown field `promt`"), "{error}");
    let error = error_with(3, &BENIGN.replace("\"output\":0", "\"output\":2"));
    assert_eq!(error, "mine.jsonl line 4 (s/u): output 2 is outside the texts");
    let error = error_with(3, &BENIGN.replace("\"output\":0", "\"carrying\":true"));
    assert_eq!(error, "mine.jsonl line 4 (s/u): a call without output cannot be carrying");
    let error = error_with(4, BENIGN);
    assert_eq!(error, "mine.jsonl line 5 (s/u): the id is used twice");
    let error = error_with(4, &INJECTION.replace("\"twin\":\"s/u\"", "\"twin\":\"s/u/i\""));
    assert_eq!(error, "mine.jsonl line 5 (s/u/i): the twin \"s/u/i\" is no benign scenario of this file");
    let error = error_with(4, &INJECTION.replace("untrusted_web", "certain"));
    assert!(error.starts_with("mine.jsonl line 5 (s/u/i): unknown variant `certain`"), "{error}");
    let error = parse(&file(&[HEADER, TEXTS[0], TEXTS[1], BENIGN, INJECTION, BENIGN])).unwrap_err().to_string();
    assert_eq!(error, "mine.jsonl line 6: a line after the last scenario that the header counts");
    let error = Corpus::read(Path::new("/no/such/file")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read /no/such/file: "), "{error}");
}

#[test]
fn no_single_byte_change_panics() {
    let whole = file(&good());
    for at in 0..whole.len() {
        for byte in [0, b'"', b'\n', b'9', 0xff] {
            let mut bytes = whole.clone().into_bytes();
            bytes[at] = byte;
            let _ = Corpus::parse(Path::new("mine.jsonl"), &bytes);
        }
    }
}
