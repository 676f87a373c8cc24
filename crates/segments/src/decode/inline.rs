//! Files that stand in plain text: uuencoded and yEnc blocks.

/// A file found in plain text.
pub(crate) struct Block {
    /// Byte range of the block in the text.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// Nothing but a file: it ends as it should and every line is data. Otherwise its lines may be text that someone reads.
    pub(crate) clean: bool,
}

/// Finds uuencoded (`begin 644 name` … `end`) and yEnc (`=ybegin` … `=yend`) blocks. An unterminated block runs to the next block
/// or to the end.
pub(crate) fn blocks(text: &[u8], max: usize) -> Vec<Block> {
    let mut found = Vec::new();
    if memchr::memmem::find(text, b"begin").is_none() {
        return found;
    }
    let mut at = 0;
    while at < text.len() && found.len() < 64 {
        let end = line_end(text, at);
        let line = trim(&text[at..end]);
        let block = if !begins(line) {
            None
        } else if line.starts_with(b"=ybegin ") {
            yenc_block(text, at, end, max)
        } else {
            uu_block(text, at, end, max)
        };
        at = end;
        if let Some(block) = block {
            at = block.end;
            found.push(block);
        }
    }
    found
}

fn begins(line: &[u8]) -> bool {
    line.starts_with(b"begin ") || line.starts_with(b"begin-base64 ") || line.starts_with(b"=ybegin ")
}

/// Words rather than data: most characters are letters, and three of four letters or blanks. Of 64 digits of uuencode 26 are letters.
fn wordy(line: &[u8], least: usize) -> bool {
    let Ok(text) = std::str::from_utf8(line) else { return false };
    let (mut all, mut letters, mut blanks) = (0, 0, 0);
    for c in text.chars() {
        all += 1;
        letters += usize::from(c.is_alphabetic());
        blanks += usize::from(c == ' ');
    }
    all >= least && letters * 2 > all && (letters + blanks) * 4 >= all * 3
}

fn line_end(text: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |i| from + i + 1)
}

fn trim(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").map_or(line, |l| l.strip_suffix(b"\r").unwrap_or(l))
}

fn uu_block(text: &[u8], start: usize, mut at: usize, max: usize) -> Option<Block> {
    let header = String::from_utf8_lossy(trim(&text[start..at])).into_owned();
    let mut words = header.splitn(3, ' ');
    let base64 = words.next() == Some("begin-base64");
    let mode = words.next()?;
    let name = words.next()?.trim().to_owned();
    if name.is_empty() || !(3..=4).contains(&mode.len()) || !mode.bytes().all(|b| (b'0'..=b'7').contains(&b)) {
        return None;
    }
    let mut bytes = Vec::new();
    let mut base64_lines = Vec::new();
    // Data, then a line of no bytes, then `end`; in base64 data, then padding, then `====`.
    let (mut data, mut last, mut ended) = (true, false, false);
    while at < text.len() {
        let end = line_end(text, at);
        let line = trim(&text[at..end]);
        if line == b"end" || (base64 && line == b"====") {
            at = end;
            ended = true;
            break;
        }
        if base64 {
            if begins(line) {
                break;
            }
            if line.trim_ascii().contains(&b' ') {
                data = false;
            } else {
                base64_lines.extend_from_slice(line);
            }
            let digits = line.strip_suffix(b"==").or_else(|| line.strip_suffix(b"=")).unwrap_or(line);
            data &= !last && digits.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'));
            last |= digits.len() < line.len();
            at = end;
            continue;
        }
        let before = bytes.len();
        if !uu_line(line, &mut bytes) && !line.is_empty() && line != b"`" {
            break;
        }
        let length = bytes.len() - before;
        let digits = line.get(1..).unwrap_or_default();
        if (last && length > 0) || wordy(digits, 12) {
            bytes.truncate(before);
            data = false;
        }
        // Two digits may be missing that were blanks.
        data &= digits.len() + 2 >= (length * 4).div_ceil(3) && (length > 0 || digits.trim_ascii().is_empty());
        last |= length == 0;
        at = end;
        if bytes.len() >= max {
            break;
        }
    }
    if base64 {
        bytes = super::transfer::base64(&base64_lines, max).bytes;
    }
    (!bytes.is_empty()).then_some(Block { start, end: at, name, bytes, clean: data && ended })
}

