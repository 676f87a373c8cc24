//! ZIP, gzip and tar, within bounds.

use std::io::{Cursor, Read};

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;
use zip::result::ZipError;

use super::Member;

/// What came of a member.
#[derive(Debug)]
pub(crate) enum Unpacked {
    File(Member),
    Encrypted(String),
    Damaged(String),
    /// Larger than what may be unpacked, or packed too well to be honest: what was unpacked until then.
    Bounded(Member),
}

/// Bounds on unpacking: bytes of one file, and unpacked bytes per packed byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) bytes: usize,
    pub(crate) ratio: usize,
}

/// Reads at most the bound; true when there is more.
fn read_bounded(reader: &mut impl Read, packed: usize, bounds: Bounds) -> (Vec<u8>, bool, bool) {
    let by_ratio = packed.saturating_mul(bounds.ratio).max(1 << 16);
    let max = bounds.bytes.min(by_ratio);
    let mut bytes = Vec::new();
    let failed = reader.take(max as u64 + 1).read_to_end(&mut bytes).is_err();
    let over = bytes.len() > max;
    bytes.truncate(max);
    (bytes, over, failed)
}

/// A ZIP archive, opened; `None` when its directory can't be read.
pub(crate) struct Zip<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Zip<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Option<Self> {
        ZipArchive::new(Cursor::new(bytes)).ok().map(Self)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn name(&self, index: usize) -> String {
        self.0.name_for_index(index).and_then(Result::ok).map(|n| n.into_owned()).unwrap_or_default()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.index_for_name(name).is_some()
    }

    /// Unpacks a member; `None` for a folder.
    pub(crate) fn member(&mut self, index: usize, bounds: Bounds) -> Option<Unpacked> {
        let name = self.name(index);
        match self.0.by_index(index) {
            Ok(mut file) => {
                if file.is_dir() {
                    return None;
                }
                let packed = usize::try_from(file.compressed_size()).unwrap_or(usize::MAX);
                let (bytes, over, failed) = read_bounded(&mut file, packed, bounds);
                let member = Member { name, bytes };
                Some(match (over, failed && member.bytes.is_empty()) {
                    (true, _) => Unpacked::Bounded(member),
                    (_, true) => Unpacked::Damaged(member.name),
                    _ => Unpacked::File(member),
                })
            }
            Err(ZipError::UnsupportedArchive(what)) if what == ZipError::PASSWORD_REQUIRED => {
                Some(Unpacked::Encrypted(name))
            }
            Err(_) => Some(Unpacked::Damaged(name)),
        }
    }
}

/// Unpacks a gzip file.
pub(crate) fn gzip(bytes: &[u8], name: &str, bounds: Bounds) -> Unpacked {
    let mut decoder = MultiGzDecoder::new(bytes);
    let (unpacked, over, _) = read_bounded(&mut decoder, bytes.len(), bounds);
    let inner = decoder
        .header()
        .and_then(|h| h.filename())
        .map(|n| String::from_utf8_lossy(n).into_owned())
        .unwrap_or_else(|| name.trim_end_matches(".gz").replace(".tgz", ".tar"));
    let member = Member { name: inner, bytes: unpacked };
    match (over, member.bytes.is_empty()) {
        (true, _) => Unpacked::Bounded(member),
        (_, true) => Unpacked::Damaged(member.name),
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    const BOUNDS: Bounds = Bounds { bytes: 1 << 20, ratio: 200 };

    fn zipped(content: &[u8]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        writer.start_file("a.txt", options).expect("a file");
        writer.write_all(content).expect("written");
        writer.finish().expect("an archive").into_inner()
    }

    #[test]
    fn members_are_unpacked_within_bounds() {
        let bytes = zipped(b"hello hello hello hello");
        let mut zip = Zip::open(&bytes).expect("an archive");
        let Some(Unpacked::File(member)) = zip.member(0, BOUNDS) else {
            panic!("not unpacked: {:?}", zip.0.by_index(0).err())
        };
        assert_eq!((member.name.as_str(), member.bytes.as_slice()), ("a.txt", &b"hello hello hello hello"[..]));
        let bytes = zipped(&vec![0; 4 << 20]);
        let mut zip = Zip::open(&bytes).expect("an archive");
        assert!(matches!(zip.member(0, BOUNDS), Some(Unpacked::Bounded(_))));
    }
}
