//! Text of Rich Text Format, hidden text (`\v`) included, and the decompression that Outlook puts around it.

use crate::decode::charset;

/// Groups whose text is no text of the document.
const SKIPPED: [&str; 16] = [
    "fonttbl",
    "colortbl",
    "stylesheet",
    "listtable",
    "listoverridetable",
    "rsidtbl",
    "generator",
    "xmlnstbl",
    "pict",
    "object",
    "objdata",
    "themedata",
    "colorschememapping",
    "datastore",
    "latentstyles",
    "filetbl",
];

#[derive(Clone, Copy)]
struct Group {
    skipped: bool,
    /// Characters that follow `\u` as its fallback.
    fallback: usize,
}

/// The text of an RTF document.
pub(crate) fn text(rtf: &[u8], max: usize) -> String {
    let mut reader = Reader {
        out: String::new(),
        pending: Vec::new(),
        codepage: "windows-1252".to_owned(),
        groups: vec![Group { skipped: false, fallback: 1 }],
        skip: 0,
        star: false,
    };
    let mut at = 0;
    while at < rtf.len() && reader.out.len() < max {
        at = reader.step(rtf, at);
    }
    reader.flush();
    reader.out
}

struct Reader {
    out: String,
    /// Bytes in the document's code page.
    pending: Vec<u8>,
    codepage: String,
    groups: Vec<Group>,
    skip: usize,
    star: bool,
}

impl Reader {
    fn group(&mut self) -> Group {
        self.groups.last().copied().unwrap_or(Group { skipped: false, fallback: 1 })
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let decoded = charset::decode(&self.pending, Some(&self.codepage));
            self.out.push_str(&decoded.text);
            self.pending.clear();
        }
    }

    fn byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if !self.group().skipped {
            self.pending.push(byte);
        }
    }

    fn push(&mut self, text: &str) {
        if !self.group().skipped {
            self.flush();
            self.out.push_str(text);
        }
    }

    fn step(&mut self, rtf: &[u8], at: usize) -> usize {
        match rtf[at] {
            b'{' => {
                let group = self.group();
                if self.groups.len() < 1000 {
                    self.groups.push(group);
                }
                self.star = false;
                at + 1
            }
            b'}' => {
                self.flush();
                if self.groups.len() > 1 {
                    self.groups.pop();
                }
                self.skip = 0;
                at + 1
            }
            b'\\' => self.control(rtf, at + 1),
            b'\r' | b'\n' | 0 => at + 1,
            byte => {
                self.byte(byte);
                at + 1
            }
        }
    }

    fn control(&mut self, rtf: &[u8], at: usize) -> usize {
        let Some(&first) = rtf.get(at) else { return at };
        if !first.is_ascii_alphabetic() {
            match first {
                b'\'' => {
                    let digits = rtf.get(at + 1..at + 3).and_then(|d| std::str::from_utf8(d).ok());
                    if let Some(byte) = digits.and_then(|d| u8::from_str_radix(d, 16).ok()) {
                        self.byte(byte);
                        return at + 3;
                    }
                }
                b'*' => self.star = true,
                b'~' => self.byte(b' '),
                b'_' => self.byte(b'-'),
                b'\\' | b'{' | b'}' => self.byte(first),
                b'\r' | b'\n' => self.push("\n"),
                _ => {}
            }
            return at + 1;
        }
        let letters = rtf[at..].iter().take(32).take_while(|b| b.is_ascii_alphabetic()).count();
        let word = std::str::from_utf8(&rtf[at..at + letters]).unwrap_or_default();
        let mut end = at + letters;
        let digits_start = end;
        if rtf.get(end) == Some(&b'-') {
            end += 1;
        }
        end += rtf[end..].iter().take(10).take_while(|b| b.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rtf[digits_start..end]).ok().and_then(|d| d.parse::<i64>().ok());
        if rtf.get(end) == Some(&b' ') {
            end += 1;
        }
        self.word(word, number, rtf, end)
    }

    fn word(&mut self, word: &str, number: Option<i64>, rtf: &[u8], end: usize) -> usize {
        let star = std::mem::take(&mut self.star);
        match word {
            "par" | "line" | "row" | "sect" | "page" => self.push("\n"),
            "tab" | "cell" => self.push("\t"),
            "emdash" => self.push("—"),
            "endash" => self.push("–"),
            "lquote" => self.push("‘"),
            "rquote" => self.push("’"),
            "ldblquote" => self.push("“"),
            "rdblquote" => self.push("”"),
            "bullet" => self.push("•"),
            "ansicpg" => {
                self.codepage = match number {
                    Some(65001) => "utf-8".to_owned(),
                    Some(932) => "shift_jis".to_owned(),
                    Some(936) => "gbk".to_owned(),
                    Some(949) => "euc-kr".to_owned(),
                    Some(950) => "big5".to_owned(),
                    Some(437) => "cp437".to_owned(),
                    Some(n) => format!("windows-{n}"),
                    None => "windows-1252".to_owned(),
                }
            }
            "uc" => {
                if let Some(group) = self.groups.last_mut() {
                    group.fallback = number.unwrap_or(1).clamp(0, 16) as usize;
                }
            }
            "u" => self.unicode(number.unwrap_or(0)),
            "bin" => return (end + number.unwrap_or(0).max(0) as usize).min(rtf.len()),
            _ if SKIPPED.contains(&word) => self.skip_group(),
            // What an unknown reader is told to ignore may still hold text (`\*\htmltag`, comments): only known tables are dropped.
            "htmltag" | "mhtmltag" | "bkmkstart" | "bkmkend" | "datafield" | "pnseclvl" if star => self.skip_group(),
            _ => {}
        }
        end
    }

    fn skip_group(&mut self) {
        self.flush();
        if let Some(group) = self.groups.last_mut() {
            group.skipped = true;
        }
    }

    fn unicode(&mut self, number: i64) {
        if self.group().skipped {
            return;
        }
        self.flush();
        let unit = (number.rem_euclid(65536)) as u16;
        self.skip = self.group().fallback;
        // A pair of surrogates comes as two words: the first is kept at the end of the text until the second follows.
        if let Some(c) = char::from_u32(u32::from(unit)) {
            self.out.push(c);
        } else if (0xd800..0xdc00).contains(&unit) {
            self.out.push(char::from_u32(0xf0000 + u32::from(unit - 0xd800)).unwrap_or('\u{fffd}'));
        } else if let Some(high) = self.out.pop() {
            let high = (high as u32).wrapping_sub(0xf0000);
            if high < 0x400 {
                let c = 0x10000 + (high << 10) + u32::from(unit - 0xdc00);
                self.out.push(char::from_u32(c).unwrap_or('\u{fffd}'));
            } else {
                self.out.extend(char::from_u32(high.wrapping_add(0xf0000)));
                self.out.push('\u{fffd}');
            }
        }
    }
}

