//! HTML, split into what a person sees and what a person does not see but a model may read.

mod color;
mod css;
mod data_url;
mod matching;
mod parse;
mod render;
mod style;
mod text;
mod tree;

use crate::limits::Limits;

/// The two sides of an HTML part.
#[derive(Debug, Default)]
pub(crate) struct Split {
    pub(crate) visible: String,
    pub(crate) hidden: String,
    /// Where in `hidden` text begins that a style hides, and how it is hidden.
    pub(crate) hidden_by_style: Option<(usize, String)>,
    /// Where in `visible` a web address stands that is put together from several elements.
    pub(crate) fragmented_url: Option<usize>,
    /// Files in `data:` addresses that are no text, each once.
    pub(crate) files: Vec<Embedded>,
    pub(crate) truncated: bool,
}

/// A file in a `data:` address.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Embedded {
    /// `type/subtype`, lower case; may be empty.
    pub(crate) media: String,
    pub(crate) bytes: Vec<u8>,
}

/// Documents inside documents: conditional comments, `srcdoc`, text behind a tag that never ends.
const MAX_NESTING: usize = 2;

/// Splits HTML.
pub(crate) fn split(text: &str, limits: &Limits, max_text: usize) -> Split {
    split_nested(text, limits, max_text, 0)
}

fn split_nested(text: &str, limits: &Limits, max_text: usize, nesting: usize) -> Split {
    let mut end = text.len().min(limits.max_html);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let document = parse::parse(&text[..end], limits.max_html_nodes);
    let mut split = render::render(document, limits, max_text, nesting);
    split.truncated |= end < text.len();
    split
}

/// The charset that a `meta` element near the start of the document declares.
pub(crate) fn meta_charset(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(2048)];
    let at = memchr::memmem::find_iter(head, b"charset").chain(memchr::memmem::find_iter(head, b"CHARSET")).min()?;
    let before = &head[..at];
    let tag = memchr::memrchr(b'<', before)?;
    let meta = before.get(tag + 1..tag + 5)?;
    if !meta.eq_ignore_ascii_case(b"meta") {
        return None;
    }
    let rest = head[at + 7..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || b"-_:.".contains(b))).unwrap_or(rest.len());
    let label = String::from_utf8_lossy(&rest[..end]).to_ascii_lowercase();
    // A `meta` element that can be read byte by byte is in no wide charset, whatever it says.
    let wide = ["utf-16", "utf16", "utf-32", "unicode", "ucs-"].iter().any(|w| label.starts_with(w));
    (!label.is_empty() && !wide).then_some(label)
}

#[cfg(test)]
mod tests;
