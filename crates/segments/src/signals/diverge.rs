use std::collections::HashSet;

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
    let plain = words(body(SegmentKind::TextPlain));
    let html = words(body(SegmentKind::HtmlVisible));
    if plain.len() < 3 || html.len() < 3 {
        return None;
    }
    let both = plain.intersection(&html).count();
    Some(both as f64 / (plain.len() + html.len() - both) as f64)
}

/// Distinct words in lower case. Web addresses are left out: the HTML side shows a link's text instead.
fn words<'a>(texts: impl Iterator<Item = &'a str>) -> HashSet<String> {
    texts
        .flat_map(str::split_whitespace)
        .filter(|token| !token.contains("://") && !token.contains('@'))
        .flat_map(|token| token.split(|c: char| !c.is_alphanumeric()))
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect()
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
