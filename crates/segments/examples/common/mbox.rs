//! The messages of an mbox file, for examples and tests.

/// The messages of an mbox file: split at each line that begins with `From ` after a blank line.
pub(crate) fn mbox(bytes: &[u8]) -> Vec<&[u8]> {
    let mut starts: Vec<usize> = Vec::new();
    if bytes.starts_with(b"From ") {
        starts.push(0);
    }
    for at in memchr::memmem::find_iter(bytes, b"\n\nFrom ") {
        starts.push(at + 2);
    }
    for at in memchr::memmem::find_iter(bytes, b"\r\n\r\nFrom ") {
        starts.push(at + 4);
    }
    starts.sort_unstable();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    starts.iter().zip(ends).map(|(start, end)| &bytes[*start..end]).collect()
}
