//! The table of structural hiding places: each message of `dataset/structure` against what was written beside it by hand.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use wardline_segments::{Segment, SegmentKind, Signals};

use crate::common::checked;

/// What is written beside a message. Signals that are not named must be absent, and no segment may be missing or left over.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    what: String,
    #[serde(default)]
    signals: ExpectedSignals,
    #[serde(default)]
    segment: Vec<ExpectedSegment>,
}

#[derive(Deserialize, Default, Debug, PartialEq)]
#[serde(deny_unknown_fields, default)]
struct ExpectedSignals {
    unicode_tags: u32,
    zero_width: u32,
    bidi_controls: u32,
    hidden_css_text: bool,
    ambiguity: Vec<String>,
    homoglyph_ratio: f64,
    plain_html_diverge: bool,
    fragmented_url: bool,
    truncated: bool,
    /// `ref reason` each.
    unscannable: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedSegment {
    #[serde(rename = "type")]
    kind: SegmentKind,
    #[serde(rename = "ref")]
    reference: String,
    text: Option<String>,
    contains: Option<String>,
}

impl From<&Signals> for ExpectedSignals {
    fn from(s: &Signals) -> Self {
        Self {
            unicode_tags: s.unicode_tags,
            zero_width: s.zero_width,
            bidi_controls: s.bidi_controls,
            hidden_css_text: s.hidden_css_text,
            ambiguity: s.ambiguity.clone(),
            homoglyph_ratio: s.homoglyph_ratio,
            plain_html_diverge: s.plain_html_diverge,
            fragmented_url: s.fragmented_url,
            truncated: s.truncated,
            unscannable: s.unscannable.iter().map(|u| format!("{} {}", u.reference, u.reason)).collect(),
        }
    }
}

impl ExpectedSegment {
    fn matches(&self, found: &Segment) -> bool {
        let text = match (&self.text, &self.contains) {
            (Some(text), None) => found.content == *text,
            (None, Some(part)) => found.content.contains(part.as_str()),
            _ => false,
        };
        found.kind == self.kind && found.reference == self.reference && text
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dataset/structure")
}

#[test]
#[cfg(all(feature = "pdf", feature = "archives"))]
fn every_row_holds() {
    let mut rows = 0;
    let mut wrong = Vec::new();
    for entry in fs::read_dir(folder()).expect("dataset/structure") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        rows += 1;
        let text = fs::read_to_string(&path).expect("a readable file");
        let expected: Expected = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let raw = fs::read(path.with_extension("eml")).expect("the message beside it");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let found = checked(&raw, &name);
        let segments = found.segments.len() == expected.segment.len()
            && expected.segment.iter().zip(&found.segments).all(|(e, f)| e.matches(f));
        let signals = ExpectedSignals::from(&found.signals);
        if !segments || signals != expected.signals {
            let list: Vec<String> = found
                .segments
                .iter()
                .map(|s| format!("    {} {} {:?}", s.kind.name(), s.reference, s.content))
                .collect();
            wrong.push(format!("{name} ({}):\n{}\n    {signals:?}", expected.what, list.join("\n")));
        }
    }
    wrong.sort();
    assert!(rows >= 60, "only {rows} rows");
    assert!(wrong.is_empty(), "{} of {rows} rows do not hold:\n{}", wrong.len(), wrong.join("\n"));
}

/// Without the features the parts are named as unscannable, never silently absent.
#[test]
#[cfg(not(any(feature = "pdf", feature = "archives")))]
fn features_that_are_off_are_named() {
    for (row, reason) in [("pdf", "pdf feature off"), ("zip", "archives feature off"), ("gzip", "archives feature off")]
    {
        let raw = fs::read(folder().join(row).with_extension("eml")).expect("a message");
        let found = checked(&raw, row);
        assert_eq!(found.signals.unscannable[0].reason, reason);
    }
}
