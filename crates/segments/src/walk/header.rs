//! Header blocks, split into raw fields.

/// One field as written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) name: &'a [u8],
    pub(super) value: &'a [u8],
    pub(super) offset: usize,
}

impl Field<'_> {
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }
}

/// What readers differ over in a header block, and where.
pub(super) type Defects = Vec<(&'static str, usize)>;

/// A header block and where the body begins.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    pub(super) fields: Vec<Field<'a>>,
    pub(super) body: usize,
    /// Where a reader that skips unreadable lines finds the body; differs from `body` when there are such lines.
    pub(super) skipping_body: Option<usize>,
    /// A field that stands beyond an unreadable line.
    pub(super) beyond: Vec<Field<'a>>,
    pub(super) defects: Defects,
}

/// The end of the line that begins at `from`, past its line end. A bare CR ends a line only when `cr`.
fn line_end(bytes: &[u8], from: usize, cr: bool) -> usize {
    let rest = &bytes[from..];
    if !cr {
        return memchr::memchr(b'\n', rest).map_or(bytes.len(), |i| from + i + 1);
    }
    match memchr::memchr2(b'\r', b'\n', rest) {
        Some(i) if rest[i] == b'\r' && rest.get(i + 1) == Some(&b'\n') => from + i + 2,
        Some(i) => from + i + 1,
        None => bytes.len(),
    }
}

fn trim_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|b| !matches!(b, b'\r' | b'\n')).map_or(0, |i| i + 1);
    &line[..end]
}

/// The colon of a field line; `None` when the line is no field.
fn colon(line: &[u8]) -> Option<usize> {
    let at = memchr::memchr(b':', line)?;
    let name = line[..at].trim_ascii_end();
    let valid =
        !name.is_empty() && name.len() <= 256 && name.iter().all(|b| (b.is_ascii_graphic() && *b != b':') || *b == 0);
    valid.then_some(at)
}

/// Reads a header block at the start of `bytes`. When the first line is no field there is none, and the body begins at 0.
pub(super) fn parse(bytes: &[u8], cr: bool) -> Block<'_> {
    let mut block = Block { fields: Vec::with_capacity(32), ..Block::default() };
    let mut at = 0;
    while at < bytes.len() {
        let end = line_end(bytes, at, cr);
        let line = trim_end(&bytes[at..end]);
        if line.is_empty() {
            block.body = end;
            return block;
        }
        if block.fields.is_empty() && line.iter().all(|b| matches!(b, b' ' | b'\t')) {
            // A first line of white space alone: CPython passes over it, others begin the body.
            block.defects.push(("leading_blank", at));
            at = end;
            continue;
        }
        if matches!(line[0], b' ' | b'\t') && !block.fields.is_empty() {
            if line.iter().all(|b| matches!(b, b' ' | b'\t')) && block.defects.len() < 16 {
                // A fold of white space alone: some readers end the block here.
                block.defects.push(("blank_fold", at));
            }
            at = end;
            extend(&mut block, bytes, at);
            continue;
        }
        if let Some(colon) = colon(line) {
            push(&mut block, bytes, at, colon, end);
            at = end;
            continue;
        }
        if line.starts_with(b"From ") || line.starts_with(b">From ") {
            at = end;
            continue;
        }
        if block.fields.is_empty() {
            // Without any field, what was passed over is text too.
            block.body = 0;
            block.defects.clear();
            return block;
        }
        // No field and no fold. CPython begins the body here; most others skip the line.
        block.defects.push(("header_garbage", at));
        block.body = at;
        beyond(&mut block, bytes, end, cr);
        return block;
    }
    block.body = bytes.len();
    block
}

fn push<'a>(block: &mut Block<'a>, bytes: &'a [u8], at: usize, colon: usize, end: usize) {
    let name = &bytes[at..at + colon];
    let mut bare = name.trim_ascii_end();
    if bare.len() != name.len() && block.defects.len() < 16 {
        block.defects.push(("space_before_colon", at));
    }
    if memchr::memchr(0, bare).is_some() {
        block.defects.push(("nul_in_header", at));
        let start = bare.iter().position(|b| *b != 0).unwrap_or(0);
        let stop = bare.iter().rposition(|b| *b != 0).map_or(start, |i| i + 1);
        bare = &bare[start..stop];
    }
    block.fields.push(Field { name: bare, value: &bytes[at + colon + 1..end], offset: at });
}

/// Adds a folded line to the last field.
fn extend<'a>(block: &mut Block<'a>, bytes: &'a [u8], end: usize) {
    if let Some(field) = block.fields.last_mut() {
        let start = field.value.as_ptr() as usize - bytes.as_ptr() as usize;
        field.value = &bytes[start..end];
    }
}

/// The fields and the body as a reader finds them that skips unreadable lines.
fn beyond<'a>(block: &mut Block<'a>, bytes: &'a [u8], mut at: usize, cr: bool) {
    let mut later = Block::default();
    while at < bytes.len() {
        let end = line_end(bytes, at, cr);
        let line = trim_end(&bytes[at..end]);
        if line.is_empty() {
            if !later.fields.is_empty() {
                block.skipping_body = Some(end);
                block.beyond = later.fields;
            }
            return;
        }
        if matches!(line[0], b' ' | b'\t') {
            extend(&mut later, bytes, end);
        } else if let Some(colon) = colon(line) {
            push(&mut later, bytes, at, colon, end);
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(block: &Block<'_>) -> Vec<String> {
        block.fields.iter().map(|f| String::from_utf8_lossy(f.name).into_owned()).collect()
    }

    #[test]
    fn folds_and_body() {
        let bytes = b"Subject: a\r\n b\r\nTo : c\r\n\r\nbody";
        let block = parse(bytes, false);
        assert_eq!(names(&block), ["Subject", "To"]);
        assert_eq!(block.fields[0].value, b" a\r\n b\r\n");
        assert_eq!(&bytes[block.body..], b"body");
        assert_eq!(block.defects, [("space_before_colon", 16)]);
    }

    #[test]
    fn no_header_block() {
        assert_eq!(parse(b"just text\nSubject: no\n\nmore", false).body, 0);
    }

    #[test]
    fn unreadable_lines_end_the_block_for_some_readers() {
        let bytes = b"Subject: a\nrubbish\nContent-Type: text/html\n\n<p>x";
        let block = parse(bytes, false);
        assert_eq!(&bytes[block.body..block.body + 7], b"rubbish");
        assert_eq!(block.skipping_body.map(|b| &bytes[b..]), Some(&b"<p>x"[..]));
        assert!(block.beyond[0].is("content-type"));
    }

    #[test]
    fn bare_carriage_returns() {
        let block = parse(b"Subject: a\rTo: b\r\rbody", true);
        assert_eq!(names(&block), ["Subject", "To"]);
        assert_eq!(block.body, 18);
    }
}
