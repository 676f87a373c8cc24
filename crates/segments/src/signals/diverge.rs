use std::borrow::Cow;
use std::collections::HashMap;

use crate::result::{Segment, SegmentKind};

/// Jaccard similarity of the words of the plain body and of the visible HTML body; `None` when either has fewer than three.
pub(super) fn similarity(segments: &[Segment]) -> Option<f64> {
    let body = |kind: SegmentKind| {
        segments
            .iter()
            .filter(move |s| s.kind == kind && !s.reference.contains(['#', '~', '/']))
            .map(|s| s.content.as_str())
    };
    if body(SegmentKind::TextPlain).next().is_none() || body(SegmentKind::HtmlVisible).next().is_none() {
        return None;
    }
    // Each distinct word, and whether the HTML body has it.
    let mut in_html: HashMap<Cow<'_, str>, bool> = HashMap::new();
    for word in body(SegmentKind::TextPlain).flat_map(words) {
        in_html.insert(word, false);
    }
    let plain = in_html.len();
    let (mut html, mut both) = (0_u32, 0_u32);
    for word in body(SegmentKind::HtmlVisible).flat_map(words) {
        match in_html.insert(word, true) {
            None => html += 1,
            Some(false) => (html, both) = (html + 1, both + 1),
            Some(true) => {}
        }
    }
    (plain >= 3 && html >= 3).then(|| f64::from(both) / (plain as f64 + f64::from(html) - f64::from(both)))
}

/// Words in lower case. Web addresses are left out: the HTML side shows a link's text instead.
fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let token = |token: &&str| !(token.contains('@') || token.contains(':') && token.contains("://"));
    let lower = |word: &str| word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.split_whitespace()
        .filter(token)
        .flat_map(|token| token.split(|c: char| !c.is_alphanumeric()))
        .filter(|w| !w.is_empty())
        .map(move |word| if lower(word) { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(plain: &str, html: &str) -> Option<f64> {
        let segment = |kind, content: &str| Segment { kind, content: content.into(), reference: "1".into() };
        similarity(&[segment(SegmentKind::TextPlain, plain), segment(SegmentKind::HtmlVisible, html)])
    }

    #[test]
    fn similarities() {
        assert_eq!(both("one two three", "Three, two: one!"), Some(1.0));
        assert_eq!(both("one two three", "four five six"), Some(0.0));
        assert_eq!(both("one two three four", "one two three five"), Some(0.6));
        assert_eq!(both("one two", "one two three"), None);
    }
}
