use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::memmem;

use super::Place;
use crate::limits::Limits;
use crate::result::{Evidence, Extraction, Segment, SegmentKind, Span, Unscannable};
use crate::signals;

/// Which view is being built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Everything.
    Canonical,
    /// What a simple gateway reads: one reading, bodies only, HTML with its tags stripped.
    Naive,
}

/// Gathers segments, signals and spans, and keeps the account of what may still be spent.
pub(crate) struct Collector<'l> {
    pub(crate) limits: &'l Limits,
    pub(crate) mode: Mode,
    segments: Vec<Segment>,
    evidence: Vec<Evidence>,
    ambiguity: BTreeSet<&'static str>,
    unscannable: Vec<Unscannable>,
    spans: Vec<Span>,
    hidden_css: bool,
    fragmented_url: bool,
    truncated: bool,
    text_left: usize,
    parts_left: usize,
    /// Bytes that may still be unpacked.
    #[cfg_attr(
        not(any(feature = "archives", feature = "pdf")),
        expect(dead_code, reason = "nothing is unpacked without these features")
    )]
    pub(crate) unpack_left: usize,
    /// Bytes that alternative readings may still walk.
    alternative_left: usize,
}

impl<'l> Collector<'l> {
    pub(crate) fn new(limits: &'l Limits, mode: Mode, raw_len: usize) -> Self {
        Self {
            limits,
            mode,
            segments: Vec::with_capacity(8),
            evidence: Vec::new(),
            ambiguity: BTreeSet::new(),
            unscannable: Vec::new(),
            spans: Vec::with_capacity(16),
            hidden_css: false,
            fragmented_url: false,
            truncated: false,
            text_left: limits.max_text,
            parts_left: limits.max_parts,
            unpack_left: limits.max_unpacked,
            alternative_left: raw_len.saturating_mul(8).clamp(1 << 16, 64 << 20),
        }
    }

    pub(crate) fn canonical(&self) -> bool {
        self.mode == Mode::Canonical
    }

    /// Adds text. In an alternative reading, text that is already there is left out.
    pub(crate) fn text(&mut self, kind: SegmentKind, place: &Place, content: impl AsRef<str>) {
        self.text_at(kind, &place.reference, place.alternative, content.as_ref());
    }

    /// Adds text that lies beside a part's own text, under the part's reference with `#suffix`.
    pub(crate) fn beside(&mut self, kind: SegmentKind, place: &Place, suffix: &str, content: impl AsRef<str>) {
        self.text_at(kind, &format!("{}#{suffix}", place.reference), place.alternative, content.as_ref());
    }

    /// Adds another reading of a part's text, under the part's reference with `~reading`.
    pub(crate) fn reading(&mut self, kind: SegmentKind, place: &Place, reading: &str, content: impl AsRef<str>) {
        self.text_at(kind, &format!("{}~{reading}", place.reference), true, content.as_ref());
    }

    fn text_at(&mut self, kind: SegmentKind, reference: &str, alternative: bool, content: &str) {
        let mut content = normal_lines(content.trim_matches(|c: char| matches!(c, '\r' | '\n' | '\0')));
        if content.chars().all(char::is_whitespace) {
            return;
        }
        if content.len() > self.text_left {
            self.truncate(reference, 0, "text");
            let mut end = self.text_left;
            while !content.is_char_boundary(end) {
                end -= 1;
            }
            content = Cow::Owned(content[..end].to_owned());
            if content.trim().is_empty() {
                return;
            }
        }
        let there = |s: &&Segment| s.kind == kind;
        if alternative
            && self
                .segments
                .iter()
                .filter(there)
                .any(|s| memmem::find(s.content.as_bytes(), content.as_bytes()).is_some())
        {
            return;
        }
        self.text_left -= content.len();
        self.segments.push(Segment { kind, content: content.into_owned(), reference: reference.to_owned() });
    }

    /// Bytes of text that still fit.
    pub(crate) fn text_left(&self) -> usize {
        self.text_left
    }

    pub(crate) fn ambiguous(&mut self, kind: &'static str, place: &Place, offset: usize, detail: impl Into<String>) {
        if self.canonical() {
            self.ambiguity.insert(kind);
            self.note("ambiguity", &place.reference, place.offset(offset), format!("{kind}: {}", detail.into()));
        }
    }

    pub(crate) fn truncate(&mut self, reference: &str, offset: usize, what: &str) {
        self.truncated = true;
        self.note("truncated", reference, offset, what.to_owned());
    }

    pub(crate) fn unscannable(&mut self, place: &Place, reason: &str) {
        let found = Unscannable { reference: place.reference.clone(), reason: reason.to_owned() };
        if self.canonical() && !self.unscannable.contains(&found) && self.unscannable.len() < self.limits.max_parts {
            self.note("unscannable", &place.reference, place.offset(0), reason.to_owned());
            self.unscannable.push(found);
        }
    }

    pub(crate) fn hidden_css(&mut self, place: &Place, offset: usize, detail: &str) {
        self.hidden_css = true;
        self.note("hidden_css_text", &place.reference, offset, detail.to_owned());
    }

    pub(crate) fn fragmented_url(&mut self, place: &Place, offset: usize) {
        self.fragmented_url = true;
        self.note("fragmented_url", &place.reference, offset, "several elements".to_owned());
    }

    fn note(&mut self, signal: &str, reference: &str, offset: usize, detail: String) {
        // The first few places tell; a hostile message may offer thousands.
        if self.evidence.len() < 200 {
            self.evidence.push(Evidence { signal: signal.into(), reference: reference.into(), offset, detail });
        }
    }

    /// Takes one part from the account; false when none is left.
    pub(crate) fn take_part(&mut self, place: &Place) -> bool {
        if self.parts_left == 0 {
            self.truncate(&place.reference, place.offset(0), "parts");
            return false;
        }
        self.parts_left -= 1;
        true
    }

    pub(crate) fn parts_left(&self) -> usize {
        self.parts_left
    }

    /// Whether another reading of `len` bytes may be walked.
    pub(crate) fn take_alternative(&mut self, place: &Place, len: usize) -> bool {
        if !self.canonical() {
            return false;
        }
        if len > self.alternative_left {
            self.truncate(&place.reference, place.offset(0), "readings");
            return false;
        }
        self.alternative_left -= len;
        true
    }

    /// Accounts for a range of the place's bytes.
    pub(crate) fn span(&mut self, place: &Place, start: usize, end: usize, fate: impl Into<Cow<'static, str>>) {
        if let (Some(base), false, true) = (place.base, place.alternative, start < end)
            && self.canonical()
        {
            let (start, end) = (base + start, base + end);
            self.spans.push(Span { start, end, fate: fate.into().into_owned(), reference: place.reference.clone() });
        }
    }

    pub(crate) fn finish(mut self) -> Extraction {
        self.segments.sort_by_key(|s| s.kind);
        self.spans.sort_by_key(|s| s.start);
        let mut out =
            Extraction { segments: self.segments, spans: self.spans, evidence: self.evidence, ..Extraction::default() };
        out.signals.hidden_css_text = self.hidden_css;
        out.signals.fragmented_url = self.fragmented_url;
        out.signals.truncated = self.truncated;
        out.signals.ambiguity = self.ambiguity.into_iter().map(str::to_owned).collect();
        out.signals.unscannable = self.unscannable;
        signals::fill(&mut out);
        out
    }
}

/// Line ends as `\n`.
fn normal_lines(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\r', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if !rest.starts_with('\n') {
            out.push('\n');
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}
