use std::borrow::Cow;

use super::body;
use super::collect::Collector;
use super::header::{self, Block, Field};
use super::media::{self, Media};
use super::names;
use crate::decode::transfer::Transfer;
use crate::decode::words;
use crate::result::SegmentKind;

/// Where in the message a piece stands.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) reference: String,
    pub(crate) depth: usize,
    /// Inside a reading that is not the first: its bytes are accounted for already, and text found before is not repeated.
    pub(crate) alternative: bool,
    /// Offset of the piece in the message, when it stands there as it is.
    pub(crate) base: Option<usize>,
    /// Bare CR ends a line.
    pub(crate) cr: bool,
}

impl Place {
    pub(crate) fn root() -> Self {
        Self { reference: String::new(), depth: 0, alternative: false, base: Some(0), cr: false }
    }

    pub(crate) fn offset(&self, at: usize) -> usize {
        self.base.map_or(0, |b| b + at)
    }

    pub(crate) fn at(&self, start: usize) -> Self {
        Self { base: self.base.map(|b| b + start), ..self.clone() }
    }

    /// The reference without its reading, and the reading with its `~`.
    fn split_reading(&self) -> (&str, &str) {
        self.reference.split_at(self.reference.find('~').unwrap_or(self.reference.len()))
    }

    pub(crate) fn child(&self, number: usize, start: usize) -> Self {
        let (place, reading) = self.split_reading();
        let dot = if place.is_empty() || place.ends_with('/') { "" } else { "." };
        let reference = format!("{place}{dot}{number}{reading}");
        Self { reference, depth: self.depth + 1, ..self.at(start) }
    }

    /// A nested message or archive member, at `start` of this piece.
    pub(crate) fn inside(&self, name: &str, start: usize) -> Self {
        let (place, reading) = self.split_reading();
        let reference = format!("{place}/{name}{reading}");
        Self { reference, depth: self.depth + 1, ..self.at(start) }
    }

    /// The root's only part is number 1, as IMAP counts.
    pub(crate) fn numbered(&self) -> Self {
        let (place, reading) = self.split_reading();
        let number = if place.is_empty() || place.ends_with('/') { "1" } else { "" };
        Self { reference: format!("{place}{number}{reading}"), ..self.clone() }
    }

    /// The place of a message's field.
    pub(crate) fn field(&self, name: &str) -> Self {
        let (place, reading) = self.split_reading();
        let slash = if place.is_empty() || place.ends_with('/') { "" } else { "/" };
        Self { reference: format!("{place}{slash}{name}{reading}"), ..self.clone() }
    }

    /// The same for decoded bytes, which have no offset in the message.
    pub(crate) fn decoded(&self) -> Self {
        Self { base: None, ..self.clone() }
    }

    pub(crate) fn other(&self, reading: &str) -> Self {
        Self { reference: format!("{}~{reading}", self.reference), alternative: true, ..self.clone() }
    }
}

/// How one reader understands an entity's fields.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) media: Media,
    pub(super) transfer: Transfer,
    /// The Content-Transfer-Encoding has a value that no reader knows.
    pub(super) unknown_transfer: bool,
    pub(super) attachment: bool,
    pub(super) name: Option<String>,
}

/// Walks a whole message.
pub(crate) fn message(out: &mut Collector<'_>, bytes: &[u8], place: &Place) {
    let mut place = place.clone();
    let mut bytes = bytes;
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        out.span(&place, 0, 3, "dropped: byte-order mark");
        (bytes, place) = (rest, place.at(3));
    }
    let wide = wide_text(bytes);
    if let Some(text) = &wide {
        // A message that is UTF-16 as a whole, or padded with NUL bytes.
        out.ambiguous("nul_bytes", &place, 0, "message");
        out.span(&place, 0, bytes.len(), "body");
        (bytes, place) = (text.as_bytes(), place.decoded());
    }
    let line_feeds = memchr::memchr(b'\n', bytes).is_some();
    let bare = bare_cr(bytes);
    place.cr = !line_feeds && bare;
    if place.cr {
        out.ambiguous("bare_cr", &place, 0, "message without line feeds");
    }
    let block = header::parse(bytes, place.cr);
    entity(out, bytes, &block, &place, Media::new("text", "plain"), true);
    // An empty first line ends the header block before it began; lenient readers pass over it.
    let blank = bytes.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    if blank > 0 && block.fields.is_empty() {
        let block = header::parse(&bytes[blank..], place.cr);
        if block.fields.len() >= 2 && out.take_alternative(&place, bytes.len()) {
            out.ambiguous("leading_blank", &place, 0, "");
            entity(out, &bytes[blank..], &block, &place.other("leading-blank"), Media::new("text", "plain"), true);
        }
    }
    if line_feeds && bare && bare_cr(&bytes[..block.body]) {
        out.ambiguous("bare_cr", &place, 0, "header block");
        if out.take_alternative(&place, bytes.len()) {
            let mut other = place.other("bare-cr");
            other.cr = true;
            let block = header::parse(bytes, true);
            entity(out, bytes, &block, &other, Media::new("text", "plain"), true);
        }
    }
}

