//! Signals that the texts themselves give.

mod diverge;
mod homoglyph;
mod invisible;
mod url;

pub(crate) use url::addresses;

use crate::result::{Evidence, Extraction, Segment, SegmentKind};

/// Fills in the signals of text, and adds what invisible characters spell as hidden text.
pub(crate) fn fill(out: &mut Extraction) {
    let mut letters = homoglyph::Letters::default();
    let mut spelled: Vec<Segment> = Vec::new();
    for segment in &out.segments {
        let content = segment.content.as_str();
        let mut note = |signal: &str, offset: usize, detail: String| {
            out.evidence.push(Evidence { signal: signal.into(), reference: segment.reference.clone(), offset, detail });
        };
        if let Some(offset) = url::spaced(content) {
            out.signals.fragmented_url = true;
            note("fragmented_url", offset, "spaces between the letters".into());
        }
        if content.is_ascii() {
            letters.ascii(content);
            continue;
        }
        if let Some((offset, detail)) = letters.add(content) {
            note("homoglyph_ratio", offset, detail);
        }
        let found = invisible::scan(content);
        for (signal, count, first) in [
            ("unicode_tags", &mut out.signals.unicode_tags, found.tags),
            ("zero_width", &mut out.signals.zero_width, found.zero_width),
            ("bidi_controls", &mut out.signals.bidi_controls, found.bidi),
        ] {
            if first.count > 0 {
                *count = count.saturating_add(first.count);
                note(signal, first.offset, format!("{} characters", first.count));
            }
        }
        if found.any
            && let Some(offset) = url::split_by_invisible(content)
        {
            out.signals.fragmented_url = true;
            note("fragmented_url", offset, "invisible characters".into());
        }
        if !found.spelled.is_empty() {
            let reference = format!("{}#invisible", segment.reference);
            spelled.push(Segment { kind: SegmentKind::HtmlHidden, content: found.spelled.join("\n"), reference });
        }
    }
    out.signals.homoglyph_ratio = letters.ratio();
    if !spelled.is_empty() {
        out.segments.extend(spelled);
        out.segments.sort_by_key(|s| s.kind);
    }
    if let Some(similarity) = diverge::similarity(&out.segments) {
        out.signals.plain_html_diverge = similarity < 0.5;
        if similarity < 0.5 {
            out.evidence.push(Evidence {
                signal: "plain_html_diverge".into(),
                reference: String::new(),
                offset: 0,
                detail: format!("{similarity:.2}"),
            });
        }
    }
}
