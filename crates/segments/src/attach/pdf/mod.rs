//! Text of PDF files, over lopdf's objects, fonts and content operators. lopdf's own text extraction gives white, tiny, off-page and
//! invisible text beside the visible, in drawing order only; skips form objects and annotations; and prefers a font's declared
//! encoding over its ToUnicode table. So the operators are interpreted here.

mod font;
mod page;
mod state;

use std::panic::{AssertUnwindSafe, catch_unwind};

use lopdf::{Dictionary, Document, LoadOptions, Object};

use super::Member;
use crate::limits::Limits;

/// What a PDF file holds.
#[derive(Debug, Default)]
pub(crate) struct Pdf {
    /// Text in drawing order.
    pub(crate) visible: String,
    /// The same text sorted by its place on the page, when that differs.
    pub(crate) by_place: Option<String>,
    /// Text that is drawn but not seen: white, tiny, invisible or off the page.
    pub(crate) hidden: String,
    /// Titles, annotations, form values, links and alternative texts.
    pub(crate) beside: String,
    pub(crate) files: Vec<Member>,
    pub(crate) encrypted: bool,
    pub(crate) damaged: bool,
    pub(crate) truncated: bool,
    /// There are images, and no text.
    pub(crate) image_only: bool,
}

/// Reads a PDF file.
pub(crate) fn read(bytes: &[u8], limits: &Limits, unpack: &mut usize, max_text: usize) -> Pdf {
    // lopdf is fuzzed by its authors, but a panic there must not end a run over hostile mail.
    let before = *unpack;
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut left = before;
        let pdf = read_inner(bytes, limits, &mut left, max_text);
        (pdf, left)
    }));
    match result {
        Ok((pdf, left)) => {
            *unpack = left;
            pdf
        }
        Err(_) => Pdf { damaged: true, ..Pdf::default() },
    }
}

fn read_inner(bytes: &[u8], limits: &Limits, unpack: &mut usize, max_text: usize) -> Pdf {
    let mut pdf = Pdf::default();
    let mut bytes = bytes;
    if bytes.len() > limits.max_pdf {
        pdf.truncated = true;
        bytes = &bytes[..limits.max_pdf];
    }
    // Object streams are unpacked while the file is loaded, each up to a bound of its own: many of them share one account.
    let streams = object_streams(bytes);
    let each = (*unpack / streams.max(1)).min(4 << 20);
    if each < 64 << 10 {
        pdf.truncated = true;
        pdf.damaged = true;
        return pdf;
    }
    let options = LoadOptions { max_decompressed_size: Some(each), ..LoadOptions::default() };
    let Ok(mut document) = Document::load_mem_with_options(bytes, options) else {
        pdf.damaged = true;
        return pdf;
    };
    if document.is_encrypted() && document.decrypt("").is_err() {
        pdf.encrypted = true;
        return pdf;
    }
    // lopdf passes over an object stream that is larger than its bound.
    pdf.truncated |= document
        .objects
        .values()
        .filter_map(|o| o.as_stream().ok())
        .any(|s| name_is(&s.dict, b"Type", b"ObjStm") && s.get_plain_content_with_limit(each).is_err());
    let mut reader = page::Pages::new(&document, limits, *unpack, max_text);
    reader.read();
    *unpack = reader.unpack_left();
    reader.finish(&mut pdf);
    beside(&document, &mut pdf, max_text, unpack);
    if pdf.visible.trim().is_empty() && pdf.hidden.trim().is_empty() {
        pdf.image_only =
            document.objects.values().any(|o| o.as_stream().is_ok_and(|s| name_is(&s.dict, b"Subtype", b"Image")));
    }
    pdf
}

/// An upper bound on the number of object and cross-reference streams: names may be written with `#` escapes.
fn object_streams(bytes: &[u8]) -> usize {
    let plain = memchr::memmem::find_iter(bytes, b"ObjStm").count() + memchr::memmem::find_iter(bytes, b"XRef").count();
    let escaped = memchr::memchr_iter(b'#', bytes)
        .filter(|&at| {
            let name = &bytes[at.saturating_sub(8)..(at + 12).min(bytes.len())];
            name.contains(&b'/') && bytes.get(at + 1..at + 3).is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit))
        })
        .count();
    plain + escaped.min(2000)
}

pub(super) fn name_is(dict: &Dictionary, key: &[u8], name: &[u8]) -> bool {
    dict.get(key).and_then(Object::as_name).is_ok_and(|n| n == name)
}

/// Texts that stand in dictionaries, and embedded files.
fn beside(document: &Document, pdf: &mut Pdf, max_text: usize, unpack: &mut usize) {
    const TEXTS: [&[u8]; 10] =
        [b"Contents", b"V", b"T", b"TU", b"Title", b"Subject", b"Keywords", b"ActualText", b"Alt", b"URI"];
    let mut seen = std::collections::HashSet::new();
    for object in document.objects.values() {
        let dict = match object {
            Object::Dictionary(dict) => dict,
            Object::Stream(stream) => {
                let embedded = name_is(&stream.dict, b"Type", b"EmbeddedFile") || stream.dict.has(b"Params");
                if embedded && pdf.files.len() < 50 && *unpack > 0 {
                    if let Ok(bytes) = stream.get_plain_content_with_limit((*unpack).min(4 << 20)) {
                        *unpack -= bytes.len().min(*unpack);
                        pdf.files.push(Member { name: String::new(), bytes });
                    } else {
                        pdf.truncated = true;
                    }
                }
                &stream.dict
            }
            _ => continue,
        };
        let action = dict.get(b"A").and_then(Object::as_dict).ok();
        for dict in std::iter::once(dict).chain(action) {
            for key in TEXTS {
                let Ok(value) = dict.get(key).and_then(|v| document.dereference(v)).map(|(_, v)| v) else { continue };
                let Object::String(raw, _) = value else { continue };
                let Ok(text) = lopdf::decode_text_string(value) else { continue };
                let text = text.trim();
                if text.is_empty()
                    || raw.len() > max_text
                    || pdf.beside.len() > max_text
                    || !seen.insert(text.to_owned())
                {
                    continue;
                }
                pdf.beside.push_str(text);
                pdf.beside.push('\n');
            }
        }
    }
}
