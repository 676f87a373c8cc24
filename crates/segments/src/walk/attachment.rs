//! Attachments: what the bytes are, whatever they are declared to be, and their text.

use super::collect::Collector;
use super::entity::{self, Place};
use super::leaf;
use crate::decode::charset;
use crate::result::SegmentKind;

/// What is said about an attachment.
#[derive(Debug, Clone, Default)]
pub(super) struct Hint {
    /// `type/subtype`, lower case; may be empty.
    pub(super) media: String,
    /// File name; may be empty.
    pub(super) name: String,
    pub(super) charset: Option<String>,
}

impl Hint {
    fn extension(&self) -> String {
        self.name.rsplit_once('.').map(|(_, e)| e.trim().to_ascii_lowercase()).unwrap_or_default()
    }
}

/// File formats that the first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Magic {
    Pdf,
    Zip,
    Gzip,
    Rtf,
    Tnef,
    Ole,
    Image,
    Audio,
    Video,
    Font,
    Binary,
}

/// Tells a file format by its first bytes.
pub(super) fn magic(bytes: &[u8]) -> Option<Magic> {
    let starts = |m: &[u8]| bytes.starts_with(m);
    Some(match bytes {
        _ if starts(b"%PDF-") => Magic::Pdf,
        _ if starts(b"PK\x03\x04") || starts(b"PK\x05\x06") => Magic::Zip,
        _ if starts(b"\x1f\x8b") => Magic::Gzip,
        _ if starts(b"{\\rtf") => Magic::Rtf,
        _ if starts(b"\x78\x9f\x3e\x22") => Magic::Tnef,
        _ if starts(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") => Magic::Ole,
        _ if starts(b"\x89PNG")
            || starts(b"GIF8")
            || starts(b"\xff\xd8\xff")
            || starts(b"II*\0")
            || starts(b"MM\0*") =>
        {
            Magic::Image
        }
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Magic::Image,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Magic::Audio,
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Magic::Image,
        [0, 0, 1 | 2, 0, _, 0, ..] => Magic::Image,
        _ if starts(b"ID3") || starts(b"OggS") || starts(b"fLaC") => Magic::Audio,
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Magic::Video,
        _ if starts(b"wOFF") || starts(b"wOF2") => Magic::Font,
        _ if starts(b"MZ") && bytes.contains(&0) => Magic::Binary,
        _ if starts(b"\x7fELF")
            || starts(b"Rar!")
            || starts(b"7z\xbc\xaf")
            || starts(b"BZh")
            || starts(b"\xfd7zXZ") =>
        {
            Magic::Binary
        }
        _ => return None,
    })
}

/// Reads an attachment's text.
pub(super) fn read(out: &mut Collector<'_>, bytes: &[u8], hint: &Hint, place: &Place) {
    if bytes.iter().all(|b| b.is_ascii_whitespace() || *b == 0) {
        return;
    }
    match magic(bytes) {
        Some(Magic::Image) => out.unscannable(place, "image"),
        Some(Magic::Audio) => out.unscannable(place, "audio"),
        Some(Magic::Video) => out.unscannable(place, "video"),
        Some(Magic::Font) => out.unscannable(place, "font"),
        Some(_) => out.unscannable(place, "binary"),
        None => text(out, bytes, hint, place),
    }
}

/// Text of any declared type and charset.
fn text(out: &mut Collector<'_>, bytes: &[u8], hint: &Hint, place: &Place) {
    if !looks_like_text(bytes) {
        out.unscannable(place, "binary");
        return;
    }
    let bound = out.text_left().saturating_mul(2).max(1024);
    let kept = &bytes[..bytes.len().min(bound)];
    if kept.len() < bytes.len() {
        out.truncate(&place.reference, place.offset(bound), "text");
    }
    let decoded = charset::decode(kept, hint.charset.as_deref());
    let media = hint.media.as_str();
    let extension = hint.extension();
    let html = matches!(media, "text/html" | "application/xhtml+xml")
        || matches!(extension.as_str(), "html" | "htm" | "xhtml" | "shtml")
        || leaf::looks_like_html(&decoded.text);
    if html {
        leaf::split(out, &decoded.text, place);
        return;
    }
    if media == "message/rfc822" || extension == "eml" {
        entity::message(out, bytes, &place.inside("", 0).decoded());
        return;
    }
    out.text(SegmentKind::AttachmentText, place, &decoded.text);
    if let Some(other) = decoded.other {
        out.reading(SegmentKind::AttachmentText, place, "charset", other);
    }
}

/// Text rather than a binary format: few control bytes, in ASCII, UTF-8, UTF-16 or a one-byte charset.
pub(super) fn looks_like_text(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(8192)];
    let decoded = charset::decode(sample, None);
    let (mut bad, mut all) = (0_usize, 0_usize);
    for c in decoded.text.chars() {
        all += 1;
        bad += usize::from(c == '\u{fffd}' || (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b')));
    }
    bad * 20 <= all
}
