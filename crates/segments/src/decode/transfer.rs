//! Base64 and quoted-printable, as lenient as the most lenient reader. mail-parser's decoders give up (`None`) at the first
//! foreign byte, and stop at inner padding, where most readers go on.

use std::borrow::Cow;

/// A Content-Transfer-Encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transfer {
    Identity,
    QuotedPrintable,
    Base64,
    Uuencode,
}

impl Transfer {
    /// The encoding a field's value names, and whether the value is one of the standard's, plainly written.
    pub(crate) fn parse(value: &str) -> (Option<Self>, bool) {
        let bare = value.split(['(', ';', ',']).next().unwrap_or_default().trim().trim_matches(['"', '\'']).trim();
        let plain = bare.len() == value.trim().len();
        let found = if bare.eq_ignore_ascii_case("base64") {
            Self::Base64
        } else if bare.eq_ignore_ascii_case("quoted-printable") {
            Self::QuotedPrintable
        } else if ["7bit", "8bit", "binary"].iter().any(|t| bare.eq_ignore_ascii_case(t)) {
            Self::Identity
        } else if ["x-uuencode", "uuencode", "x-uue", "uue"].iter().any(|t| bare.eq_ignore_ascii_case(t)) {
            return (Some(Self::Uuencode), false);
        } else if ["7-bit", "8-bit", "8bits", "7bits", "none", "quotedprintable", "base-64"]
            .iter()
            .any(|t| bare.eq_ignore_ascii_case(t))
        {
            let lower = bare.to_ascii_lowercase();
            let found = match lower.as_bytes() {
                [b'q', ..] => Self::QuotedPrintable,
                [b'b', ..] => Self::Base64,
                _ => Self::Identity,
            };
            return (Some(found), lower == "none" || lower.ends_with("bits") || lower.ends_with("-bit"));
        } else {
            return (None, false);
        };
        (Some(found), plain)
    }
}

const JUNK: u8 = 0xff;
const SPACE: u8 = 0xfe;
const PAD: u8 = 0xfd;

const BASE64: [u8; 256] = {
    let mut table = [JUNK; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut i = 0;
    while i < 64 {
        table[alphabet[i] as usize] = i as u8;
        i += 1;
    }
    table[b' ' as usize] = SPACE;
    table[b'\t' as usize] = SPACE;
    table[b'\r' as usize] = SPACE;
    table[b'\n' as usize] = SPACE;
    table[b'=' as usize] = PAD;
    table
};

/// What a base64 body gave.
pub(crate) struct Base64 {
    /// Decoded over padding and junk to the end.
    pub(crate) bytes: Vec<u8>,
    /// Length of `bytes` where the first padding followed by more data stood: a reader that stops there has only this much.
    pub(crate) first_padding: Option<usize>,
    /// Bytes outside the alphabet.
    pub(crate) junk: usize,
    /// The output bound was reached before the end.
    pub(crate) truncated: bool,
}

/// Decodes base64 that may hold junk, inner padding or no padding at all, to at most `max` bytes.
pub(crate) fn base64(input: &[u8], max: usize) -> Base64 {
    let mut out = Base64 {
        bytes: Vec::with_capacity((input.len() / 4 * 3 + 3).min(max + 3)),
        first_padding: None,
        junk: 0,
        truncated: false,
    };
    let (mut group, mut have) = (0_u32, 0_u8);
    let mut padded: Option<usize> = None;
    let mut i = 0;
    while i < input.len() {
        if have == 0 && padded.is_none() {
            // Whole groups at once: nearly all of a well-formed body.
            while let Some(quad) = input.get(i..i + 4) {
                let (a, b, c, d) = (
                    BASE64[quad[0] as usize],
                    BASE64[quad[1] as usize],
                    BASE64[quad[2] as usize],
                    BASE64[quad[3] as usize],
                );
                if (a | b | c | d) >= 64 {
                    break;
                }
                let n = u32::from(a) << 18 | u32::from(b) << 12 | u32::from(c) << 6 | u32::from(d);
                out.bytes.extend_from_slice(&n.to_be_bytes()[1..]);
                i += 4;
            }
            if i >= input.len() {
                break;
            }
        }
        if out.bytes.len() >= max {
            out.truncated = input[i..].iter().any(|&b| BASE64[b as usize] < 64);
            break;
        }
        match BASE64[input[i] as usize] {
            SPACE => {}
            PAD => {
                flush(&mut group, &mut have, &mut out.bytes);
                padded.get_or_insert(out.bytes.len());
            }
            JUNK => out.junk += 1,
            value => {
                if let Some(at) = padded.take() {
                    out.first_padding.get_or_insert(at);
                }
                group = group << 6 | u32::from(value);
                have += 1;
                if have == 4 {
                    out.bytes.extend_from_slice(&group.to_be_bytes()[1..]);
                    (group, have) = (0, 0);
                }
            }
        }
        i += 1;
    }
    flush(&mut group, &mut have, &mut out.bytes);
    if out.bytes.len() > max {
        out.bytes.truncate(max);
        out.truncated = true;
    }
    out
}

/// Ends an incomplete group: two digits give one byte, three give two, and one alone gives none.
fn flush(group: &mut u32, have: &mut u8, out: &mut Vec<u8>) {
    match have {
        2 => out.push((*group >> 4) as u8),
        3 => out.extend_from_slice(&[(*group >> 10) as u8, (*group >> 2) as u8]),
        _ => {}
    }
    (*group, *have) = (0, 0);
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|d| d as u8)
}

