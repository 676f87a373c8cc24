//! Parts without parts: decoded, and given to the reader of their kind.

use std::borrow::Cow;

use super::attachment::{self, Hint, Magic};
use super::body;
use super::collect::Collector;
use super::entity::{Place, Reading, short};
use super::media::Media;
use crate::attach;
use crate::decode::charset;
use crate::decode::inline;
use crate::decode::transfer::{self, Transfer};
use crate::html;
use crate::result::SegmentKind;

/// Subtypes of text that mail readers show in the body.
const SHOWN: [&str; 5] = ["enriched", "richtext", "markdown", "x-markdown", "x-web-markdown"];

pub(super) fn leaf(out: &mut Collector<'_>, bytes: &[u8], reading: &Reading, place: &Place) {
    let media = &reading.media;
    let html = is_html(media);
    let plain = media.is("text", "plain") || (media.kind == "text" && SHOWN.contains(&media.subtype.as_str()));
    let shown = (html || plain) && !reading.attachment;
    out.span(place, 0, bytes.len(), if shown { "body" } else { "attachment" });
    let (decoded, beside) = decode(out, bytes, reading, place);
    if !out.canonical() {
        if shown {
            naive(out, &decoded, media, html, place);
        }
        return;
    }
    if let (Some(name), false) = (&reading.name, place.alternative) {
        out.beside(SegmentKind::AttachmentText, place, "name", name);
    }
    text_or_attachment(out, &decoded, reading, html, shown, place);
    for (name, text) in beside {
        out.beside(SegmentKind::TextPlain, place, name, text);
    }
    // Readers differ over base64 that is announced by nothing, or by a word they do not know.
    if reading.transfer == Transfer::Identity
        && (plain || reading.unknown_transfer)
        && let Some(found) = undeclared_base64(bytes, out.limits.max_decoded)
    {
        out.ambiguous("undeclared_base64", place, 0, "");
        let inner = Reading { transfer: Transfer::Base64, unknown_transfer: false, ..reading.clone() };
        text_or_attachment(out, &found, &inner, html, shown, &place.decoded().other("base64"));
    }
    if reading.transfer == Transfer::Base64
        && let Some(found) = url_alphabet(bytes, out.limits.max_decoded)
        && out.take_alternative(place, bytes.len())
    {
        text_or_attachment(out, &found, reading, html, shown, &place.decoded().other("url-alphabet"));
    }
}

fn text_or_attachment(
    out: &mut Collector<'_>,
    decoded: &[u8],
    reading: &Reading,
    html: bool,
    shown: bool,
    place: &Place,
) {
    let media = &reading.media;
    let place = if reading.transfer == Transfer::Identity { place.clone() } else { place.decoded() };
    let hint = Hint {
        media: format!("{}/{}", media.kind, media.subtype),
        name: reading.name.clone().unwrap_or_default(),
        charset: media.param("charset").map(str::to_owned),
    };
    if !(html || media.is("text", "plain") || shown) {
        return attachment::read(out, decoded, &hint, &place);
    }
    // Readers go by the label, or by the first bytes.
    let file = attachment::magic(decoded);
    if file.is_none() || attachment::is_mostly_text(decoded) {
        if html {
            html_text(out, decoded, media, &place);
        } else {
            plain_text(out, decoded, media, shown, &place);
        }
        if file.is_some() {
            out.ambiguous("file_as_text", &place, 0, "");
            attachment::read(out, decoded, &hint, &place.other("file"));
        }
        return;
    }
    attachment::read(out, decoded, &hint, &place);
    if file.is_some_and(Magic::is_binary) {
        let strings = attach::strings(decoded, out.text_left());
        out.beside(SegmentKind::AttachmentText, &place, "strings", strings);
    }
}

fn is_html(media: &Media) -> bool {
    matches!(
        (media.kind.as_str(), media.subtype.as_str()),
        ("text", "html" | "x-amp-html" | "watch-html" | "xhtml" | "x-html") | ("application", "xhtml+xml")
    )
}

