//! What unpacking gives, within bounds; gzip and tar.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use super::Member;

/// What came of a member.
#[derive(Debug)]
pub(crate) enum Unpacked {
    File(Member),
    Encrypted(String),
    Damaged(String),
    /// What could be unpacked, though its lengths or its checksum do not fit.
    Unsound(Member),
    /// Packed in a way that nobody unpacks here.
    Unsupported(String),
    /// Larger than what may be unpacked, or packed too well to be honest: what was unpacked until then.
    Bounded(Member),
}

/// Bounds on unpacking: bytes of one file, and unpacked bytes per packed byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) bytes: usize,
    pub(crate) ratio: usize,
}

/// Reads at most the bound; true when there is more, and true when reading failed.
pub(super) fn read_bounded(reader: &mut impl Read, packed: usize, bounds: Bounds) -> (Vec<u8>, bool, bool) {
    let by_ratio = packed.saturating_mul(bounds.ratio).max(1 << 16);
    let max = bounds.bytes.min(by_ratio);
    let mut bytes = Vec::new();
    let failed = reader.take(max as u64 + 1).read_to_end(&mut bytes).is_err();
    let over = bytes.len() > max;
    bytes.truncate(max);
    (bytes, over, failed)
}

/// Unpacks a gzip file.
pub(crate) fn gzip(bytes: &[u8], name: &str, bounds: Bounds) -> Unpacked {
    let mut decoder = MultiGzDecoder::new(bytes);
    let (unpacked, over, failed) = read_bounded(&mut decoder, bytes.len(), bounds);
    let inner = decoder
        .header()
        .and_then(|h| h.filename())
        .map(|n| String::from_utf8_lossy(n).into_owned())
        .unwrap_or_else(|| name.trim_end_matches(".gz").replace(".tgz", ".tar"));
    let member = Member { name: inner, bytes: unpacked };
    match (over, member.bytes.is_empty()) {
        (true, _) => Unpacked::Bounded(member),
        (_, true) => Unpacked::Damaged(member.name),
        _ if failed => Unpacked::Unsound(member),
        _ => Unpacked::File(member),
    }
}

/// The regular files of a tar archive, at most `max`; `None` when it is none.
pub(crate) fn tar(bytes: &[u8], max: usize) -> Option<Vec<Member>> {
    if bytes.get(257..262)? != b"ustar" {
        return None;
    }
    let mut files = Vec::new();
    let mut at = 0;
    while files.len() < max {
        let Some(header) = bytes.get(at..at + 512) else { break };
        let text = |range: std::ops::Range<usize>| {
            let field = &header[range];
            String::from_utf8_lossy(&field[..field.iter().position(|b| *b == 0).unwrap_or(field.len())]).into_owned()
        };
        let Ok(size) = usize::from_str_radix(text(124..136).trim(), 8) else { break };
        let Some(end) = (at + 512).checked_add(size).filter(|e| *e <= bytes.len()) else { break };
        if matches!(header[156], b'0' | 0) && size > 0 {
            files.push(Member { name: text(0..100), bytes: bytes[at + 512..end].to_vec() });
        }
        at = at + 512 + size.next_multiple_of(512);
    }
    Some(files)
}
