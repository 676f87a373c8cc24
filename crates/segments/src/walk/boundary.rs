//! Where the parts of a multipart begin and end, in every reading.

use memchr::memmem;

/// A delimiter line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delimiter {
    /// The first byte of the line, or of the line end before it, which belongs to the delimiter.
    pub(super) start: usize,
    /// Past the line's end.
    pub(super) end: usize,
    pub(super) close: bool,
}

/// The delimiters of one boundary, by how strict a reader is.
#[derive(Debug, Default)]
pub(super) struct Delimiters {
    /// On a line of their own: every reader's.
    pub(super) strict: Vec<Delimiter>,
    /// Lines that only begin with the delimiter: a longer boundary's, to a strict reader.
    pub(super) prefix: Vec<Delimiter>,
    /// In the middle of a line, or after a bare CR.
    pub(super) midline: Vec<Delimiter>,
}

impl Delimiters {
    pub(super) fn with(&self, more: &[Delimiter]) -> Vec<Delimiter> {
        let mut all = [self.strict.as_slice(), more].concat();
        all.sort_by_key(|d| d.start);
        all
    }
}

/// Finds every delimiter of a boundary in `body`, at most `max` of each sort.
pub(super) fn find(body: &[u8], boundary: &str, max: usize) -> Delimiters {
    let mut found = Delimiters::default();
    let needle = [b"--", boundary.as_bytes()].concat();
    let finder = memmem::Finder::new(&needle);
    let mut at = 0;
    while let Some(start) = finder.find(&body[at..]).map(|i| i + at) {
        let after = start + needle.len();
        at = after.max(start + 1);
        let line_end = memchr::memchr2(b'\n', b'\r', &body[after..]).map_or(body.len(), |i| after + i);
        let rest = &body[after..line_end];
        let (close, tail) = match rest.strip_prefix(b"--") {
            Some(tail) if !boundary.is_empty() => (true, tail),
            _ => (false, rest),
        };
        let exact = tail.iter().all(|b| matches!(b, b' ' | b'\t'));
        let end = match (body.get(line_end), body.get(line_end + 1)) {
            (Some(b'\r'), Some(b'\n')) => line_end + 2,
            (Some(_), _) => line_end + 1,
            (None, _) => line_end,
        };
        let line_start = start == 0 || body[start - 1] == b'\n';
        let own = if start >= 2 && body[start - 2..start] == *b"\r\n" {
            start - 2
        } else if start >= 1 && matches!(body[start - 1], b'\n' | b'\r') {
            start - 1
        } else {
            start
        };
        let delimiter = Delimiter { start: own, end, close };
        let list = match (line_start, exact) {
            (true, true) => &mut found.strict,
            (true, false) if !boundary.is_empty() => &mut found.prefix,
            (false, true) if !boundary.is_empty() => &mut found.midline,
            _ => continue,
        };
        if list.len() < max {
            list.push(delimiter);
        }
    }
    found
}

/// Guesses the boundary of a multipart that declares none: the first line `--x` that is followed by a header field.
pub(super) fn guess(body: &[u8]) -> Option<String> {
    let mut at = 0;
    for _ in 0..2000 {
        let start = if at == 0 && body.starts_with(b"--") { 0 } else { memmem::find(&body[at..], b"\n--")? + at + 1 };
        let end = memchr::memchr(b'\n', &body[start..]).map_or(body.len(), |i| start + i);
        let line = body[start + 2..end].trim_ascii_end();
        let next = &body[(end + 1).min(body.len())..];
        if (1..=200).contains(&line.len()) && next.len() >= 8 && next[..8].eq_ignore_ascii_case(b"content-") {
            return std::str::from_utf8(line).ok().map(str::to_owned);
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_of_delimiter() {
        let body = b"pre\r\n--a\r\nx --a\r\n--ab\r\ny\r\n--a--\r\nepi";
        let found = find(body, "a", 10);
        assert_eq!(found.strict.len(), 2);
        assert_eq!((found.strict[0].start, found.strict[0].end, found.strict[0].close), (3, 10, false));
        assert!(found.strict[1].close);
        assert_eq!((found.prefix.len(), found.midline.len()), (1, 1));
        assert_eq!(found.with(&found.prefix).len(), 3);
    }

    #[test]
    fn a_guess_needs_a_field_after_the_line() {
        assert_eq!(guess(b"--\nno\n--xyz\nContent-Type: text/plain\n\nhi"), Some("xyz".into()));
        assert_eq!(guess(b"-- \nsignature"), None);
    }
}
