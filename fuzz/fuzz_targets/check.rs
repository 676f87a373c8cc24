//! What holds for every message.

use wardline_segments::{Limits, extract, flatten, naive_view};

/// Processor time that one input may take. The counters of the fuzzer slow the extractor down several times.
const MAX_SECONDS: f64 = 1.0;

/// Processor time of this thread, where the system tells (Linux): other programs on the machine do not count.
fn busy_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Extracts and checks what the crate promises.
pub(crate) fn check(raw: &[u8]) {
    let limits = Limits::default();
    let before = busy_seconds();
    let found = extract(raw, &limits);
    if let (Some(before), Some(after)) = (before, busy_seconds()) {
        assert!(after - before <= MAX_SECONDS, "{:.2} s of processor time", after - before);
    }
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
