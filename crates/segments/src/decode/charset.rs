//! Character sets: encoding_rs for those of the web, mail-parser's tables for UTF-7 and the DOS sets, our own for what neither reads.

use std::borrow::Cow;

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use mail_parser::decoders::charsets::map::charset_decoder;

use super::legacy;

/// Bytes as text.
pub(crate) struct Text<'a> {
    pub(crate) text: Cow<'a, str>,
    /// A second reading of the same bytes, where readers differ.
    pub(crate) other: Option<String>,
    /// Readers may differ: the bytes are not what the label says.
    pub(crate) mislabelled: bool,
    /// No reader knows the label.
    pub(crate) unknown_label: bool,
}

impl<'a> Text<'a> {
    fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), other: None, mislabelled: false, unknown_label: false }
    }

    fn mislabelled(text: impl Into<Cow<'a, str>>, other: Option<String>) -> Self {
        Self { text: text.into(), other, mislabelled: true, unknown_label: false }
    }
}

/// Decodes bytes whose charset is declared, or not. Never fails; what no charset reads becomes U+FFFD.
pub(crate) fn decode<'a>(bytes: &'a [u8], label: Option<&str>) -> Text<'a> {
    let label = label.map(|l| l.trim().trim_matches(['"', '\''])).filter(|l| !l.is_empty());
    let lower = label.map(str::to_ascii_lowercase);
    let name = lower.as_deref().unwrap_or("us-ascii");
    if let Some((encoding, skip)) = Encoding::for_bom(bytes) {
        let (rest, text) = (&bytes[skip..], encoding.decode_without_bom_handling(&bytes[skip..]).0);
        if encoding != UTF_8 && rest.len() >= 6 && narrow(rest) {
            // The mark of UTF-16 before text that isn't: some readers pass over it.
            return Text::mislabelled(unlabelled(rest), Some(text.into_owned()));
        }
        return Text::plain(text);
    }
    if let Some(text) = legacy::utf32(bytes, name) {
        if bytes.len() >= 4 && !text.chars().any(|c| c != '\u{fffd}') {
            return Text::mislabelled(unlabelled(bytes), None);
        }
        if text.contains('\u{fffd}') {
            return Text::mislabelled(text, Some(unlabelled(bytes).replace('\0', "")));
        }
        return Text::plain(text);
    }
    let wide = utf16_shape(bytes);
    if let Some(encoding) = utf16_label(name) {
        let little = encoding == UTF_16LE && (name.ends_with("le") || wide != Some(UTF_16BE));
        let encoding = if little { UTF_16LE } else { UTF_16BE };
        let text = encoding.decode_without_bom_handling(bytes).0;
        if wide.is_none() && narrow(bytes) {
            // Labelled UTF-16 but ASCII, or nearly so: some readers ignore the label, as a MIME part can't be UTF-16 without an encoding.
            return Text::mislabelled(unlabelled(bytes), Some(text.into_owned()));
        }
        return Text::plain(text);
    }
    if let Some(encoding) = wide {
        let other = String::from_utf8_lossy(bytes).replace('\0', "");
        return Text::mislabelled(encoding.decode_without_bom_handling(bytes).0, Some(other));
    }
    match name {
        "utf-7" | "utf7" | "unicode-1-1-utf-7" | "x-unicode-1-1-utf-7" | "csunicode11utf7" => {
            return match charset_decoder(b"utf-7") {
                Some(decoder) => Text::plain(decoder(bytes)),
                None => Text::plain(String::from_utf8_lossy(bytes)),
            };
        }
        // encoding_rs (as browsers do) and mail-parser turn these two into one U+FFFD, for the sake of scripts; mail is read.
        "iso-2022-kr" | "csiso2022kr" => return Text::plain(legacy::iso_2022_kr(bytes)),
        "hz-gb-2312" | "hz" => return Text::plain(legacy::hz(bytes)),
        // mail-parser does not know cp437.
        "cp437" | "ibm437" | "437" | "cspc8codepage437" => return Text::plain(legacy::cp437(bytes)),
        _ => {}
    }
    let ascii_like = matches!(
        name,
        "us-ascii"
            | "ascii"
            | "utf-8"
            | "utf8"
            | "ansi_x3.4-1968"
            | "unknown-8bit"
            | "x-unknown"
            | "default"
            | "unknown"
            | "646"
            | "7bit"
            | "8bit"
    );
    if ascii_like {
        if let Ok(text) = std::str::from_utf8(bytes) {
            if let Some(other) = shifted_japanese(bytes) {
                return Text::mislabelled(text, Some(other));
            }
            return Text::plain(text);
        }
        return Text::mislabelled(WINDOWS_1252.decode_without_bom_handling(bytes).0, lossy_other(bytes));
    }
    let Some(encoding) = Encoding::for_label(name.as_bytes()) else {
        if let Some(decoder) = charset_decoder(name.as_bytes()) {
            return Text::plain(decoder(bytes));
        }
        return Text { unknown_label: true, ..Text::plain(unlabelled(bytes)) };
    };
    if encoding == REPLACEMENT {
        // Labels for which browsers show one U+FFFD instead of the text.
        return Text::mislabelled(unlabelled(bytes), None);
    }
    let (text, errors) = encoding.decode_without_bom_handling(bytes);
    if !bytes.is_ascii() && encoding != UTF_8 {
        if let Ok(utf8) = std::str::from_utf8(bytes) {
            // Text that is valid UTF-8 by chance is rare; under a one-byte label it is UTF-8 that someone labelled wrongly.
            return Text::mislabelled(utf8, (!errors).then(|| text.into_owned()));
        }
        if errors {
            let other = WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned();
            return Text::mislabelled(text, Some(other));
        }
    }
    Text::plain(text)
}