/// The dictionary that compressed RTF begins with (MS-OXRTFCP).
const LZFU_START: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// Decompresses Outlook's compressed RTF; `None` when it is none.
pub(crate) fn decompress(data: &[u8], max: usize) -> Option<Vec<u8>> {
    let kind = data.get(8..12)?;
    let raw_size = u32::from_le_bytes(data.get(4..8)?.try_into().ok()?) as usize;
    if kind == b"MELA" {
        return Some(data[16.min(data.len())..].iter().copied().take(raw_size.min(max)).collect());
    }
    if kind != b"LZFu" {
        return None;
    }
    let mut window = [b' '; 4096];
    window[..LZFU_START.len()].copy_from_slice(LZFU_START);
    let mut write = LZFU_START.len();
    let mut out = Vec::with_capacity(raw_size.min(max).min(1 << 20));
    let mut at = 16;
    while at < data.len() && out.len() < max {
        let flags = data[at];
        at += 1;
        for bit in 0..8 {
            if flags >> bit & 1 == 0 {
                let Some(&byte) = data.get(at) else { return Some(out) };
                at += 1;
                out.push(byte);
                window[write] = byte;
                write = (write + 1) % 4096;
                continue;
            }
            let Some(pair) = data.get(at..at + 2) else { return Some(out) };
            at += 2;
            let token = u16::from_be_bytes([pair[0], pair[1]]);
            let offset = usize::from(token >> 4);
            if offset == write {
                return Some(out);
            }
            for i in 0..usize::from(token & 15) + 2 {
                let byte = window[(offset + i) % 4096];
                out.push(byte);
                window[write] = byte;
                write = (write + 1) % 4096;
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_every_form() {
        let rtf = br"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0 Arial;}}\b Ig\'efo\b0 re {\v hidden} \u9731?\par next\{x\} \u-10179?\u-8704?}";
        assert_eq!(text(rtf, 1000), "Igпore hidden ☃\nnext{x} 😀");
        assert_eq!(text(b"{\\rtf1 {\\*\\unknown kept}{\\pict 0102}", 1000), "kept");
    }

    #[test]
    fn compressed() {
        let mut data = vec![0; 16];
        data[4..8].copy_from_slice(&5_u32.to_le_bytes());
        data[8..12].copy_from_slice(b"MELA");
        data.extend_from_slice(b"hello");
        assert_eq!(decompress(&data, 100).as_deref(), Some(&b"hello"[..]));
        data[8..12].copy_from_slice(b"LZFu");
        data.truncate(16);
        // Five literal bytes, then the end mark: a reference to where the next byte would be written.
        let end = ((LZFU_START.len() + 5) as u16) << 4;
        data.push(0b10_0000);
        data.extend_from_slice(b"hello");
        data.extend_from_slice(&end.to_be_bytes());
        assert_eq!(decompress(&data, 100).as_deref(), Some(&b"hello"[..]));
    }
}
