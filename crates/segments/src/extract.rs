use crate::limits::Limits;
use crate::result::{Extraction, Segment, SegmentKind};
use crate::walk::{Collector, Mode, Place, message};

/// Extracts everything that a person or a model could read in a message, whatever its bytes are.
///
/// Never fails and never panics: what can be extracted is, and what cannot is named in the signals. `evidence` and `spans` are
/// filled; [`Extraction::compact`] takes them out.
#[must_use]
pub fn extract(raw: &[u8], limits: &Limits) -> Extraction {
    let mut out = Collector::new(limits, Mode::Canonical, raw.len());
    message(&mut out, raw, &Place::root());
    out.finish()
}

/// What a simple gateway reads: the subject, the From field and the plain text parts, or the HTML parts with their tags stripped
/// when there is no plain text. One reading, no attachments, no signals but `truncated`.
///
/// ```
/// use wardline_segments::{Limits, naive_view};
/// let raw = b"From: Ann <ann@example.com>\nSubject: Hi\nContent-Type: text/html\n\n<p>Hello</p><p style=display:none>you</p>";
/// let view = naive_view(raw, &Limits::default());
/// let texts: Vec<_> = view.segments.iter().map(|s| s.content.as_str()).collect();
/// assert_eq!(texts, ["Hi", "Ann <ann@example.com>", "Hello\nyou"]);
/// ```
#[must_use]
pub fn naive_view(raw: &[u8], limits: &Limits) -> Extraction {
    let mut out = Collector::new(limits, Mode::Naive, raw.len());
    message(&mut out, raw, &Place::root());
    naive_bodies(out.finish())
}

/// Keeps HTML only when there is no plain text, and nothing of nested messages.
pub(crate) fn naive_bodies(mut view: Extraction) -> Extraction {
    let nested = |s: &Segment| s.reference.contains('/');
    view.segments.retain(|s| !nested(s));
    if view.segments.iter().any(|s| s.kind == SegmentKind::TextPlain) {
        view.segments.retain(|s| s.kind != SegmentKind::HtmlVisible);
    }
    view
}