fn naive(out: &mut Collector<'_>, decoded: &[u8], media: &Media, html: bool, place: &Place) {
    let text = charset::decode(decoded, media.param("charset")).text;
    if html {
        let text = &text[..floor(&text, out.limits.max_html)];
        out.text(SegmentKind::HtmlVisible, place, mail_parser::decoders::html::html_to_text(text));
    } else {
        out.text(SegmentKind::TextPlain, place, text);
    }
}

/// The largest character boundary of `text` up to `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Texts beside a part's own, by name.
type Beside = Vec<(&'static str, String)>;

/// Decodes the transfer encoding; what stands beside well-formed base64 is kept as text.
fn decode<'b>(out: &mut Collector<'_>, bytes: &'b [u8], reading: &Reading, place: &Place) -> (Cow<'b, [u8]>, Beside) {
    if reading.transfer != Transfer::Base64 {
        let quoted = reading.transfer == Transfer::QuotedPrintable && bytes.len() <= out.limits.max_decoded;
        if quoted {
            let (decoded, malformed) = transfer::quoted_printable(bytes);
            if malformed {
                out.ambiguous("malformed_quoted_printable", place, 0, "");
            }
            return (decoded, Beside::new());
        }
        return (body::decode(out, bytes, reading.transfer, place), Beside::new());
    }
    let max = out.limits.max_decoded;
    let whole = transfer::base64(bytes, max);
    if whole.truncated {
        out.truncate(&place.reference, place.offset(0), "decoded part");
    }
    if whole.junk == 0 {
        if whole.first_padding.is_some() {
            out.ambiguous("base64_padding", place, 0, "data after padding");
        }
        let mut beside = Beside::new();
        if prose(bytes) {
            // Words without punctuation are base64 to some decoders; to others their length is wrong, and they are shown.
            out.ambiguous("not_base64", place, 0, "words");
            let kept = &bytes[..bytes.len().min(out.text_left())];
            beside.push(("undecoded", charset::decode(kept, reading.media.param("charset")).text.into_owned()));
        }
        return (Cow::Owned(whole.bytes), beside);
    }
    let cut = well_formed(bytes);
    let tail = &bytes[cut..];
    if tail.len() >= 4 && !prose(tail) {
        out.ambiguous("base64_junk", place, cut, format!("{} bytes", whole.junk));
        return (Cow::Owned(whole.bytes), Beside::new());
    }
    let head = transfer::base64(&bytes[..cut], max).bytes;
    let kind = if cut == 0 { "not_base64" } else { "base64_trailer" };
    out.ambiguous(kind, place, cut, short(&String::from_utf8_lossy(tail)));
    let kept = &tail[..tail.len().min(out.text_left())];
    let mut beside = vec![("trailer", charset::decode(kept, reading.media.param("charset")).text.into_owned())];
    if whole.bytes.len() > head.len()
        && let Ok(text) = String::from_utf8(whole.bytes)
    {
        beside.push(("all-base64", text));
    }
    (Cow::Owned(head), beside)
}

/// Length of the well-formed base64 at the start: up to the padding, or to the line that holds the first foreign byte.
fn well_formed(bytes: &[u8]) -> usize {
    let foreign = |b: &u8| !(b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=') || b.is_ascii_whitespace());
    let junk = bytes.iter().position(foreign).unwrap_or(bytes.len());
    let line = memchr::memrchr(b'\n', &bytes[..junk]).map_or(0, |i| i + 1);
    match memchr::memchr(b'=', &bytes[..line]) {
        Some(pad) => bytes[pad..line].iter().position(|b| *b != b'=').map_or(line, |i| pad + i),
        None => line,
    }
}

/// Text rather than damaged base64: spaces between words, or many bytes outside the alphabet.
fn prose(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(4096)];
    let spaces =
        bytes.windows(3).filter(|w| w[1] == b' ' && w[0].is_ascii_graphic() && w[2].is_ascii_graphic()).count();
    let foreign = bytes.iter().filter(|b| b.is_ascii_punctuation() && !matches!(b, b'+' | b'/' | b'=')).count();
    spaces * 30 > bytes.len() || foreign * 10 > bytes.len()
}

