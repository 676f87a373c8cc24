//! Addresses that hold a document or file themselves: `data:text/html;base64,…`.

use percent_encoding::percent_decode_str;

use crate::decode::{charset, transfer};

/// A `data:` address.
#[derive(Debug, PartialEq)]
pub(super) struct DataUrl<'a> {
    /// `type/subtype`, lower case; may be empty, which means text.
    pub(super) media: String,
    /// HTML, SVG or other markup.
    pub(super) markup: bool,
    base64: bool,
    charset: Option<String>,
    data: &'a str,
}

impl<'a> DataUrl<'a> {
    /// Reads an address; `None` for other addresses.
    pub(super) fn parse(address: &'a str) -> Option<Self> {
        let start = address.trim_start_matches(|c| c <= ' ');
        if !start.starts_with(['d', 'D']) {
            return None;
        }
        let (head, data) = start.split_once(',')?;
        // Browsers take line ends and tabs out of an address, also from the middle of a word.
        let head = head.replace(['\n', '\r', '\t'], "");
        let (scheme, head) = head.split_once(':')?;
        if !scheme.eq_ignore_ascii_case("data") {
            return None;
        }
        let mut words = head.split(';').map(str::trim);
        let media = words.next().unwrap_or_default().to_ascii_lowercase();
        let markup = media.contains("html") || media.contains("xml");
        let mut found = Self { media, markup, base64: false, charset: None, data };
        for word in words {
            if word.eq_ignore_ascii_case("base64") {
                found.base64 = true;
            } else if let Some((name, value)) = word.split_once('=')
                && name.eq_ignore_ascii_case("charset")
            {
                found.charset = Some(value.to_owned());
            }
        }
        Some(found)
    }

    /// Whether the address says that it holds text.
    pub(super) fn says_text(&self) -> bool {
        self.media.is_empty() || self.media.starts_with("text/") || self.markup
    }

    /// At most `max` bytes of what it holds.
    pub(super) fn bytes(&self, max: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = percent_decode_str(self.data).collect();
        if self.base64 {
            bytes = transfer::base64(&bytes, max).bytes;
        }
        bytes.truncate(max);
        bytes
    }

    /// Bytes that it holds as text.
    pub(super) fn text(&self, bytes: &[u8]) -> String {
        charset::decode(bytes, self.charset.as_deref().or(Some("utf-8"))).text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(address: &str) -> Option<String> {
        DataUrl::parse(address).filter(DataUrl::says_text).map(|d| d.text(&d.bytes(100)))
    }

    #[test]
    fn text_of_every_form() {
        assert_eq!(text("data:,a%20b").as_deref(), Some("a b"));
        assert_eq!(text("DATA:text/plain;base64,b2JleQ==").as_deref(), Some("obey"));
        assert_eq!(text("data:text/plain;charset=iso-8859-1,caf%e9").as_deref(), Some("caf\u{e9}"));
        assert_eq!(text("\u{1} da\nta:te\txt/plain;bas\re64,b2Jl\neQ==").as_deref(), Some("obey"));
        assert_eq!(text("data:image/png;base64,AAAA"), None);
        assert_eq!(DataUrl::parse("data:image/png;base64,AAAA").map(|d| d.bytes(2)), Some(vec![0, 0]));
        assert_eq!(text("http://data.example/,x"), None);
        assert!(DataUrl::parse("data:image/svg+xml,<svg>").is_some_and(|d| d.markup));
    }
}