/// Whether a label names a charset that [`decode`] reads.
pub(crate) fn known(label: &str) -> bool {
    !decode(b"", Some(label)).unknown_label
}

/// What the bytes are when the label is no help.
fn unlabelled(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// The encoding of a label for UTF-16, little-endian where the label leaves it open.
fn utf16_label(name: &str) -> Option<&'static Encoding> {
    if name.starts_with("utf-16") || name.starts_with("utf16") || name == "unicode" || name == "ucs-2" {
        return Some(if name.ends_with("be") { UTF_16BE } else { UTF_16LE });
    }
    Encoding::for_label(name.as_bytes()).filter(|e| [UTF_16LE, UTF_16BE].contains(e))
}

/// Whether bytes are ASCII, or nearly so, or UTF-8 without control characters, and thus hardly UTF-16.
fn narrow(bytes: &[u8]) -> bool {
    let control = |c: char| c.is_control() && !matches!(c, '\t' | '\r' | '\n');
    // In UTF-16 of India's scripts every second byte is a tab or another blank.
    let blanks = |offset: usize| bytes.iter().skip(offset).step_by(2).filter(|b| b"\t\n\r\x0c".contains(b)).count();
    let (few, many) = (blanks(0).min(blanks(1)), blanks(0).max(blanks(1)));
    if many * 10 > bytes.len() / 2 * 7 && few * 10 < bytes.len() / 2 {
        return false;
    }
    looks_ascii(bytes) || std::str::from_utf8(bytes).is_ok_and(|t| t.len() >= 8 && !t.contains(control))
}

fn looks_ascii(bytes: &[u8]) -> bool {
    bytes.iter().filter(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()).count() * 10 >= bytes.len() * 9
}

/// UTF-8 that is damaged in a few places is better read as UTF-8 than as windows-1252.
fn lossy_other(bytes: &[u8]) -> Option<String> {
    let lossy = String::from_utf8_lossy(bytes);
    let (bad, multi) = lossy.chars().fold((0, 0), |(bad, multi), c| match c {
        '\u{fffd}' => (bad + 1, multi),
        c if c as u32 > 0x7f => (bad, multi + 1),
        _ => (bad, multi),
    });
    (multi > bad).then(|| lossy.into_owned())
}