/// Text that is base64 from end to end, with no other sign of it.
fn undeclared_base64(bytes: &[u8], max: usize) -> Option<Vec<u8>> {
    let bytes = bytes.trim_ascii();
    let first = &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())].trim_ascii();
    let digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    if first.len() < 24 || !first.iter().all(digit) || !bytes.iter().all(|b| digit(b) || matches!(b, b'\r' | b'\n')) {
        return None;
    }
    let decoded = transfer::base64(bytes, max).bytes;
    readable(&decoded).then_some(decoded)
}

fn readable(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|t| !t.chars().any(|c| c.is_control() && !c.is_whitespace()))
}

/// Base64 in the alphabet for addresses, `-` and `_` for `+` and `/`: some decoders take both, others skip the two.
fn url_alphabet(bytes: &[u8], max: usize) -> Option<Vec<u8>> {
    memchr::memchr2(b'-', b'_', bytes)?;
    let digit = |b: &u8| b.is_ascii_alphanumeric() || b.is_ascii_whitespace() || b"+/-_=".contains(b);
    if bytes.len() > max || !bytes.iter().all(digit) {
        return None;
    }
    let plain = |b: &u8| match b {
        b'-' => b'+',
        b'_' => b'/',
        b => *b,
    };
    let decoded = transfer::base64(&bytes.iter().map(plain).collect::<Vec<u8>>(), max).bytes;
    (readable(&decoded) || attachment::magic(&decoded).is_some()).then_some(decoded)
}

/// Decodes a text part in every reading of its charset.
fn charsets(out: &mut Collector<'_>, bytes: &[u8], media: &Media, place: &Place) -> (String, Vec<String>) {
    let labels = media.param_values("charset");
    let decoded = charset::decode(bytes, labels.first().copied());
    let mut others: Vec<String> = Vec::new();
    if decoded.unknown_label {
        out.ambiguous("unknown_charset", place, 0, short(labels.first().copied().unwrap_or_default()));
    }
    if decoded.mislabelled && !labels.is_empty() {
        out.ambiguous("mislabelled_charset", place, 0, short(labels.first().copied().unwrap_or_default()));
    }
    others.extend(decoded.other);
    for label in labels.iter().skip(1).take(3) {
        let text = charset::decode(bytes, Some(label)).text;
        if text != decoded.text {
            out.ambiguous("duplicate_charset", place, 0, short(label));
            others.push(text.into_owned());
        }
    }
    (decoded.text.into_owned(), others)
}

fn plain_text(out: &mut Collector<'_>, decoded: &[u8], media: &Media, shown: bool, place: &Place) {
    let kind = if shown { SegmentKind::TextPlain } else { SegmentKind::AttachmentText };
    // Twice the bound: a charset may use more bytes than UTF-8.
    let bound = out.text_left().saturating_mul(2).max(1024);
    let bytes = if decoded.len() > bound {
        out.truncate(&place.reference, place.offset(bound), "text");
        &decoded[..bound]
    } else {
        decoded
    };
    let blocks = inline::blocks(bytes, out.limits.max_decoded);
    let mut text_bytes = Cow::Borrowed(bytes);
    if !blocks.is_empty() {
        let mut rest = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for block in &blocks {
            let kept = if block.clean { block.start } else { block.end };
            rest.extend_from_slice(&bytes[at..kept]);
            at = block.end;
        }
        rest.extend_from_slice(&bytes[at..]);
        text_bytes = Cow::Owned(rest);
    }
    let (mut text, others) = charsets(out, &text_bytes, media, place);
    without_nul(out, &mut text, place);
    if looks_like_html(&text) {
        // Readers that look at the content render it.
        out.ambiguous("html_as_text", place, 0, "");
        split(out, &text, &place.other("html"));
    }
    if memchr::memmem::find(text.as_bytes(), b"-----BEGIN PGP MESSAGE-----").is_some() {
        out.unscannable(place, "encrypted");
    }
    out.text(kind, place, &text);
    for other in others {
        out.reading(kind, place, "charset", other);
    }
    for (i, block) in blocks.into_iter().enumerate() {
        let here = place.inside(&format!("file{}", i + 1), 0).decoded();
        if !out.take_part(&here) {
            return;
        }
        out.beside(SegmentKind::AttachmentText, &here, "name", &block.name);
        let hint = Hint { media: String::new(), name: block.name, charset: None };
        attachment::read(out, &block.bytes, &hint, &here);
    }
}

