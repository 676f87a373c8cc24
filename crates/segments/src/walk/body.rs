use std::borrow::Cow;

use super::boundary::{self, Delimiter};
use super::collect::Collector;
use super::entity::{Place, Reading, entity};
use super::header;
use super::leaf;
use super::media::Media;
use crate::decode::charset;
use crate::decode::transfer::{self, Transfer};
use crate::result::SegmentKind;

/// Walks a body in one reading.
pub(super) fn body(out: &mut Collector<'_>, bytes: &[u8], reading: &Reading, place: &Place) {
    if place.depth > out.limits.max_depth {
        out.truncate(&place.reference, place.offset(0), "depth");
        out.span(place, 0, bytes.len(), "dropped: too deep");
        raw_text(out, bytes, place, "too-deep");
        return;
    }
    match (reading.media.kind.as_str(), reading.media.subtype.as_str()) {
        ("multipart", _) => multipart(out, bytes, reading, place),
        ("message", "rfc822" | "global" | "news" | "partial" | "external-body") | ("text", "rfc822-headers") => {
            nested_message(out, bytes, reading, place);
        }
        _ => {
            let place = place.numbered();
            if out.take_part(&place) {
                leaf::leaf(out, bytes, reading, &place);
            } else {
                out.span(&place, 0, bytes.len(), "dropped: too many parts");
            }
        }
    }
}

/// Text of a body that is not walked further.
fn raw_text(out: &mut Collector<'_>, bytes: &[u8], place: &Place, suffix: &str) {
    let bytes = &bytes[..bytes.len().min(out.text_left())];
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    let text = charset::decode(bytes, None).text;
    out.beside(SegmentKind::TextPlain, &place.numbered(), suffix, text);
}

fn multipart(out: &mut Collector<'_>, bytes: &[u8], reading: &Reading, place: &Place) {
    cut_into_parts(out, bytes, reading, place);
    // Readers that do not know RFC 2231 see no boundary.
    if reading.media.extended_boundary {
        out.ambiguous("extended_boundary", place, 0, "");
        if out.take_alternative(place, bytes.len()) {
            raw_text(out, bytes, &place.other("no-boundary"), "body");
        }
    }
    if matches!(reading.transfer, Transfer::Base64 | Transfer::QuotedPrintable) {
        encoded_multipart(out, bytes, reading, place);
    }
}

fn cut_into_parts(out: &mut Collector<'_>, bytes: &[u8], reading: &Reading, place: &Place) {
    if reading.media.cut_boundaries && out.canonical() {
        out.truncate(&place.reference, place.offset(0), "boundaries");
    }
    let digest = reading.media.subtype == "digest";
    let max = out.parts_left() + 2;
    let mut candidates: Vec<(String, boundary::Delimiters)> = Vec::new();
    for candidate in &reading.media.boundaries {
        let found = boundary::find(bytes, candidate, max);
        let real = !found.strict.is_empty() || !found.midline.is_empty() || !found.prefix.is_empty();
        if real && !candidates.iter().any(|(_, other)| other.strict == found.strict && other.prefix == found.prefix) {
            candidates.push((candidate.clone(), found));
        }
    }
    // A value that only begins a longer boundary's lines is not in use.
    if candidates.iter().any(|(_, d)| !d.strict.is_empty()) {
        candidates.retain(|(_, d)| !d.strict.is_empty());
    }
    if candidates.is_empty() {
        return without_boundary(out, bytes, reading, place, digest);
    }
    if reading.media.boundaries.first() != candidates.first().map(|(b, _)| b) || candidates.len() > 1 {
        out.ambiguous("odd_boundary", place, 0, format!("{} values in use", candidates.len()));
    }
    let mut first = true;
    for (value, found) in &candidates {
        let mut readings: Vec<(&str, Vec<Delimiter>)> = Vec::new();
        if !found.strict.is_empty() {
            readings.push(("", found.strict.clone()));
        }
        if !found.prefix.is_empty() {
            out.ambiguous("boundary_prefix", place, found.prefix[0].start, "");
            readings.push(("boundary-prefix", found.with(&found.prefix)));
        }
        if !found.midline.is_empty() {
            out.ambiguous("midline_boundary", place, found.midline[0].start, "");
            readings.push(("midline-boundary", found.with(&found.midline)));
        }
        if value.is_empty() {
            out.ambiguous("empty_boundary", place, 0, "");
            if out.take_alternative(place, bytes.len()) {
                raw_text(out, bytes, &place.other("no-boundary"), "body");
            }
        }
        for (tag, delimiters) in &readings {
            if first {
                parts(out, bytes, delimiters, place, digest);
                first = false;
            } else if out.take_alternative(place, bytes.len()) {
                let tag = if tag.is_empty() { "boundary-2" } else { tag };
                parts(out, bytes, delimiters, &place.other(tag), digest);
            }
        }
    }
}