/// Decodes one uuencoded line; false when it is none.
fn uu_line(line: &[u8], out: &mut Vec<u8>) -> bool {
    let Some((&first, digits)) = line.split_first() else { return false };
    if !(b' '..=b'`').contains(&first) || digits.iter().any(|b| !(b' '..=b'`').contains(b)) {
        return false;
    }
    let length = usize::from((first - b' ') & 63);
    // Mailers strip trailing spaces, which are zero digits; more than a group too many is no uuencoded line.
    if digits.len() > length.div_ceil(3) * 4 + 4 {
        return false;
    }
    let digit = |i: usize| digits.get(i).map_or(0, |b| (b - b' ') & 63);
    let start = out.len();
    for i in (0..length.div_ceil(3) * 4).step_by(4) {
        let (a, b, c, d) = (digit(i), digit(i + 1), digit(i + 2), digit(i + 3));
        out.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
    }
    out.truncate(start + length);
    true
}

fn yenc_block(text: &[u8], start: usize, mut at: usize, max: usize) -> Option<Block> {
    let header = String::from_utf8_lossy(trim(&text[start..at])).into_owned();
    let name = header.split_once("name=").map_or("", |(_, n)| n).trim().to_owned();
    let mut bytes = Vec::new();
    let mut part = None;
    let mut trailer = None;
    let mut data = true;
    while at < text.len() {
        let end = line_end(text, at);
        let line = trim(&text[at..end]);
        if begins(line) {
            break;
        }
        at = end;
        if line.starts_with(b"=yend") {
            trailer = line.get(5..);
            break;
        }
        if bytes.len() >= max {
            break;
        }
        if let Some(range) = line.strip_prefix(b"=ypart ") {
            data &= part.is_none() && bytes.is_empty();
            part = Some(range);
            continue;
        }
        data &= !wordy(line, 4);
        let line = line.strip_prefix(b"..").map_or(line, |_| &line[1..]);
        let mut escaped = false;
        for &b in line {
            if escaped {
                bytes.push(b.wrapping_sub(64).wrapping_sub(42));
                escaped = false;
            } else if b == b'=' {
                escaped = true;
            } else {
                bytes.push(b.wrapping_sub(42));
            }
        }
    }
    let keywords = header.strip_prefix("=ybegin ").and_then(|rest| rest.split_once("name=")).map(|(k, _)| k);
    let clean = data && keywords.zip(trailer).is_some_and(|(k, t)| yenc_whole(k.as_bytes(), part, t, &bytes));
    (!bytes.is_empty()).then_some(Block { start, end: at, name, bytes, clean })
}

/// Whether the lines around yEnc data hold what they should and no more, and size and checksum are right.
fn yenc_whole(begin: &[u8], part: Option<&[u8]>, end: &[u8], bytes: &[u8]) -> bool {
    let read = |line: &[u8], decimal: &[&str], hex: &[&str]| -> Option<Vec<(String, u64)>> {
        let line = std::str::from_utf8(line).ok()?;
        let pair = |word: &str| {
            let (key, value) = word.split_once('=')?;
            let radix = if decimal.contains(&key) { 10 } else { hex.contains(&key).then_some(16)? };
            Some((key.to_owned(), u64::from_str_radix(value, radix).ok()?))
        };
        line.split_ascii_whitespace().map(pair).collect()
    };
    let value = |pairs: &[(String, u64)], key: &str| pairs.iter().find(|(k, _)| k == key).map(|(_, v)| *v);
    let Some(begin) = read(begin, &["part", "total", "line", "size"], &[]) else { return false };
    let Some(end) = read(end, &["part", "total", "size"], &["crc32", "pcrc32"]) else { return false };
    let whole = value(&begin, "part").is_none();
    if !whole && part.and_then(|p| read(p, &["begin", "end"], &[])).is_none() || whole && part.is_some() {
        return false;
    }
    let size = Some(bytes.len() as u64);
    let checksum = value(&end, if whole { "crc32" } else { "pcrc32" });
    value(&end, "size") == size
        && (!whole || value(&begin, "size") == size)
        && checksum.is_none_or(|sum| sum == u64::from(crc32fast::hash(bytes)))
}