/// The byte order of text whose every second byte is NUL.
fn utf16_shape(bytes: &[u8]) -> Option<&'static Encoding> {
    if bytes.len() < 8 || memchr::memchr(0, &bytes[..bytes.len().min(64)]).is_none() {
        return None;
    }
    let sample = &bytes[..bytes.len().min(512)];
    let zeros = |offset: usize| sample.iter().skip(offset).step_by(2).filter(|b| **b == 0).count() * 2;
    let (even, odd) = (zeros(0), zeros(1));
    let most = sample.len() * 6 / 10;
    if odd > most && even * 10 < sample.len() {
        Some(UTF_16LE)
    } else if even > most && odd * 10 < sample.len() {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// ISO-2022-JP announces itself by escape sequences; readers apply it under an ASCII label too.
fn shifted_japanese(bytes: &[u8]) -> Option<String> {
    memchr::memchr(0x1b, bytes)?;
    (memchr::memmem::find(bytes, b"\x1b$B").is_some() || memchr::memmem::find(bytes, b"\x1b$@").is_some())
        .then(|| encoding_rs::ISO_2022_JP.decode_without_bom_handling(bytes).0.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_bytes_that_disagree_give_both_readings() {
        let text = decode("café".as_bytes(), Some("iso-8859-1"));
        assert_eq!((&*text.text, text.mislabelled), ("café", true));
        assert_eq!(text.other.as_deref(), Some("cafÃ©"));
        let text = decode(b"caf\xe9", Some("utf-8"));
        assert_eq!((&*text.text, text.mislabelled), ("café", true));
        assert!(decode(b"abc", Some("no-such-charset")).unknown_label);
        let text = decode(b"a caf\xe9 at noon", Some("utf-16"));
        assert_eq!((&*text.text, text.mislabelled), ("a café at noon", true));
    }

    #[test]
    fn charsets_the_libraries_leave_out() {
        assert_eq!(decode(b"\x1b$)C\x0e0!3*\x0f!", Some("iso-2022-kr")).text, "가나!");
        assert_eq!(decode(b"~{VPND~} ok ~~", Some("hz-gb-2312")).text, "中文 ok ~");
        assert_eq!(decode(b"\x81ber", Some("cp437")).text, "über");
        assert_eq!(decode(b"+ZYeB9FH6ckh5Pg-, 1980.", Some("UTF-7")).text, "文致出版社, 1980.");
        assert_eq!(decode(b"h\0i\0 \0t\0h\0e\0r\0e\0", None).text, "hi there");
        assert_eq!(decode(b"\0\0\0h\0\0\0i", Some("utf-32be")).text, "hi");
    }

    #[test]
    fn labels_that_would_destroy_the_text() {
        for label in ["utf-32", "utf-32le", "utf-32be", "ucs-4", "iso-2022-cn", "iso-2022-cn-ext", "replacement"] {
            let text = decode(b"ignore all", Some(label));
            assert_eq!((&*text.text, text.mislabelled, text.other), ("ignore all", true, None), "{label}");
        }
        for label in ["utf-16", "utf-16be", "csunicode", "iso-10646-ucs-2", "unicodefeff", "unicodefffe"] {
            let text = decode(b"ignore all", Some(label));
            assert_eq!((&*text.text, text.mislabelled), ("ignore all", true), "{label}");
            assert!(text.other.is_some(), "{label}");
        }
        let text = decode("оставь всё".as_bytes(), Some("utf-16le"));
        assert_eq!((&*text.text, text.mislabelled), ("оставь всё", true));
        let text = decode(b"\0\0\0hignore all", Some("utf-32be"));
        assert_eq!(text.other.as_deref(), Some("hignore all"));
    }

    #[test]
    fn a_mark_of_utf_16_before_other_text() {
        for mark in [b"\xff\xfe", b"\xfe\xff"] {
            let bytes = [&mark[..], b"ignore all"].concat();
            let text = decode(&bytes, Some("utf-8"));
            assert_eq!((&*text.text, text.mislabelled), ("ignore all", true));
            assert!(text.other.is_some());
        }
        for words in ["привет", "你好世界你好世界", "שלום", "hello there", "नमस्ते", "ਸਤਿ ਸ੍ਰੀ"]
        {
            let wide: Vec<u8> = words.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let text = decode(&wide, Some("utf-16le"));
            assert_eq!((&*text.text, text.mislabelled), (words, false));
            let marked = [&b"\xff\xfe"[..], &wide].concat();
            let text = decode(&marked, None);
            assert_eq!((&*text.text, text.mislabelled), (words, false));
        }
    }
}
