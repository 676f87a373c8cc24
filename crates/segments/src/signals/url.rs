//! Web addresses that are split to escape notice.

use super::invisible::is_invisible;

/// The offset of `h t t p` with a space after each letter.
pub(super) fn spaced(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b" t t p")
        .chain(memchr::memmem::find_iter(bytes, b" T T P"))
        .find(|at| *at > 0 && bytes[at - 1].eq_ignore_ascii_case(&b'h'))
        .map(|at| at - 1)
}

/// The offset of an address that has invisible characters inside.
pub(super) fn split_by_invisible(text: &str) -> Option<usize> {
    let mut plain = String::with_capacity(text.len());
    // Offset in `plain` and in `text` of each character that an invisible one precedes.
    let mut seams: Vec<(usize, usize)> = Vec::new();
    let mut seam = false;
    for (offset, c) in text.char_indices() {
        if is_invisible(c) {
            seam = true;
            continue;
        }
        if seam {
            seams.push((plain.len(), offset));
            seam = false;
        }
        plain.push(c);
    }
    addresses(&plain)
        .find_map(|(start, end)| seams.iter().find(|(at, _)| (start + 1..end).contains(at)).map(|(_, offset)| *offset))
}

/// Byte ranges of web addresses.
pub(crate) fn addresses(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"://").filter_map(move |at| {
        let letters = bytes[..at].iter().rev().take_while(|b| b.is_ascii_alphabetic()).count().min(8);
        let start = at - letters;
        let scheme = &bytes[start..at];
        let web = [&b"http"[..], b"https", b"ftp"].iter().any(|s| scheme.eq_ignore_ascii_case(s));
        let end = bytes[at..]
            .iter()
            .position(|b| b.is_ascii_whitespace() || b"<>\"')".contains(b))
            .map_or(bytes.len(), |i| at + i);
        web.then_some((start, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_addresses() {
        assert_eq!(spaced("go to h t t p s : / / x"), Some(6));
        assert_eq!(spaced("what t t p"), None);
        assert_eq!(split_by_invisible("see http://exa\u{200b}mple.com now"), Some(17));
        assert_eq!(split_by_invisible("s\u{200b}ee http://example.com now"), None);
    }
}