/// The standard forbids encoding a multipart; some readers decode it all the same.
fn encoded_multipart(out: &mut Collector<'_>, bytes: &[u8], reading: &Reading, place: &Place) {
    let decoded = decode(out, bytes, reading.transfer, place);
    let looks = reading.media.boundaries.iter().any(|b| memchr::memmem::find(&decoded, b.as_bytes()).is_some());
    if looks && (reading.transfer == Transfer::Base64 || decoded.len() != bytes.len()) {
        out.ambiguous("encoded_multipart", place, 0, "");
        if out.take_alternative(place, bytes.len()) {
            let identity = Reading { transfer: Transfer::Identity, ..reading.clone() };
            multipart(out, &decoded, &identity, &place.decoded().other("decoded"));
        }
    }
}

/// A multipart whose boundary is missing or never occurs.
fn without_boundary(out: &mut Collector<'_>, bytes: &[u8], reading: &Reading, place: &Place, digest: bool) {
    if !bytes.iter().all(u8::is_ascii_whitespace) {
        out.ambiguous("missing_boundary", place, 0, "");
    }
    let guess = if out.canonical() { boundary::guess(bytes) } else { None };
    match guess {
        Some(guess) => {
            let delimiters = boundary::find(bytes, &guess, out.parts_left() + 2);
            parts(out, bytes, &delimiters.strict, place, digest);
            if out.take_alternative(place, bytes.len()) {
                raw_text(out, bytes, &place.other("no-boundary"), "body");
            }
        }
        None => {
            let text = Reading { media: Media::new("text", "plain"), ..reading.clone() };
            let place = place.numbered();
            if out.take_part(&place) {
                leaf::leaf(out, bytes, &text, &place);
            } else {
                out.span(&place, 0, bytes.len(), "dropped: too many parts");
            }
        }
    }
}

/// Walks the parts between delimiters.
fn parts(out: &mut Collector<'_>, bytes: &[u8], delimiters: &[Delimiter], place: &Place, digest: bool) {
    let first = delimiters.first().map_or(bytes.len(), |d| d.start);
    beside(out, &bytes[..first], &place.at(0), "preamble");
    let mut number = 0;
    let mut closed = false;
    for (i, delimiter) in delimiters.iter().enumerate() {
        // Two delimiter lines in a row share the line end between them.
        let before = if i == 0 { 0 } else { delimiters[i - 1].end };
        out.span(place, delimiter.start.max(before), delimiter.end, "delimiter");
        let end = delimiters.get(i + 1).map_or(bytes.len(), |d| d.start).max(delimiter.end);
        let piece = &bytes[delimiter.end..end];
        if delimiter.close {
            closed = true;
            beside(out, piece, &place.at(delimiter.end), "epilogue");
            continue;
        }
        if closed {
            closed = false;
            out.ambiguous("parts_after_close", place, delimiter.start, "");
        }
        number += 1;
        let child = place.child(number, delimiter.end);
        if out.parts_left() == 0 {
            out.truncate(&child.reference, child.offset(0), "parts");
            out.span(place, delimiter.end, bytes.len(), "dropped: too many parts");
            return;
        }
        let default = if digest { Media::new("message", "rfc822") } else { Media::new("text", "plain") };
        let block = header::parse(piece, place.cr);
        entity(out, piece, &block, &child, default, false);
    }
}

