//! Attachments: what the bytes are, whatever they are declared to be, and their text.

use super::collect::Collector;
use super::entity::{self, Place};
use super::leaf;
use crate::attach::{self, Member, card, rtf, tnef};
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

impl Magic {
    /// Formats whose files always hold control characters, most within the first bytes.
    pub(super) fn is_binary(self) -> bool {
        matches!(self, Self::Image | Self::Audio | Self::Video | Self::Font | Self::Binary)
    }
}

/// Tells a file format by its first bytes. Text that merely begins like a picture or a program, `BZhello`, is none.
pub(super) fn magic(bytes: &[u8]) -> Option<Magic> {
    first_bytes(bytes).filter(|m| !m.is_binary() || controls(bytes) > 0)
}

/// Control characters other than white space.
fn controls(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| matches!(**b, 0..=8 | 14..=26 | 28..=31 | 127)).count()
}

/// Whether a reader who is told that the bytes are text has something to read: not so in a compressed file, where a tenth are controls.
pub(super) fn is_mostly_text(bytes: &[u8]) -> bool {
    controls(bytes) * 20 <= bytes.len()
}

fn first_bytes(bytes: &[u8]) -> Option<Magic> {
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

/// Whether the first bytes are those of a file format, and so no text.
pub(crate) fn is_file(bytes: &[u8]) -> bool {
    magic(bytes).is_some()
}

/// A small GIF or PNG file that is at most two pixels wide or high: a spacer or a counter, with no room for a letter.
pub(super) fn is_spacer(bytes: &[u8]) -> bool {
    let (width, height) = match bytes {
        _ if bytes.len() > 256 => return false,
        [b'G', b'I', b'F', b'8', _, _, w0, w1, h0, h1, ..] => {
            (u32::from(u16::from_le_bytes([*w0, *w1])), u32::from(u16::from_le_bytes([*h0, *h1])))
        }
        [
            0x89,
            b'P',
            b'N',
            b'G',
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            b'I',
            b'H',
            b'D',
            b'R',
            w0,
            w1,
            w2,
            w3,
            h0,
            h1,
            h2,
            h3,
            ..,
        ] => (u32::from_be_bytes([*w0, *w1, *w2, *w3]), u32::from_be_bytes([*h0, *h1, *h2, *h3])),
        _ => return false,
    };
    width.min(height) <= 2
}

/// Reads an attachment's text.
pub(super) fn read(out: &mut Collector<'_>, bytes: &[u8], hint: &Hint, place: &Place) {
    if bytes.iter().all(|b| b.is_ascii_whitespace() || *b == 0) {
        return;
    }
    if place.depth > out.limits.max_depth {
        out.truncate(&place.reference, place.offset(0), "depth");
        out.unscannable(place, "bounds");
        return;
    }
    let format = magic(bytes);
    #[cfg(feature = "archives")]
    let bytes = before_archive(out, bytes, format, hint, place);
    match format {
        Some(Magic::Pdf) => pdf(out, bytes, place),
        Some(Magic::Zip) => zip(out, bytes, place),
        Some(Magic::Gzip) => gzip(out, bytes, hint, place),
        Some(Magic::Rtf) => {
            let max = out.text_left();
            out.text(SegmentKind::AttachmentText, place, rtf::text(bytes, max));
        }
        Some(Magic::Tnef) => tnef_file(out, bytes, place),
        Some(Magic::Ole) => {
            // Old office documents: nobody reads the format here, but its strings are better than silence.
            out.unscannable(place, "binary");
            let max = out.text_left();
            out.beside(SegmentKind::AttachmentText, place, "strings", attach::strings(bytes, max));
        }
        Some(Magic::Image) => out.unscannable(place, "image"),
        Some(Magic::Audio) => out.unscannable(place, "audio"),
        Some(Magic::Video) => out.unscannable(place, "video"),
        Some(Magic::Font) => out.unscannable(place, "font"),
        Some(_) => out.unscannable(place, "binary"),
        None => other(out, bytes, hint, place),
    }
}

/// What no magic number tells.
fn other(out: &mut Collector<'_>, bytes: &[u8], hint: &Hint, place: &Place) {
    // A PDF reader looks for its mark in the first kilobyte.
    if memchr::memmem::find(&bytes[..bytes.len().min(1024)], b"%PDF-").is_some() {
        return pdf(out, bytes, place);
    }
    #[cfg(feature = "archives")]
    if let Some(files) = attach::archive::tar(bytes, out.parts_left() + 1) {
        return members(out, files, place);
    }
    if matches!(hint.media.as_str(), "application/pkcs7-mime" | "application/x-pkcs7-mime")
        && bytes.first() == Some(&0x30)
    {
        return pkcs7(out, bytes, place);
    }
    if hint.media.contains("pkcs7-signature") && bytes.first() == Some(&0x30) {
        return;
    }
    text(out, bytes, hint, place);
}

/// An opaque S/MIME message: signed ones hold the signed entity as it is; enveloped ones can't be read.
fn pkcs7(out: &mut Collector<'_>, bytes: &[u8], place: &Place) {
    match memchr::memmem::find(bytes, b"Content-Type:") {
        Some(at) => entity::message(out, &bytes[at..], &place.inside("", 0).decoded()),
        None => out.unscannable(place, "encrypted"),
    }
}

/// Files inside a file.
fn members(out: &mut Collector<'_>, files: Vec<Member>, place: &Place) {
    for (i, member) in files.into_iter().enumerate() {
        if !one_member(out, member, i, place) {
            return;
        }
    }
}

fn one_member(out: &mut Collector<'_>, member: Member, index: usize, place: &Place) -> bool {
    let short = member.name.chars().filter(|c| !c.is_control()).take(80).collect::<String>();
    let name = if short.is_empty() { (index + 1).to_string() } else { short };
    let here = place.inside(&name, 0).decoded();
    if !out.take_part(&here) {
        return false;
    }
    if !member.name.is_empty() {
        out.beside(SegmentKind::AttachmentText, &here, "name", &member.name);
    }
    let hint = Hint { name: member.name, ..Hint::default() };
    read(out, &member.bytes, &hint, &here);
    true
}

fn tnef_file(out: &mut Collector<'_>, bytes: &[u8], place: &Place) {
    let max = out.limits.max_decoded;
    let found = tnef::read(bytes, max);
    out.beside(SegmentKind::AttachmentText, place, "subject", &found.subject);
    out.text(SegmentKind::AttachmentText, place, &found.text);
    if !found.html.is_empty() {
        leaf::split(out, &found.html, place);
    }
    if !found.rtf.is_empty() {
        let text = rtf::text(&found.rtf, out.text_left());
        out.reading(SegmentKind::AttachmentText, place, "rtf", text);
    }
    members(out, found.files, place);
}

#[cfg(not(feature = "pdf"))]
fn pdf(out: &mut Collector<'_>, _: &[u8], place: &Place) {
    out.unscannable(place, "pdf feature off");
}

#[cfg(feature = "pdf")]
fn pdf(out: &mut Collector<'_>, bytes: &[u8], place: &Place) {
    let mut unpack = out.unpack_left;
    let found = attach::pdf::read(bytes, out.limits, &mut unpack, out.text_left());
    out.unpack_left = unpack;
    if found.truncated {
        out.truncate(&place.reference, place.offset(0), "pdf");
    }
    if found.encrypted {
        out.unscannable(place, "encrypted");
    } else if found.damaged {
        out.unscannable(place, if found.truncated { "bounds" } else { "damaged" });
    } else if found.image_only {
        out.unscannable(place, "image");
    }
    out.text(SegmentKind::AttachmentText, place, &found.visible);
    if let Some(by_place) = &found.by_place {
        out.reading(SegmentKind::AttachmentText, place, "by-place", by_place);
    }
    out.beside(SegmentKind::AttachmentText, place, "hidden", &found.hidden);
    out.beside(SegmentKind::AttachmentText, place, "beside", &found.beside);
    members(out, found.files, place);
}

#[cfg(not(feature = "archives"))]
fn zip(out: &mut Collector<'_>, _: &[u8], place: &Place) {
    out.unscannable(place, "archives feature off");
}

#[cfg(not(feature = "archives"))]
fn gzip(out: &mut Collector<'_>, _: &[u8], _: &Hint, place: &Place) {
    out.unscannable(place, "archives feature off");
}

#[cfg(feature = "archives")]
fn bounds(out: &Collector<'_>) -> attach::archive::Bounds {
    attach::archive::Bounds { bytes: out.unpack_left.min(out.limits.max_decoded), ratio: out.limits.max_ratio }
}

#[cfg(feature = "archives")]
fn gzip(out: &mut Collector<'_>, bytes: &[u8], hint: &Hint, place: &Place) {
    let unpacked = attach::archive::gzip(bytes, &hint.name, bounds(out));
    if let Some(member) = account(out, unpacked, place) {
        one_member(out, member, 0, place);
    }
}

/// Takes a member from the account of unpacked bytes; says what could not be read.
#[cfg(feature = "archives")]
fn account(out: &mut Collector<'_>, unpacked: attach::archive::Unpacked, place: &Place) -> Option<Member> {
    use attach::archive::Unpacked;
    let named =
        |name: &str| place.inside(&name.chars().filter(|c| !c.is_control()).take(80).collect::<String>(), 0).decoded();
    match unpacked {
        Unpacked::File(member) => {
            out.unpack_left -= member.bytes.len().min(out.unpack_left);
            Some(member)
        }
        Unpacked::Bounded(member) => {
            out.unpack_left -= member.bytes.len().min(out.unpack_left);
            let here = named(&member.name);
            out.truncate(&here.reference, 0, "unpacked");
            out.unscannable(&here, "bounds");
            Some(member)
        }
        Unpacked::Encrypted(name) => {
            let here = named(&name);
            out.unscannable(&here, "encrypted");
            out.beside(SegmentKind::AttachmentText, &here, "name", name);
            None
        }
        Unpacked::Unsound(member) => {
            out.unpack_left -= member.bytes.len().min(out.unpack_left);
            out.unscannable(&named(&member.name), "damaged");
            Some(member)
        }
        Unpacked::Damaged(name) => {
            out.unscannable(&named(&name), "damaged");
            None
        }
        Unpacked::Unsupported(name) => {
            let here = named(&name);
            out.unscannable(&here, "compression");
            out.beside(SegmentKind::AttachmentText, &here, "name", name);
            None
        }
    }
}

/// Reads an archive that stands behind something else, as in programs that unpack themselves, and gives what stands before it.
#[cfg(feature = "archives")]
fn before_archive<'b>(
    out: &mut Collector<'_>,
    bytes: &'b [u8],
    format: Option<Magic>,
    hint: &Hint,
    place: &Place,
) -> &'b [u8] {
    // Messages, tar archives and PDF files read their own files, and the other formats may hold an archive that is no stranger.
    let unclear = match format {
        None => {
            let message = hint.media == "message/rfc822" || hint.extension() == "eml" || hint.media.contains("pkcs7");
            let pdf = memchr::memmem::find(&bytes[..bytes.len().min(1024)], b"%PDF-").is_some();
            !message && !pdf && bytes.get(257..262) != Some(b"ustar".as_slice())
        }
        Some(format) => matches!(format, Magic::Image | Magic::Audio | Magic::Video | Magic::Font | Magic::Binary),
    };
    match unclear.then(|| attach::zip_file::behind(bytes)).flatten() {
        Some(start) => {
            zip(out, bytes, place);
            &bytes[..start]
        }
        None => bytes,
    }
}

