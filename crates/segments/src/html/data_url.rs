//! Addresses that hold a document themselves: `data:text/html;base64,…`.

use crate::decode::{charset, transfer};

/// A `data:` address of text.
#[derive(Debug, PartialEq)]
pub(super) struct DataUrl<'a> {
    /// HTML, SVG or other markup.
    pub(super) markup: bool,
    base64: bool,
    charset: Option<&'a str>,
    data: &'a str,
}

impl<'a> DataUrl<'a> {
    /// Reads an address; `None` for other addresses, and for pictures and other data that are no text.
    pub(super) fn parse(address: &'a str) -> Option<Self> {
        let start = address.trim_start();
        let (scheme, rest) = start.split_at_checked(5)?;
        if !scheme.eq_ignore_ascii_case("data:") {
            return None;
        }
        let (head, data) = rest.split_once(',')?;
        let mut words = head.split(';').map(str::trim);
        let kind = words.next().unwrap_or_default().to_ascii_lowercase();
        let markup = kind.contains("html") || kind.contains("xml");
        if !(kind.is_empty() || kind.starts_with("text/") || markup) {
            return None;
        }
        let mut found = Self { markup, base64: false, charset: None, data };
        for word in words {
            if word.eq_ignore_ascii_case("base64") {
                found.base64 = true;
            } else if let Some((name, value)) = word.split_once('=')
                && name.eq_ignore_ascii_case("charset")
            {
                found.charset = Some(value);
            }
        }
        Some(found)
    }

    /// The text, decoded from at most `max` bytes.
    pub(super) fn text(&self, max: usize) -> String {
        let mut bytes = unescape(self.data.as_bytes());
        if self.base64 {
            bytes = transfer::base64(&bytes, max).bytes;
        }
        bytes.truncate(max);
        charset::decode(&bytes, self.charset.or(Some("utf-8"))).text.into_owned()
    }
}

/// Takes out the `%41` escapes of an address.
fn unescape(data: &[u8]) -> Vec<u8> {
    let hex = |b: Option<&u8>| b.and_then(|b| (*b as char).to_digit(16)).map(|d| d as u8);
    let mut out = Vec::with_capacity(data.len());
    let mut at = 0;
    while at < data.len() {
        match (data[at], hex(data.get(at + 1)), hex(data.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push(high << 4 | low);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(address: &str) -> Option<String> {
        DataUrl::parse(address).map(|d| d.text(100))
    }

    #[test]
    fn text_of_every_form() {
        assert_eq!(text("data:,a%20b").as_deref(), Some("a b"));
        assert_eq!(text("DATA:text/plain;base64,b2JleQ==").as_deref(), Some("obey"));
        assert_eq!(text("data:text/plain;charset=iso-8859-1,caf%e9").as_deref(), Some("caf\u{e9}"));
        assert_eq!(text("data:image/png;base64,AAAA"), None);
        assert_eq!(text("http://data.example/,x"), None);
        assert!(DataUrl::parse("data:image/svg+xml,<svg>").is_some_and(|d| d.markup));
    }
}