/// Sentences that mailers put before the first part for readers that know no MIME.
const STOCK: [&str; 5] = [
    "this is a multi-part message in mime format",
    "this is a multipart message in mime format",
    "this is a mime-encapsulated message",
    "this is a cryptographically signed message in mime format",
    "this message is in mime format",
];

/// Preamble and epilogue: no reader of MIME shows them, but a model that is given the raw message reads them.
fn beside(out: &mut Collector<'_>, bytes: &[u8], place: &Place, name: &'static str) {
    if bytes.is_empty() {
        return;
    }
    out.span(place, 0, bytes.len(), name);
    if bytes.iter().all(u8::is_ascii_whitespace) || !out.canonical() {
        return;
    }
    let bare = bytes.trim_ascii().strip_suffix(b".").unwrap_or(bytes.trim_ascii());
    if STOCK.iter().any(|s| bare.eq_ignore_ascii_case(s.as_bytes())) {
        return;
    }
    raw_text(out, bytes, place, name);
}

/// Decodes a transfer encoding to at most the limit.
pub(super) fn decode<'b>(out: &mut Collector<'_>, bytes: &'b [u8], encoding: Transfer, place: &Place) -> Cow<'b, [u8]> {
    let max = out.limits.max_decoded;
    match encoding {
        Transfer::Identity => Cow::Borrowed(bytes),
        Transfer::QuotedPrintable => {
            let bytes = if bytes.len() > max {
                out.truncate(&place.reference, place.offset(max), "decoded part");
                &bytes[..max]
            } else {
                bytes
            };
            transfer::quoted_printable(bytes).0
        }
        Transfer::Base64 => {
            let decoded = transfer::base64(bytes, max);
            if decoded.truncated {
                out.truncate(&place.reference, place.offset(0), "decoded part");
            }
            Cow::Owned(decoded.bytes)
        }
        Transfer::Uuencode => Cow::Owned(crate::decode::inline::uudecode(bytes, max)),
    }
}

fn nested_message(out: &mut Collector<'_>, bytes: &[u8], reading: &Reading, place: &Place) {
    let place = place.numbered();
    if !out.take_part(&place) {
        out.span(&place, 0, bytes.len(), "dropped: too many parts");
        return;
    }
    match reading.media.subtype.as_str() {
        "partial" => out.unscannable(&place, "partial"),
        "external-body" => out.unscannable(&place, "external"),
        _ => {}
    }
    if !out.canonical() {
        return;
    }
    let decoded = decode(out, bytes, reading.transfer, &place);
    if reading.media.subtype == "rfc822-headers" {
        // Shown as text by most readers; its subject and names are read below as well.
        let bytes = &decoded[..decoded.len().min(out.text_left())];
        let text = charset::decode(bytes, None).text;
        out.text(SegmentKind::AttachmentText, &place, text);
    }
    // The standard forbids encoding a message; readers decode when it helps.
    let as_is =
        reading.transfer == Transfer::Identity || (reading.transfer == Transfer::Base64 && starts_like_message(bytes));
    let inner = place.inside("", 0);
    if as_is {
        super::entity::message(out, bytes, &inner);
    } else {
        out.span(&place, 0, bytes.len(), "message");
        super::entity::message(out, &decoded, &inner.decoded());
    }
}

pub(super) fn starts_like_message(bytes: &[u8]) -> bool {
    let block = header::parse(&bytes[..bytes.len().min(4096)], false);
    block.fields.len() >= 2
}
