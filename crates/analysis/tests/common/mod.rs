//! Small runs written for a test.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// A manifest line.
pub(crate) fn record(id: &str, threat: &str, surface: &str, source: &str, payload: Option<&str>) -> String {
    let payload = payload.map_or(String::new(), |p| format!(r#","base_payload_id":"{p}""#));
    let surface = if surface.is_empty() { String::new() } else { format!("{surface:?}") };
    format!(
        r#"{{"id":"{id}","label":{{"is_malicious":{},"threat_type":"{threat}"}},"surface":[{surface}],"provenance":{{"source":"{source}","synthetic":true{payload}}},"sender_auth_condition":"verified"}}
"#,
        threat != "benign"
    )
}

/// 40 injections over 20 payloads, 20 phishing messages and 120 negatives, ids rising.
pub(crate) fn manifest() -> String {
    let mut lines: Vec<String> = Vec::new();
    for n in 0..120 {
        lines.push(record(&format!("ham_{n:03}"), "benign", "", "ham_corpus", None));
    }
    for n in 0..20 {
        lines.push(record(&format!("lure_{n:03}"), "phishing", "", "phishing_corpus", None));
    }
    for n in 0..40 {
        let surface = if n % 2 == 0 { "plaintext_body" } else { "html_hidden_css" };
        let payload = format!("pay_{:02}", n / 2);
        lines.push(record(&format!("pi_{n:03}"), "prompt_injection_direct", surface, "handcrafted", Some(&payload)));
    }
    lines.concat()
}

/// The ids of [`manifest`], in order.
pub(crate) fn ids() -> Vec<String> {
    let numbered = |name: &'static str, n: u32| (0..n).map(move |i| format!("{name}_{i:03}"));
    numbered("ham", 120).chain(numbered("lure", 20)).chain(numbered("pi", 40)).collect()
}

/// A good score for a record: injections high, save every fifth; others low.
pub(crate) fn score(n: usize, id: &str) -> f64 {
    let base = if id.starts_with("pi_") && !n.is_multiple_of(5) { 0.6 } else { 0.1 };
    base + f64::from((n * 37 % 100) as u32) / 400.0
}

/// A predictions file in which `line` gives each row; `None` leaves the row out.
pub(crate) fn predictions(mut line: impl FnMut(usize, &str) -> Option<String>) -> String {
    ids().iter().enumerate().filter_map(|(n, id)| line(n, id)).map(|l| l + "\n").collect()
}

/// The row of a detector with a score.
pub(crate) fn row(id: &str, detector: &str, score: &str) -> String {
    format!(r#"{{"id":"{id}","detector":"{detector}","flagged":false,"score":{score},"latency_ms":12.5}}"#)
}

/// A good predictions file.
pub(crate) fn good(detector: &str) -> String {
    predictions(|n, id| Some(row(id, detector, &format!("{:?}", score(n, id)))))
}

/// A run folder of files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    write(folder.path(), files);
    folder
}

pub(crate) fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}
