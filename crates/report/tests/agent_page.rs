//! The page of an agent run.

use std::fs;
use std::path::Path;

use wardline_report::{AgentPage, DefenseRow, Share, ThresholdSweep};

fn share(count: u64, of: u64) -> Share {
    let p = count as f64 / of as f64;
    Share { count, of, interval: Some(((p - 0.04).max(0.0), (p + 0.04).min(1.0))) }
}

fn row(name: &str, blocked: u64, attributable: u64, kept: u64) -> DefenseRow {
    DefenseRow {
        name: name.into(),
        control: name.ends_with("-all"),
        blocked: share(blocked, 609),
        attributable: Some(share(attributable, 609)),
        halted_in_task: Some(blocked - attributable),
        kept: share(kept, 97),
    }
}

fn page() -> AgentPage {
    let rows = vec![
        row("deny-all", 609, 0, 0),
        row("flow-guard", 547, 243, 48),
        row("<b>keyword</b>", 34, 16, 94),
        row("allow-all", 0, 0, 97),
    ];
    AgentPage {
        title: "Agent defenses".into(),
        corpus: "949 pairs, 97 benign tasks".into(),
        warnings: vec!["340 pairs are unscored".into()],
        parts: vec![("banking".into(), rows.clone()), ("slack".into(), rows.clone())],
        sweeps: vec![ThresholdSweep {
            name: "protectai-both".into(),
            points: vec![(0.5, 0.95, 0.46), (0.8, 0.94, 0.53), (0.99, 0.82, 0.74)],
        }],
        data: vec![("pairs".into(), "949".into())],
        methods: vec![("Blocked".into(), "any call is denied".into())],
        provenance: vec![("corpus, SHA-256".into(), "00".repeat(32))],
        footer: "Wardline".into(),
        rows,
        ..AgentPage::default()
    }
}

#[test]
fn it_escapes_and_stands_alone() {
    let html = page().page().unwrap().to_html();
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("agent-page.html"), &html).unwrap();
    assert!(html.contains("&lt;b&gt;keyword&lt;/b&gt;") && !html.contains("<b>"));
    assert_eq!(html.matches("<script").count(), 1);
    for word in ["http://", "https://", "src=", "url(", "@import"] {
        assert!(!html.contains(word), "{word}");
    }
    assert!(
        html.contains("On the Pareto front: &lt;b&gt;keyword&lt;/b&gt;, flow-guard")
            || html.contains("Pareto front: flow-guard")
    );
    // Controls are labelled and take no part in the front.
    assert!(html.contains("control") && !html.contains("front: deny-all"));
}

#[test]
fn undefined_shares_say_so() {
    let mut page = page();
    page.rows[1].blocked = Share { count: 0, of: 0, interval: None };
    let html = page.page().unwrap().to_html();
    assert!(html.contains("undefined"));
}

#[test]
fn the_same_bytes_every_time() {
    assert_eq!(page().page().unwrap().to_html(), page().page().unwrap().to_html());
}
