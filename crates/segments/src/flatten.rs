use memchr::memmem;

use crate::result::Extraction;

/// The text that a text detector reads: contents in segment order, joined by newlines, skipping a content that is already wholly
/// contained in what was joined before.
///
/// ```
/// use wardline_segments::{Extraction, Segment, SegmentKind, flatten};
/// let segment = |kind, text: &str| Segment { kind, content: text.into(), reference: "1".into() };
/// let extraction = Extraction::from_segments(None, vec![
///     segment(SegmentKind::TextPlain, "pay the bill today"),
///     segment(SegmentKind::HtmlVisible, "the bill"),
///     segment(SegmentKind::Subject, "hello"),
/// ]);
/// assert_eq!(flatten(&extraction), "hello\npay the bill today");
/// ```
#[must_use]
pub fn flatten(extraction: &Extraction) -> String {
    let mut out = String::with_capacity(extraction.segments.iter().map(|s| s.content.len() + 1).sum());
    for segment in &extraction.segments {
        if memmem::find(out.as_bytes(), segment.content.as_bytes()).is_some() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&segment.content);
    }
    out
}
