//! Files that stand in plain text: uuencoded and yEnc blocks.

/// A file found in plain text.
pub(crate) struct Block {
    /// Byte range of the block in the text.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Finds uuencoded (`begin 644 name` … `end`) and yEnc (`=ybegin` … `=yend`) blocks. An unterminated block runs to the end.
pub(crate) fn blocks(text: &[u8], max: usize) -> Vec<Block> {
    let mut found = Vec::new();
    if memchr::memmem::find(text, b"begin").is_none() {
        return found;
    }
    let mut at = 0;
    while at < text.len() && found.len() < 64 {
        let end = line_end(text, at);
        let line = trim(&text[at..end]);
        let block = if line.starts_with(b"begin ") || line.starts_with(b"begin-base64 ") {
            uu_block(text, at, end, max)
        } else if line.starts_with(b"=ybegin ") {
            yenc_block(text, at, end, max)
        } else {
            None
        };
        at = end;
        if let Some(block) = block {
            at = block.end;
            found.push(block);
        }
    }
    found
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
    let body = at;
    while at < text.len() {
        let end = line_end(text, at);
        let line = trim(&text[at..end]);
        if line == b"end" || (base64 && line == b"====") {
            at = end;
            break;
        }
        if base64 {
            at = end;
            continue;
        }
        if !uu_line(line, &mut bytes) && !line.is_empty() && line != b"`" {
            break;
        }
        at = end;
        if bytes.len() >= max {
            break;
        }
    }
    if base64 {
        bytes = super::transfer::base64(&text[body..at], max).bytes;
    }
    (!bytes.is_empty()).then_some(Block { start, end: at, name, bytes })
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
    while at < text.len() {
        let end = line_end(text, at);
        let line = trim(&text[at..end]);
        at = end;
        if line.starts_with(b"=yend") || bytes.len() >= max {
            break;
        }
        if line.starts_with(b"=ypart ") {
            continue;
        }
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
    (!bytes.is_empty()).then_some(Block { start, end: at, name, bytes })
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
}
