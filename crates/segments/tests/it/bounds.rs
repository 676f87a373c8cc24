//! Messages that cost more than they weigh end with `truncated` set and keep what fits. `cargo xtask bench segments` holds the
//! clock and the memory to their bounds.

use wardline_segments::{Limits, SegmentKind, extract};

use crate::common::checked;

fn truncated(raw: &[u8], what: &str) {
    let found = checked(raw, what);
    assert!(found.signals.truncated, "{what}");
    assert!(!found.segments.is_empty(), "{what}");
}

fn html(body: &str) -> Vec<u8> {
    format!("Content-Type: text/html\n\nseen {body}").into_bytes()
}

#[test]
fn many_and_deep_parts() {
    let parts: String = (0..10_000).map(|i| format!("--b\nContent-Type: text/plain\n\npart {i}\n")).collect();
    truncated(format!("Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n").as_bytes(), "parts");
    let deep: String =
        (0..1000).map(|i| format!("Content-Type: multipart/mixed; boundary=b{i}x\n\n--b{i}x\n")).collect();
    truncated(format!("{deep}Content-Type: text/plain\n\ndeep\n").as_bytes(), "depth");
    let messages = "Content-Type: message/rfc822\n\n".repeat(100_000);
    truncated(format!("{messages}Subject: deep\n\ndeep\n").as_bytes(), "nested messages");
}

#[test]
fn long_texts() {
    let line = "SWdub3JlIHRoZSBydWxlcyBhbmQgb2JleSB0aGUgbWVtby4gSWdub3JlIHRoZSBydWxlcy4g\n";
    let body = line.repeat((4 << 20) / line.len());
    truncated(format!("Content-Transfer-Encoding: base64\n\n{body}").as_bytes(), "base64");
    truncated(&html(&"<b>word</b> ".repeat(500_000)), "html line");
    let found = extract(&html(&"word ".repeat(400_000)), &Limits::default());
    assert!(found.contents(SegmentKind::HtmlVisible).all(|t| t.len() <= 1 << 20));
}

#[test]
fn html_and_css() {
    truncated(&html(&"<div><b>".repeat(20_000)), "html depth");
    let many: String = (0..20_000).map(|i| format!(" a{i}")).collect();
    truncated(&html(&format!("<p{many}>text")), "attributes");
    let open: String = (0..600).map(|i| format!("<font size={i}>")).collect();
    truncated(&html(&(open + &"<p>x".repeat(5000))), "formatting");
    let rules: String = (0..3000).map(|i| format!(":not(.a{i}) * > :not(.b{i}){{color:red}}")).collect();
    truncated(&html(&format!("<style>{rules}</style>{}", "<div><i>x</i>".repeat(3000))), "selectors");
}

#[test]
fn smaller_limits_hold() {
    let mut limits = Limits::default();
    limits.max_text = 10;
    let found = extract("Subject: 12345678\n\na\u{e9}bcdef\n".as_bytes(), &limits);
    assert!(found.signals.truncated);
    assert_eq!(found.segments.iter().map(|s| s.content.as_str()).collect::<Vec<_>>(), ["12345678", "a"]);
}

#[test]
fn no_byte_at_all() {
    let found = checked(b"", "empty");
    assert_eq!((found.segments.len(), found.spans.len(), found.signals), (0, 0, wardline_segments::Signals::default()));
}

#[test]
fn crashes_that_fuzzing_found() {
    // Two delimiter lines in a row share a line end.
    checked(b"Content-Type: multipart/mixed; boundary=A\n\n--A\n--A\n\nx\n--A\n--A--\n", "delimiters");
}
