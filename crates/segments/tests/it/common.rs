//! What the integration tests share.

use std::path::PathBuf;

use wardline_segments::{Extraction, Limits, extract, flatten, naive_view};

/// Extracts and checks what holds for every message.
pub(crate) fn checked(raw: &[u8], what: &str) -> Extraction {
    let limits = Limits::default();
    let found = extract(raw, &limits);
    let bytes: usize = found.segments.iter().map(|s| s.content.len()).sum();
    assert!(bytes <= 2 * limits.max_text, "{what}: {bytes} bytes of text");
    for segment in &found.segments {
        assert!(!segment.content.trim().is_empty() && !segment.content.contains('\r'), "{what}: {}", segment.reference);
        assert!(!segment.reference.is_empty(), "{what}: {segment:?}");
    }
    assert!(found.segments.is_sorted_by_key(|s| s.kind), "{what}");
    let mut at = 0;
    for span in &found.spans {
        assert_eq!(span.start, at, "{what}: a gap or an overlap before {span:?}");
        at = span.end;
    }
    assert_eq!(at, raw.len(), "{what}: the end is in no span");
    let json = serde_json::to_string(&found).expect("JSON");
    let back: Extraction = serde_json::from_str(&json).expect("JSON that reads back");
    assert_eq!(back, found, "{what}");
    let _ = flatten(&found);
    let _ = naive_view(raw, &limits);
    found
}

/// The folder of upstream data, or a note that there is none.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the test runner names the folders of test data in the environment"
)]
pub(crate) fn upstream() -> Option<PathBuf> {
    let folder = std::env::var_os("WARDLINE_UPSTREAM").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: WARDLINE_UPSTREAM is not set (a folder with upstream corpora)");
    }
    folder
}