/// Decodes quoted-printable; what is no escape stays as it is. Also says whether an escape was malformed.
pub(crate) fn quoted_printable(input: &[u8]) -> (Cow<'_, [u8]>, bool) {
    let Some(first) = memchr::memchr(b'=', input) else { return (Cow::Borrowed(input), false) };
    let mut out = Vec::with_capacity(input.len());
    out.extend_from_slice(&input[..first]);
    let mut malformed = false;
    let mut rest = &input[first..];
    loop {
        // `rest` begins with '='.
        let skip = match (rest.get(1), rest.get(2)) {
            (Some(&a), Some(&b)) if hex(a).is_some() && hex(b).is_some() => {
                out.push(hex(a).unwrap_or(0) << 4 | hex(b).unwrap_or(0));
                3
            }
            _ => {
                let blank = rest[1..].iter().take_while(|&&b| b == b' ' || b == b'\t').count();
                match rest.get(1 + blank) {
                    Some(b'\n') => blank + 2,
                    Some(b'\r') => blank + 2 + usize::from(rest.get(blank + 2) == Some(&b'\n')),
                    None => rest.len(),
                    Some(_) => {
                        malformed = true;
                        out.push(b'=');
                        1
                    }
                }
            }
        };
        rest = &rest[skip..];
        match memchr::memchr(b'=', rest) {
            Some(next) => {
                out.extend_from_slice(&rest[..next]);
                rest = &rest[next..];
            }
            None => {
                out.extend_from_slice(rest);
                return (Cow::Owned(out), malformed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_reads_over_junk_and_padding() {
        let decoded = base64(b"aGVs\r\nbG8=", 100);
        assert_eq!((decoded.bytes.as_slice(), decoded.first_padding, decoded.junk), (&b"hello"[..], None, 0));
        let decoded = base64(b"aGVsbG8", 100);
        assert_eq!(decoded.bytes, b"hello");
        let decoded = base64(b"aGV!sbG8=d29ybGQ=", 100);
        assert_eq!((decoded.bytes.as_slice(), decoded.first_padding, decoded.junk), (&b"helloworld"[..], Some(5), 1));
        let decoded = base64(b"aGVsbG8gd29ybGQ=", 4);
        assert!(decoded.truncated);
        assert_eq!(decoded.bytes, b"hell");
    }

    #[test]
    fn quoted_printable_joins_soft_breaks_and_keeps_what_is_no_escape() {
        assert_eq!(&*quoted_printable(b"ig=\r\nno=72e=  \nall =ZZ=").0, b"ignoreall =ZZ");
        assert!(quoted_printable(b"a=ZZ").1);
        assert_eq!(&*quoted_printable(b"plain").0, b"plain");
    }

    #[test]
    fn odd_names_of_encodings() {
        assert_eq!(Transfer::parse("BASE64"), (Some(Transfer::Base64), true));
        assert_eq!(Transfer::parse("base64 (really)"), (Some(Transfer::Base64), false));
        assert_eq!(Transfer::parse("rot13"), (None, false));
    }
}
