use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::{io, mem};

/// Bytes that are sorted in memory at once.
const CHUNK: usize = 8 << 20;

/// A key, its place in the input, and a payload. Equal keys stay in input order.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) key: Vec<u8>,
    place: u64,
    pub(crate) payload: Vec<u8>,
}

/// Sorts any number of entries by key in bounded memory. Chunks that do not fit go to files without a name, so that a killed
/// process leaves none behind.
pub(crate) struct ExternalSort {
    folder: PathBuf,
    chunk: Vec<Entry>,
    bytes: usize,
    limit: usize,
    places: u64,
    spilled: Vec<File>,
}

impl ExternalSort {
    pub(crate) fn new(folder: &Path) -> Self {
        Self::with_limit(folder, CHUNK)
    }

    fn with_limit(folder: &Path, limit: usize) -> Self {
        Self { folder: folder.to_owned(), chunk: Vec::new(), bytes: 0, limit, places: 0, spilled: Vec::new() }
    }

    pub(crate) fn push(&mut self, key: &[u8], payload: &[u8]) -> io::Result<()> {
        // 80 bytes: what an entry and its two allocations take beside their contents.
        self.bytes += key.len() + payload.len() + 80;
        self.chunk.push(Entry { key: key.to_vec(), place: self.places, payload: payload.to_vec() });
        self.places += 1;
        if self.bytes >= self.limit { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        let mut chunk = mem::take(&mut self.chunk);
        self.bytes = 0;
        chunk.sort_unstable();
        let mut out = BufWriter::with_capacity(1 << 16, tempfile::tempfile_in(&self.folder)?);
        for entry in &chunk {
            out.write_all(&(entry.key.len() as u64).to_le_bytes())?;
            out.write_all(&(entry.payload.len() as u64).to_le_bytes())?;
            out.write_all(&entry.place.to_le_bytes())?;
            out.write_all(&entry.key)?;
            out.write_all(&entry.payload)?;
        }
        let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        self.spilled.push(file);
        Ok(())
    }

    /// The entries in order.
    pub(crate) fn finish(mut self) -> io::Result<Merge> {
        self.chunk.sort_unstable();
        let mut sources: Vec<Source> = self.spilled.into_iter().map(|f| Source::File(BufReader::new(f))).collect();
        sources.push(Source::Memory(self.chunk.into_iter()));
        let mut merge = Merge { sources, heads: BinaryHeap::new() };
        for i in 0..merge.sources.len() {
            merge.refill(i)?;
        }
        Ok(merge)
    }
}

enum Source {
    File(BufReader<File>),
    Memory(std::vec::IntoIter<Entry>),
}

impl Source {
    fn next(&mut self) -> io::Result<Option<Entry>> {
        let input = match self {
            Self::Memory(entries) => return Ok(entries.next()),
            Self::File(input) => input,
        };
        let mut head = [0; 24];
        match input.read_exact(&mut head) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        let number = |i: usize| u64::from_le_bytes(std::array::from_fn(|j| head[i * 8 + j]));
        let (mut key, mut payload) = (vec![0; number(0) as usize], vec![0; number(1) as usize]);
        input.read_exact(&mut key)?;
        input.read_exact(&mut payload)?;
        Ok(Some(Entry { key, place: number(2), payload }))
    }
}

struct Head(Entry, usize);

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    /// Reversed: the heap gives its largest first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.cmp(&self.0)
    }
}

/// Sorted chunks, merged.
pub(crate) struct Merge {
    sources: Vec<Source>,
    heads: BinaryHeap<Head>,
}

impl Merge {
    fn refill(&mut self, source: usize) -> io::Result<()> {
        if let Some(entry) = self.sources[source].next()? {
            self.heads.push(Head(entry, source));
        }
        Ok(())
    }
}

impl Iterator for Merge {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        let Head(entry, source) = self.heads.pop()?;
        Some(self.refill(source).map(|()| entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_over_many_chunks_and_keeps_the_order_of_equals() {
        let folder = tempfile::tempdir().unwrap();
        let mut sort = ExternalSort::with_limit(folder.path(), 1000);
        let mut expected = Vec::new();
        for i in 0..2000_u32 {
            let key = format!("{:03}", i * 7919 % 500);
            expected.push((key.clone(), i.to_string()));
            sort.push(key.as_bytes(), i.to_string().as_bytes()).unwrap();
        }
        assert!(sort.spilled.len() > 50);
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let sorted: Vec<_> =
            sort.finish().unwrap().map(|e| e.map(|e| (text(e.key), text(e.payload))).unwrap()).collect();
        assert_eq!(sorted, expected);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn nothing_gives_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ExternalSort::new(folder.path()).finish().unwrap().count(), 0);
    }
}
