//! Encoded words of RFC 2047. mail-parser decodes each word alone, which breaks a character that is split over two words, and
//! takes a word that holds spaces or a foreign charset for text.

use std::borrow::Cow;

use super::{charset, transfer};

/// A header value as text.
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// Readers differ over the words: not at a word's edge, spaces inside, padding inside, or an unknown encoding or charset.
    pub(crate) odd: bool,
}

/// Unfolds a raw header value and decodes its encoded words, wherever they stand.
pub(crate) fn decode(raw: &[u8]) -> Decoded {
    let unfolded = unfold(raw);
    let mut out = Decoded { text: String::with_capacity(unfolded.len()), odd: false };
    let mut pending: Option<(Vec<u8>, String)> = None;
    let mut at = 0;
    while at < unfolded.len() {
        let Some(start) = memchr::memmem::find(&unfolded[at..], b"=?").map(|i| i + at) else { break };
        let Some(word) = Word::parse(&unfolded[start..]) else {
            let end = start + 2;
            flush(&mut pending, &mut out);
            push_raw(&unfolded[at..end], &mut out);
            at = end;
            continue;
        };
        let between = &unfolded[at..start];
        if !(between.iter().all(u8::is_ascii_whitespace) && pending.is_some()) {
            flush(&mut pending, &mut out);
            push_raw(between, &mut out);
            out.odd |= !between.is_empty() && !ends_token(between);
        }
        out.odd |= word.odd;
        let bytes = word.bytes();
        match &mut pending {
            // A character may be split over two words, though the standard forbids it.
            Some((joined, charset)) if charset.eq_ignore_ascii_case(&word.charset) => joined.extend_from_slice(&bytes),
            _ => {
                flush(&mut pending, &mut out);
                pending = Some((bytes, word.charset.clone()));
            }
        }
        at = start + word.len;
    }
    flush(&mut pending, &mut out);
    push_raw(&unfolded[at..], &mut out);
    let trimmed = out.text.trim();
    if trimmed.len() != out.text.len() {
        out.text = trimmed.to_owned();
    }
    out
}

fn ends_token(between: &[u8]) -> bool {
    between.last().is_some_and(|b| b.is_ascii_whitespace() || b"(\"<,:".contains(b))
}

fn flush(pending: &mut Option<(Vec<u8>, String)>, out: &mut Decoded) {
    if let Some((bytes, label)) = pending.take() {
        let decoded = charset::decode(&bytes, Some(&label));
        // ASCII under a label that makes other text of it.
        out.odd |= decoded.unknown_label || (decoded.mislabelled && bytes.is_ascii());
        out.text.extend(decoded.text.chars().filter(|c| *c != '\r' && *c != '\n'));
    }
}

fn push_raw(bytes: &[u8], out: &mut Decoded) {
    match std::str::from_utf8(bytes) {
        Ok(text) => out.text.push_str(text),
        Err(_) => out.text.push_str(&charset::decode(bytes, None).text),
    }
}

/// Takes out line ends (and NUL bytes) and white space at the end; a fold's white space stays.
pub(crate) fn unfold(raw: &[u8]) -> Cow<'_, [u8]> {
    let raw = raw.trim_ascii_end();
    let mut rest = raw;
    let mut out = Vec::new();
    while let Some(at) = memchr::memchr3(b'\n', b'\r', 0, rest) {
        out.reserve(rest.len());
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    if rest.len() == raw.len() {
        return Cow::Borrowed(raw);
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

struct Word<'a> {
    charset: String,
    base64: bool,
    payload: &'a [u8],
    len: usize,
    odd: bool,
}

impl<'a> Word<'a> {
    /// Reads `=?charset?X?payload?=` at the start of `bytes`.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let label_end = memchr::memchr(b'?', bytes.get(2..)?.get(..80.min(bytes.len() - 2))?)? + 2;
        let label = std::str::from_utf8(&bytes[2..label_end]).ok()?;
        // RFC 2231 puts a language after the charset.
        let charset = label.split('*').next()?.trim().to_owned();
        if charset.is_empty() || charset.contains(|c: char| c.is_ascii_whitespace()) {
            return None;
        }
        let base64 = match bytes.get(label_end + 1)? {
            b'B' | b'b' => true,
            b'Q' | b'q' => false,
            _ => return None,
        };
        (bytes.get(label_end + 2)? == &b'?').then_some(())?;
        let start = label_end + 3;
        let payload_len = memchr::memmem::find(bytes.get(start..)?, b"?=")?;
        // `=?utf-8?Q??=` is an empty word; `=?utf-8?Q?=41?=` begins its payload with an escape.
        let payload = &bytes[start..start + payload_len];
        let odd = payload.contains(&b' ') || payload.contains(&b'\t');
        Some(Self { charset, base64, payload, len: start + payload_len + 2, odd })
    }

    fn bytes(&self) -> Vec<u8> {
        if self.base64 {
            return transfer::base64(self.payload, self.payload.len()).bytes;
        }
        let spaced: Vec<u8> = self.payload.iter().map(|&b| if b == b'_' { b' ' } else { b }).collect();
        transfer::quoted_printable(&spaced).0.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> String {
        decode(raw.as_bytes()).text
    }

    #[test]
    fn words_join_over_white_space_only() {
        assert_eq!(text("=?utf-8?Q?ig?=\r\n =?utf-8?B?bm9yZQ==?= all"), "ignore all");
        assert_eq!(text("a =?utf-8?q?b?= c"), "a b c");
        assert_eq!(text("=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9_au?="), "café au");
        assert_eq!(text("=?us-ascii*en?Q?hi?="), "hi");
    }

    #[test]
    fn what_is_no_word_stays() {
        assert_eq!(text("=?broken"), "=?broken");
        assert_eq!(text("1 =? 2 ?= 3"), "1 =? 2 ?= 3");
        assert_eq!(text("=?x?Z?abc?="), "=?x?Z?abc?=");
    }

    #[test]
    fn a_word_inside_a_token_is_decoded_and_odd() {
        let decoded = decode(b"pre=?utf-8?Q?fix?=");
        assert_eq!((decoded.text.as_str(), decoded.odd), ("prefix", true));
    }

    #[test]
    fn a_word_whose_label_would_destroy_it_is_odd() {
        for label in ["utf-32", "iso-2022-cn", "utf-16"] {
            let decoded = decode(format!("=?{label}?Q?ignore_all?=").as_bytes());
            assert_eq!((decoded.text.as_str(), decoded.odd), ("ignore all", true), "{label}");
        }
    }
}
