//! ZIP archives: the members that the directory lists, and those that only a reader from front to back meets.

use std::io::Cursor;
use std::ops::Range;

use flate2::bufread::DeflateDecoder;
use memchr::memmem;
use zip::{CompressionMethod, ZipArchive};

use super::Member;
use super::archive::{Bounds, Unpacked, read_bounded};

/// Starts the header before a member's bytes.
const LOCAL: &[u8] = b"PK\x03\x04";

/// Members outside the directory that are looked at; the walk takes fewer.
const MOST_UNLISTED: usize = 4096;

/// A member: where its packed bytes are and what is said of them.
struct Entry {
    name: String,
    method: CompressionMethod,
    encrypted: bool,
    crc: Option<u32>,
    size: Option<u64>,
    packed: Range<usize>,
    /// The end of the packed bytes is told by a header.
    bounded: bool,
    /// The headers agree with each other and with the archive's length.
    sound: bool,
}

/// The header before a member's bytes.
struct Local<'a> {
    flags: u16,
    method: u16,
    crc: u32,
    packed: u32,
    size: u32,
    name: &'a [u8],
    data: usize,
}

impl<'a> Local<'a> {
    fn at(bytes: &'a [u8], start: usize) -> Option<Self> {
        let header = bytes.get(start..start.checked_add(30)?)?;
        let short = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let long = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
        let name = start + 30..start + 30 + usize::from(short(26));
        let data = name.end + usize::from(short(28));
        if !header.starts_with(LOCAL) || data > bytes.len() {
            return None;
        }
        Some(Self {
            flags: short(6),
            method: short(8),
            crc: long(14),
            packed: long(18),
            size: long(22),
            name: bytes.get(name)?,
            data,
        })
    }

    /// Length of the packed bytes, unless it stands behind them or in an extra field.
    fn length(&self) -> Option<usize> {
        let said = self.flags & 8 == 0 && !matches!(self.packed, 0 | u32::MAX);
        said.then_some(usize::try_from(self.packed).ok()?)
    }
}

/// A ZIP archive.
pub(crate) struct Zip<'a> {
    bytes: &'a [u8],
    entries: Vec<Entry>,
    listed: bool,
}

impl<'a> Zip<'a> {
    /// Opens an archive; `None` when there is neither a directory nor a member.
    ///
    /// The `zip` crate keeps one member of a name and reads only what the directory lists, where other readers take the first of two
    /// or go from front to back; so headers of members that no listed member covers are members too.
    pub(crate) fn open(bytes: &'a [u8]) -> Option<Self> {
        let archive = ZipArchive::new(Cursor::new(bytes)).ok();
        let mut entries: Vec<Entry> = Vec::new();
        let mut taken: Vec<Range<usize>> = Vec::new();
        for index in 0..archive.as_ref().map_or(0, ZipArchive::len) {
            let Some(Ok(said)) = archive.as_ref().map(|a| a.by_index_data(index)) else { continue };
            let start = usize::try_from(said.header_start()).unwrap_or(usize::MAX);
            let local = Local::at(bytes, start);
            let listed = usize::try_from(said.compressed_size()).unwrap_or(usize::MAX);
            let length = local.as_ref().and_then(Local::length).unwrap_or(listed);
            let data = local.as_ref().map_or(bytes.len(), |l| l.data);
            let end = data.saturating_add(listed.max(length));
            let packed = data..end.min(bytes.len());
            if local.is_some() {
                taken.push(start..packed.end);
            }
            entries.push(Entry {
                name: said.name().map(std::borrow::Cow::into_owned).unwrap_or_default(),
                method: said.compression(),
                encrypted: said.encrypted(),
                crc: Some(said.crc32()),
                size: Some(said.size()),
                bounded: true,
                sound: local.is_some() && length == listed && end <= bytes.len(),
                packed,
            });
        }
        taken.sort_by_key(|r| r.start);
        entries.extend(unlisted(bytes, taken));
        let listed = archive.is_some();
        (listed || !entries.is_empty()).then_some(Self { bytes, entries, listed })
    }

