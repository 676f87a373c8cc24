//! What holds for every message.

use wardline_segments::{Limits, extract, flatten, naive_view};

/// Extracts and checks what the crate promises.
pub(crate) fn check(raw: &[u8]) {
    let limits = Limits::default();
    let found = extract(raw, &limits);
    let bytes: usize = found.segments.iter().map(|s| s.content.len()).sum();
    // What invisible characters spell comes on top, and can't be longer than what spelled it.
    assert!(bytes <= 2 * limits.max_text, "{bytes} bytes of text");
    assert!(found.segments.iter().all(|s| !s.content.trim().is_empty() && !s.content.contains('\r')));
    assert!(found.segments.is_sorted_by_key(|s| s.kind));
    let mut at = 0;
    for span in &found.spans {
        assert_eq!(span.start, at, "a gap or an overlap before {span:?}");
        at = span.end;
    }
    assert_eq!(at, raw.len(), "the end is in no span");
    assert!((0.0..=1.0).contains(&found.signals.homoglyph_ratio));
    let _ = flatten(&found);
    let _ = naive_view(raw, &limits);
}