/// Whether a CR stands without an LF after it.
pub(super) fn bare_cr(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\r', bytes).any(|i| bytes.get(i + 1).is_some_and(|b| *b != b'\n' && *b != b'\r'))
}

fn wide_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Some(crate::decode::charset::decode(bytes, None).text);
    }
    memchr::memchr(0, &bytes[..bytes.len().min(256)])?;
    let decoded = crate::decode::charset::decode(bytes, None);
    if decoded.mislabelled && decoded.text.contains(':') && !decoded.text.contains('\0') {
        return Some(decoded.text);
    }
    let zeros = memchr::memchr_iter(0, bytes).count();
    (zeros * 3 >= bytes.len()).then(|| Cow::Owned(String::from_utf8_lossy(bytes).replace('\0', "")))
}

/// Walks an entity: a message or a part, whose header block has been read.
pub(super) fn entity(
    out: &mut Collector<'_>,
    bytes: &[u8],
    block: &Block<'_>,
    place: &Place,
    default: Media,
    is_message: bool,
) {
    for (kind, at) in &block.defects {
        out.ambiguous(kind, place, *at, "");
    }
    if is_message {
        addressing(out, &block.fields, place);
    }
    out.span(place, 0, block.body, "headers");
    let body_bytes = &bytes[block.body..];
    readings(out, &block.fields, body_bytes, &place.at(block.body), &default);
    if let Some(skipping) = block.skipping_body
        && out.take_alternative(place, bytes.len() - skipping)
    {
        let other = place.other("skip-garbage");
        let fields: Vec<Field<'_>> = block.fields.iter().chain(&block.beyond).copied().collect();
        if is_message {
            addressing(out, &block.beyond, &other);
        }
        readings(out, &fields, &bytes[skipping..], &other, &default);
    }
}

/// Most fields of one name that are read, but for the last, which some readers show.
const MOST_FIELDS: usize = 16;
/// Most content types that are read, but for the last.
const MOST_TYPES: usize = 4;

/// Subject and display names.
fn addressing(out: &mut Collector<'_>, fields: &[Field<'_>], place: &Place) {
    for (name, reference) in [("subject", "subject"), ("from", "from"), ("reply-to", "reply-to"), ("to", "to")] {
        let mut seen: Vec<&[u8]> = Vec::new();
        let mut cut = false;
        let mut left = fields.iter().filter(|f| f.is(name)).peekable();
        while let Some(field) = left.next() {
            if seen.contains(&field.value) {
                continue;
            }
            if seen.len() >= MOST_FIELDS && left.peek().is_some() {
                if out.canonical() && !cut {
                    out.truncate(&place.field(reference).reference, place.offset(field.offset), "fields");
                }
                cut = true;
                continue;
            }
            let number = seen.len();
            seen.push(field.value);
            if number > 0 {
                if !out.canonical() {
                    continue;
                }
                if name != "to" {
                    out.ambiguous("duplicate_header", place, field.offset, name);
                }
            }
            let suffix = if number == 0 { String::new() } else { format!("~{}", number + 1) };
            let here = place.field(&format!("{reference}{suffix}"));
            if name == "subject" {
                let decoded = words::decode(field.value);
                if decoded.odd {
                    out.ambiguous("encoded_word", place, field.offset, name);
                }
                out.text(SegmentKind::Subject, &here, decoded.text);
            } else if out.canonical() {
                let found = names::display_names(field.value);
                if found.odd {
                    out.ambiguous("encoded_word", place, field.offset, name);
                }
                if found.cut {
                    out.truncate(&here.reference, place.offset(field.offset), "display names");
                }
                for display in found.names {
                    out.text(SegmentKind::Subject, &here, display);
                }
            } else if name == "from" {
                out.text(SegmentKind::Subject, &here, words::decode(field.value).text);
            }
        }
    }
}