#[cfg(feature = "archives")]
fn zip(out: &mut Collector<'_>, bytes: &[u8], place: &Place) {
    let Some(zip) = attach::zip_file::Zip::open(bytes) else {
        out.unscannable(place, "damaged");
        return;
    };
    if !zip.listed() {
        out.unscannable(place, "damaged");
    }
    let open_xml = zip.has("[Content_Types].xml");
    let office = open_xml || zip.has("content.xml");
    if office && !out.take_part(place) {
        return;
    }
    let mut order: Vec<usize> = (0..zip.len()).collect();
    if office {
        order.retain(|i| office_member(zip.name(*i)));
        order.sort_by_cached_key(|i| office_order(zip.name(*i)));
    }
    let mut text = String::new();
    for (count, index) in order.into_iter().enumerate() {
        // The parts of one office document are one part of the message, but not without end.
        if out.unpack_left == 0 || count > 1000 || (!office && out.parts_left() == 0) {
            out.truncate(&place.reference, place.offset(0), "archive");
            out.unscannable(place, "bounds");
            break;
        }
        let bounds = bounds(out);
        let Some(member) = zip.member(index, bounds).and_then(|m| account(out, m, place)) else { continue };
        let xml = office && (member.name.ends_with(".xml") || member.name.ends_with(".rels"));
        if xml {
            let max = out.text_left().saturating_sub(text.len());
            let decoded = charset::decode(&member.bytes, None).text;
            let found = attach::xml::text(&decoded, max);
            if !found.trim().is_empty() {
                text.push_str(found.trim_end());
                text.push('\n');
            }
        } else if !one_member(out, member, index, place) {
            break;
        }
    }
    out.text(SegmentKind::AttachmentText, place, text);
}