    /// Whether the directory could be read.
    pub(crate) fn listed(&self) -> bool {
        self.listed
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn name(&self, index: usize) -> &str {
        self.entries.get(index).map_or("", |e| &e.name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|e| e.name == name)
    }

    /// Unpacks a member; `None` for a folder. One that is named as a folder is and holds bytes is a file.
    pub(crate) fn member(&self, index: usize, bounds: Bounds) -> Option<Unpacked> {
        let entry = self.entries.get(index)?;
        let name = entry.name.clone();
        let packed = self.bytes.get(entry.packed.clone()).unwrap_or_default();
        if packed.is_empty() && name.ends_with(['/', '\\']) {
            return None;
        }
        if entry.encrypted {
            return Some(Unpacked::Encrypted(name));
        }
        let mut rest = packed;
        let (bytes, over, failed) = if entry.method == CompressionMethod::STORE {
            read_bounded(&mut rest, packed.len(), bounds)
        } else if entry.method == CompressionMethod::DEFLATE {
            let mut decoder = DeflateDecoder::new(packed);
            let found = read_bounded(&mut decoder, packed.len(), bounds);
            rest = decoder.into_inner();
            found
        } else {
            return Some(Unpacked::Unsupported(name));
        };
        let member = Member { name, bytes };
        if over {
            return Some(Unpacked::Bounded(member));
        }
        let sound = entry.sound
            && !failed
            && (!entry.bounded || rest.is_empty())
            && entry.size.is_none_or(|s| s == member.bytes.len() as u64)
            && entry.crc.is_none_or(|c| c == crc32fast::hash(&member.bytes));
        Some(match sound {
            true => Unpacked::File(member),
            false if member.bytes.is_empty() => Unpacked::Damaged(member.name),
            false => Unpacked::Unsound(member),
        })
    }
}

/// The members whose headers lie outside the ranges, which are in order.
fn unlisted(bytes: &[u8], taken: Vec<Range<usize>>) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut taken = taken.into_iter().peekable();
    let (mut at, mut covered) = (0, 0);
    while entries.len() < MOST_UNLISTED {
        let Some(start) = memmem::find(&bytes[at..], LOCAL).map(|n| at + n) else { break };
        while let Some(range) = taken.next_if(|r| r.start <= start) {
            covered = covered.max(range.end);
        }
        if start < covered {
            at = covered;
            continue;
        }
        at = start + LOCAL.len();
        let Some(local) = Local::at(bytes, start) else { continue };
        let told = local.length().and_then(|n| local.data.checked_add(n));
        let fits = told.filter(|e| *e <= bytes.len());
        // A header that told nothing, with nothing behind it, is an empty file or a folder.
        let empty = local.flags & 8 == 0 && local.packed == 0;
        let end = if empty { local.data } else { fits.unwrap_or_else(|| next_header(bytes, local.data)) };
        at = at.max(end);
        // Folders do not count, so that no number of them hides what comes after.
        if end == local.data && local.name.ends_with(b"/") {
            continue;
        }
        let later = local.flags & 8 != 0;
        entries.push(Entry {
            name: String::from_utf8_lossy(local.name).into_owned(),
            method: match local.method {
                0 => CompressionMethod::STORE,
                8 => CompressionMethod::DEFLATE,
                // Any that is not unpacked here: the crate makes none of a number.
                _ => CompressionMethod::LZMA,
            },
            encrypted: local.flags & 1 != 0,
            crc: (!later).then_some(local.crc),
            size: (!later && local.size != u32::MAX).then_some(u64::from(local.size)),
            packed: local.data..end,
            bounded: fits.is_some(),
            sound: told == fits,
        });
    }
    entries
}

/// Where the next record of the archive begins, or the end.
fn next_header(bytes: &[u8], from: usize) -> usize {
    let mut marks = memmem::find_iter(&bytes[from..], b"PK").map(|n| from + n);
    marks.find(|n| matches!(bytes.get(n + 2..n + 4), Some([1, 2] | [3, 4] | [5, 6] | [7, 8]))).unwrap_or(bytes.len())
}