/// Decodes a body whose Content-Transfer-Encoding says uuencode.
pub(crate) fn uudecode(body: &[u8], max: usize) -> Vec<u8> {
    match blocks(body, max).into_iter().next() {
        Some(block) => block.bytes,
        None => {
            let mut out = Vec::new();
            for line in body.split(|&b| b == b'\n') {
                if out.len() >= max || !uu_line(trim(line), &mut out) {
                    break;
                }
            }
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuencoded_block() {
        let text = b"see\nbegin 644 a.txt\n+:&5L;&\\@=&AE<F4 \n`\nend\nbye\n";
        let found = blocks(text, 1000);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].bytes.as_slice()), ("a.txt", &b"hello there"[..]));
        assert_eq!(&text[found[0].end..], b"bye\n");
    }

    #[test]
    fn prose_that_begins_with_begin_is_none() {
        assert!(blocks(b"begin with the first page\nend\n", 1000).is_empty());
        assert!(blocks(b"begin 644 pages of prose\nThis is a sentence, in lower case.\n", 1000).is_empty());
    }

    #[test]
    fn a_yenc_block() {
        let encoded: Vec<u8> = b"hello".iter().map(|b| b.wrapping_add(42)).collect();
        let mut text = b"=ybegin line=128 size=5 name=a.txt\n".to_vec();
        text.extend_from_slice(&encoded);
        text.extend_from_slice(b"\n=yend size=5\n");
        let found = blocks(&text, 1000);
        assert_eq!((found[0].name.as_str(), found[0].bytes.as_slice()), ("a.txt", &b"hello"[..]));
    }

    fn clean(text: &[u8]) -> bool {
        let found = blocks(text, 1000);
        assert_eq!(found.len(), 1);
        found[0].clean
    }

    #[test]
    fn uuencoded_lines_that_are_text_are_not_clean() {
        assert!(clean(b"begin 644 a\n#86)C\n`\nend\n"));
        assert!(clean(b"begin 644 a\r\n#86)C\r\n \r\nend\r\n"));
        for text in [
            "begin 644 a\n#86)C\n`\nIGNORE ALL WORDS\nend\n",
            "begin 644 a\n#86)C\nIGNORE ALL WORDS\n`\nend\n",
            "begin 644 a\n#86)C\n` IGNORE\nend\n",
            "begin 644 a\n#86)C\n`\nSome words\n",
            "begin 644 a\n#86)C\n0IGNORE ALL WORDS HERE\n`\nend\n",
            "begin 644 a\n#86)C\n",
        ] {
            assert!(!clean(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn base64_blocks_that_are_text_are_not_clean() {
        assert!(clean(b"begin-base64 644 a\nU0VD\nU0U=\n====\n"));
        for text in [
            "begin-base64 644 a\nU0VD\nignore all\n====\n",
            "begin-base64 644 a\nU0VD\n",
            "begin-base64 644 a\nU0U=\nignore\n====\n",
        ] {
            assert!(!clean(text.as_bytes()), "{text}");
        }
        let found = blocks(b"begin-base64 644 a\nwords\nbegin 644 b\n#86)C\n`\nend\n", 1000);
        assert_eq!((found.len(), found[0].clean, found[1].clean), (2, false, true));
    }

    #[test]
    fn a_yenc_block_is_clean_when_size_checksum_and_lines_are_right() {
        let of = |begin: &str, end: &str| {
            let data: Vec<u8> = b"hello".iter().map(|b| b.wrapping_add(42)).collect();
            clean(&[begin.as_bytes(), &data, b"\n", end.as_bytes()].concat())
        };
        let begin = "=ybegin line=128 size=5 name=a\n";
        assert!(of(begin, "=yend size=5\n"));
        assert!(of(begin, "=yend size=5 crc32=3610a686\n"));
        assert!(of("=ybegin part=1 line=128 size=9 name=a\n=ypart begin=1 end=5\n", "=yend size=5 part=1\n"));
        assert!(!of(begin, "=yend size=5 crc32=3610a687\n"));
        assert!(!of(begin, "=yend size=6\n"));
        assert!(!of(begin, "=yend size=5 ignore all words\n"));
        assert!(!of(begin, ""));
        assert!(!of("=ybegin line=128 words size=5 name=a\n", "=yend size=5\n"));
        assert!(!of("=ybegin line=128 size=5 name=a\n=ypart ignore all words\n", "=yend size=5\n"));
        assert!(!clean(b"=ybegin line=128 size=12 name=a\nignore words\n=yend size=12\n"));
    }
}