/// Parts of an office document that hold text, or files of their own.
#[cfg(feature = "archives")]
fn office_member(name: &str) -> bool {
    let machinery = [
        "theme",
        "styles",
        "settings",
        "fontTable",
        "webSettings",
        "numbering",
        "[Content_Types]",
        "META-INF",
        "presProps",
        "viewProps",
        "tableStyles",
        "calcChain",
        "slideLayouts",
        "slideMasters",
        "Thumbnails",
        "manifest.rdf",
    ];
    !machinery.iter().any(|m| name.contains(m))
}

/// The main text first, then what accompanies it, numbered parts in number order.
#[cfg(feature = "archives")]
fn office_order(name: &str) -> (u8, u32, String) {
    let rank = match name {
        "word/document.xml" | "content.xml" | "xl/sharedStrings.xml" => 0,
        _ if name.starts_with("ppt/slides/slide") || name.starts_with("xl/worksheets/sheet") => 1,
        _ if name.ends_with(".rels") => 3,
        _ => 2,
    };
    let digits: String = name.chars().filter(char::is_ascii_digit).take(6).collect();
    (rank, digits.parse().unwrap_or(0), name.to_owned())
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
    if matches!(media, "text/calendar" | "text/vcard" | "text/x-vcard" | "text/directory" | "application/ics")
        || matches!(extension.as_str(), "ics" | "vcf" | "ifb")
        || decoded.text.starts_with("BEGIN:VC")
    {
        let (text, html) = card::text(&decoded.text);
        out.text(SegmentKind::AttachmentText, place, text);
        for html in html {
            leaf::split(out, &html, place);
        }
        return;
    }
    if decoded.text.contains("-----BEGIN PGP MESSAGE-----") {
        out.unscannable(place, "encrypted");
    }
    let text = without_armor(&decoded.text);
    out.text(SegmentKind::AttachmentText, place, &text);
    escapes(out, &decoded.text, place);
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

/// Text without the base64 of PGP armor; what stands between and before the armors stays.
fn without_armor(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains("-----BEGIN PGP ") {
        return text.into();
    }
    let digit = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let mut inside = false;
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        if line.starts_with("-----BEGIN PGP ") {
            inside = true;
        } else if line.starts_with("-----END PGP ") {
            inside = false;
        }
        let bare = line.trim_end();
        let data = inside && bare.bytes().all(digit) && (bare.len() >= 40 || bare.ends_with('=') || bare.len() == 5);
        if !data {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.into()
}

/// Text whose letters are written as `\u0041` (JSON, scripts) or `&#65;` (XML) is read in plain too.
fn escapes(out: &mut Collector<'_>, text: &str, place: &Place) {
    if text.contains("\\u00") {
        let mut plain = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("\\u") {
            plain.push_str(&rest[..at]);
            let digits =
                rest.get(at + 2..at + 6).and_then(|d| u32::from_str_radix(d, 16).ok()).and_then(char::from_u32);
            match digits {
                Some(c) => {
                    plain.push(c);
                    rest = &rest[at + 6..];
                }
                None => {
                    plain.push_str("\\u");
                    rest = &rest[at + 2..];
                }
            }
        }
        plain.push_str(rest);
        out.reading(SegmentKind::AttachmentText, place, "escapes", plain);
    }
    #[cfg(feature = "archives")]
    if text.trim_start().starts_with('<') {
        let plain = attach::xml::text(text, out.text_left());
        if !plain.trim().is_empty() {
            out.reading(SegmentKind::AttachmentText, place, "xml", plain.trim());
        }
    }
}