/// Walks a body in each reading that its fields allow.
fn readings(out: &mut Collector<'_>, fields: &[Field<'_>], body_bytes: &[u8], place: &Place, default: &Media) {
    let named = |name: &'static str| fields.iter().filter(move |f| f.is(name));
    let mut types: Vec<Media> = Vec::new();
    let mut unreadable = false;
    let mut cut = false;
    let mut left = named("content-type").peekable();
    while let Some(field) = left.next() {
        let media = Media::parse(field.value);
        unreadable |= media.invalid;
        if types.iter().any(|t| same_reading(t, &media)) {
            continue;
        }
        if types.len() < MOST_TYPES || left.peek().is_none() {
            types.push(media);
        } else {
            cut = true;
        }
    }
    if cut && out.canonical() {
        out.truncate(&place.reference, place.offset(0), "content types");
    }
    if types.len() > 1 {
        out.ambiguous("duplicate_content_type", place, 0, format!("{} readings", types.len()));
    }
    if unreadable {
        out.ambiguous("invalid_content_type", place, 0, "");
    }
    if types.is_empty() {
        types.push(default.clone());
    }
    let mut transfers: Vec<Transfer> = Vec::new();
    let mut unknown_transfer = false;
    for field in named("content-transfer-encoding") {
        let value = words::decode(field.value).text;
        if value.is_empty() {
            continue;
        }
        let (transfer, plain) = Transfer::parse(&value);
        unknown_transfer |= transfer.is_none();
        if !plain {
            out.ambiguous("odd_transfer_encoding", place, 0, short(&value));
        }
        let mut add = |t: Transfer| {
            if !transfers.contains(&t) {
                transfers.push(t);
            }
        };
        match transfer {
            Some(transfer) => {
                add(transfer);
                if !plain && transfer != Transfer::Identity {
                    add(Transfer::Identity);
                }
            }
            None => {
                add(Transfer::Identity);
                let lower = value.to_ascii_lowercase();
                if lower.contains("quoted") {
                    add(Transfer::QuotedPrintable);
                } else {
                    add(Transfer::Base64);
                }
            }
        }
    }
    if named("content-transfer-encoding").count() > 1 && transfers.len() > 1 {
        out.ambiguous("duplicate_transfer_encoding", place, 0, "");
    }
    if transfers.is_empty() {
        transfers.push(Transfer::Identity);
    }
    let (attachment, name) = disposition(out, fields, &types[0], place);
    for (t, media) in types.iter().enumerate() {
        for (e, transfer) in transfers.iter().enumerate() {
            let reading =
                Reading { media: media.clone(), transfer: *transfer, unknown_transfer, attachment, name: name.clone() };
            if t == 0 && e == 0 {
                body::body(out, body_bytes, &reading, place);
            } else if out.take_alternative(place, body_bytes.len()) {
                let mut tag = String::new();
                if t > 0 {
                    tag.push_str(&format!("type-{}", t + 1));
                }
                if e > 0 {
                    tag.push_str(&format!("{}encoding-{}", if t > 0 { "-" } else { "" }, e + 1));
                }
                body::body(out, body_bytes, &reading, &place.other(&tag));
            }
        }
    }
}

fn same_reading(a: &Media, b: &Media) -> bool {
    a.kind == b.kind
        && a.subtype == b.subtype
        && a.boundaries == b.boundaries
        && a.param("charset").map(str::to_ascii_lowercase) == b.param("charset").map(str::to_ascii_lowercase)
}

fn disposition(out: &mut Collector<'_>, fields: &[Field<'_>], media: &Media, place: &Place) -> (bool, Option<String>) {
    let mut attachment = false;
    let mut inline = false;
    let mut name: Option<String> = None;
    for field in fields.iter().filter(|f| f.is("content-disposition")) {
        let (kind, _, params) = media::parse_params(words::unfold(field.value).trim_ascii());
        if kind == "inline" {
            inline = true;
        } else if !kind.is_empty() {
            attachment = true;
        }
        name = name.or_else(|| params.into_iter().find(|(n, _)| n == "filename").map(|(_, v)| v));
    }
    if attachment && inline {
        out.ambiguous("duplicate_disposition", place, 0, "");
    }
    let name = name.or_else(|| media.param("name").map(str::to_owned));
    let name = name.map(|n| words::decode(n.as_bytes()).text).filter(|n| !n.is_empty());
    let attachment = attachment || (name.is_some() && !inline);
    (attachment, name)
}

/// The start of a value, for evidence.
pub(super) fn short(text: &str) -> String {
    text.chars().take(60).collect()
}