/// Where an archive begins that stands behind something else; `None` when there is none or nothing else.
pub(crate) fn behind(bytes: &[u8]) -> Option<usize> {
    /// The record that ends a directory, with the longest comment.
    const END: usize = 22 + 65_535;
    memmem::rfind(&bytes[bytes.len().saturating_sub(END)..], b"PK\x05\x06")?;
    let archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let starts = (0..archive.len()).filter_map(|i| usize::try_from(archive.by_index_data(i).ok()?.header_start()).ok());
    starts.filter(|s| Local::at(bytes, *s).is_some()).min().filter(|s| *s > 0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    const BOUNDS: Bounds = Bounds { bytes: 1 << 20, ratio: 200 };

    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::DEFLATE);
        for (name, content) in files {
            writer.start_file(*name, options).expect("a file");
            writer.write_all(content).expect("written");
        }
        writer.finish().expect("an archive").into_inner()
    }

    /// Name, content and what came of it, of every member.
    fn read(bytes: &[u8]) -> Vec<(String, String, &'static str)> {
        let zip = Zip::open(bytes).expect("an archive");
        let text = |m: Member| (m.name, String::from_utf8_lossy(&m.bytes).into_owned());
        let all = (0..zip.len()).filter_map(|i| zip.member(i, BOUNDS));
        all.map(|unpacked| match unpacked {
            Unpacked::File(m) => (text(m), "file"),
            Unpacked::Unsound(m) => (text(m), "unsound"),
            Unpacked::Bounded(m) => (text(m), "bounded"),
            Unpacked::Encrypted(name) => ((name, String::new()), "encrypted"),
            Unpacked::Damaged(name) => ((name, String::new()), "damaged"),
            Unpacked::Unsupported(name) => ((name, String::new()), "unsupported"),
        })
        .map(|((name, text), what)| (name, text, what))
        .collect()
    }

    fn row(name: &str, text: &str, what: &'static str) -> (String, String, &'static str) {
        (name.into(), text.into(), what)
    }

    /// Where the directory's header of the first member is.
    fn directory(bytes: &[u8]) -> usize {
        memmem::find(bytes, b"PK\x01\x02").expect("a directory")
    }

    #[test]
    fn members_are_unpacked_within_bounds() {
        let bytes = zipped(&[("a.txt", b"hello hello hello hello")]);
        assert_eq!(read(&bytes), [row("a.txt", "hello hello hello hello", "file")]);
        let bytes = zipped(&[("a.txt", &vec![0; 4 << 20])]);
        let zip = Zip::open(&bytes).expect("an archive");
        assert!(matches!(zip.member(0, BOUNDS), Some(Unpacked::Bounded(m)) if m.bytes.len() < 4 << 20));
    }

    #[test]
    fn both_of_two_members_of_a_name_are_read() {
        let mut bytes = zipped(&[("a.txt", b"first"), ("b.txt", b"second")]);
        for at in memmem::find_iter(&bytes.clone(), b"b.txt") {
            bytes[at] = b'a';
        }
        assert_eq!(read(&bytes), [row("a.txt", "second", "file"), row("a.txt", "first", "file")]);
    }

    #[test]
    fn two_archives_in_a_row_and_archives_without_a_directory_are_read() {
        let (one, two) = (zipped(&[("a.txt", b"first")]), zipped(&[("b.txt", b"second")]));
        let both = [one.as_slice(), &two].concat();
        assert_eq!(read(&both), [row("b.txt", "second", "file"), row("a.txt", "first", "file")]);
        let cut = &one[..directory(&one)];
        assert_eq!(read(cut), [row("a.txt", "first", "file")]);
        assert!(Zip::open(&one).is_some_and(|z| z.listed()) && Zip::open(cut).is_some_and(|z| !z.listed()));
        assert!(Zip::open(b"PK\x03\x04 and no more").is_none());
        let folder = [LOCAL, &[0; 22], &[2, 0, 0, 0], b"a/"].concat();
        let behind_folders = [folder.repeat(MOST_UNLISTED).as_slice(), cut].concat();
        assert_eq!(read(&behind_folders), [row("a.txt", "first", "file")]);
    }

    #[test]
    fn members_of_a_stored_archive_are_not_taken_for_members_of_the_outer_one() {
        let inner = zipped(&[("a.txt", b"first")]);
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::STORE);
        writer.start_file("in.zip", options).expect("a file");
        writer.write_all(&inner).expect("written");
        let outer = writer.finish().expect("an archive").into_inner();
        let found = read(&outer);
        assert_eq!((found.len(), found[0].0.as_str(), found[0].2), (1, "in.zip", "file"));
    }

    #[test]
    fn wrong_sums_and_sizes_are_told_and_the_text_is_kept() {
        let good = zipped(&[("a.txt", b"hello hello hello hello")]);
        let at = directory(&good);
        // Fields of the directory: the checksum, the packed size, the size.
        for field in [16, 20, 24] {
            let mut bad = good.clone();
            bad[at + field] = 1;
            assert_eq!(read(&bad), [row("a.txt", "hello hello hello hello", "unsound")], "{field}");
        }
    }

    #[test]
    fn a_folder_with_bytes_is_a_file_and_other_methods_are_told() {
        let mut bytes = zipped(&[("a.txt", b"hello")]);
        for at in memmem::find_iter(&bytes.clone(), b"a.txt") {
            bytes[at + 4] = b'/';
        }
        assert_eq!(read(&bytes), [row("a.tx/", "hello", "file")]);
        let at = directory(&bytes);
        (bytes[8], bytes[at + 10]) = (12, 12);
        assert_eq!(read(&bytes), [row("a.tx/", "", "unsupported")]);
    }

    #[test]
    fn an_archive_behind_something_else_is_found() {
        let bytes = zipped(&[("a.txt", b"hello")]);
        assert_eq!(behind(&bytes), None);
        assert_eq!(behind(&[b"before ".as_slice(), &bytes].concat()), Some(7));
        assert_eq!(behind(b"before PK\x05\x06 and no archive"), None);
    }
}
