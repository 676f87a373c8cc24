//! Charsets that encoding_rs and mail-parser leave out.

use encoding_rs::{EUC_KR, GBK};

/// Decodes UTF-32 by its byte-order mark or its label; `None` when it is neither.
pub(super) fn utf32(bytes: &[u8], label: &str) -> Option<String> {
    let (skip, little) = match bytes {
        [0xff, 0xfe, 0, 0, ..] => (4, true),
        [0, 0, 0xfe, 0xff, ..] => (4, false),
        _ if label.starts_with("utf-32") || label.starts_with("ucs-4") => (0, label.ends_with("le")),
        _ => return None,
    };
    let read = |unit: &[u8]| {
        let four = <[u8; 4]>::try_from(unit).unwrap_or_default();
        let code = if little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) };
        char::from_u32(code).unwrap_or('\u{fffd}')
    };
    Some(bytes[skip..].chunks_exact(4).map(read).collect())
}

/// ISO-2022-KR: SO begins two-byte Korean, SI ends it.
pub(super) fn iso_2022_kr(bytes: &[u8]) -> String {
    let mut eight_bit = Vec::with_capacity(bytes.len());
    let mut shifted = false;
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            0x1b if bytes[i..].starts_with(b"\x1b$)C") => i += 3,
            0x0e => shifted = true,
            0x0f => shifted = false,
            b'\n' => {
                shifted = false;
                eight_bit.push(b'\n');
            }
            b if shifted && b > 0x20 => eight_bit.push(b | 0x80),
            b => eight_bit.push(b),
        }
        i += 1;
    }
    EUC_KR.decode_without_bom_handling(&eight_bit).0.into_owned()
}

/// HZ (RFC 1843): `~{` begins two-byte Chinese, `~}` ends it, `~~` is a tilde, `~` at the end of a line joins lines.
pub(super) fn hz(bytes: &[u8]) -> String {
    let mut eight_bit = Vec::with_capacity(bytes.len());
    let mut shifted = false;
    let mut i = 0;
    while i < bytes.len() {
        match (bytes[i], bytes.get(i + 1)) {
            (b'~', Some(b'{')) => (shifted, i) = (true, i + 1),
            (b'~', Some(b'}')) => (shifted, i) = (false, i + 1),
            (b'~', Some(b'\n')) => i += 1,
            (b'~', Some(b'~')) if !shifted => {
                eight_bit.push(b'~');
                i += 1;
            }
            (b'\n', _) => {
                shifted = false;
                eight_bit.push(b'\n');
            }
            (b, _) => eight_bit.push(if shifted && b > 0x20 { b | 0x80 } else { b }),
        }
        i += 1;
    }
    GBK.decode_without_bom_handling(&eight_bit).0.into_owned()
}

/// The upper half of the IBM PC's code page 437.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

pub(super) fn cp437(bytes: &[u8]) -> String {
    let upper: Vec<char> = CP437.chars().collect();
    bytes
        .iter()
        .map(|&b| if b < 0x80 { b as char } else { upper.get(usize::from(b) - 0x80).copied().unwrap_or('\u{fffd}') })
        .collect()
}