/// Readers show text behind a NUL byte, or end at it; what a person reads has none.
fn without_nul(out: &mut Collector<'_>, text: &mut String, place: &Place) {
    if memchr::memchr(0, text.as_bytes()).is_none() {
        return;
    }
    if text.trim_matches('\0').contains('\0') {
        out.ambiguous("nul_bytes", place, 0, "text");
    }
    text.retain(|c| c != '\0');
}

pub(super) fn looks_like_html(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let head = &start.as_bytes()[..start.len().min(15)];
    let begins = |tag: &[u8]| head.len() >= tag.len() && head[..tag.len()].eq_ignore_ascii_case(tag);
    begins(b"<!doctype html") || begins(b"<html") || begins(b"<head>") || begins(b"<body")
}

/// Splits an HTML part.
fn html_text(out: &mut Collector<'_>, decoded: &[u8], media: &Media, place: &Place) {
    let bytes = if decoded.len() > out.limits.max_html {
        out.truncate(&place.reference, place.offset(out.limits.max_html), "html");
        &decoded[..out.limits.max_html]
    } else {
        decoded
    };
    let declared = media.param("charset").is_some();
    let meta = html::meta_charset(bytes).filter(|label| charset::known(label));
    let (mut text, mut others) = match (&meta, declared) {
        (Some(label), false) => {
            let decoded = charset::decode(bytes, Some(label));
            (decoded.text.into_owned(), decoded.other.into_iter().collect())
        }
        _ => charsets(out, bytes, media, place),
    };
    if let (Some(label), true) = (&meta, declared) {
        let other = charset::decode(bytes, Some(label)).text;
        if other != text && !others.iter().any(|o| *o == other) {
            out.ambiguous("meta_charset", place, 0, short(label));
            others.push(other.into_owned());
        }
    }
    without_nul(out, &mut text, place);
    split(out, &text, place);
    for other in others {
        if out.take_alternative(place, other.len()) {
            split(out, &other, &place.other("charset"));
        }
    }
}

/// Gives HTML to the visible/hidden split.
pub(super) fn split(out: &mut Collector<'_>, text: &str, place: &Place) {
    let found = html::split(text, out.limits, out.text_left());
    if found.truncated {
        out.truncate(&place.reference, place.offset(0), "html");
    }
    if let Some((offset, detail)) = &found.hidden_by_style {
        out.hidden_css(place, *offset, detail);
    }
    if let Some(offset) = found.fragmented_url {
        out.fragmented_url(place, offset);
    }
    out.text(SegmentKind::HtmlVisible, place, found.visible);
    out.text(SegmentKind::HtmlHidden, place, found.hidden);
    for (i, file) in found.files.into_iter().enumerate() {
        if attachment::is_spacer(&file.bytes) {
            continue;
        }
        let here = place.inside(&format!("data{}", i + 1), 0).decoded();
        if !out.take_part(&here) {
            return;
        }
        let hint = Hint { media: file.media, ..Hint::default() };
        attachment::read(out, &file.bytes, &hint, &here);
    }
}
