use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::sort::ExternalSort;
use crate::{DetectorError, Prediction, Usage};

/// The longest line of a predictions file, in bytes.
const MAX_LINE: u64 = 16 << 20;

/// The predictions of one detector, written as they come.
///
/// Lines are appended whole. A process that is killed while it writes leaves a last line without its end, which the next one cuts
/// off; a write that fails, such as on a full disk, is taken back at once.
pub(crate) struct PredictionLog {
    path: PathBuf,
    file: File,
    length: u64,
    buffer: Vec<u8>,
}

impl PredictionLog {
    /// Opens or makes the file, and mends its end.
    pub(crate) fn open(path: &Path) -> Result<Self, DetectorError> {
        let io = || DetectorError::io(path);
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io())?;
        let length = mend_end(&file, path)?;
        Ok(Self { path: path.to_owned(), file, length, buffer: Vec::new() })
    }

    pub(crate) fn append(&mut self, predictions: &[Prediction]) -> Result<(), DetectorError> {
        self.buffer.clear();
        for prediction in predictions {
            serde_json::to_writer(&mut self.buffer, prediction)
                .map_err(|e| DetectorError::file(&self.path, format!("record {:?}: {e}", prediction.id)))?;
            self.buffer.push(b'\n');
        }
        if let Err(e) = self.file.write_all(&self.buffer) {
            // Part of the lines may stand there. When they cannot be taken back now, the next run does it.
            let _ = self.file.set_len(self.length);
            return Err(DetectorError::io(&self.path)(e));
        }
        self.length += self.buffer.len() as u64;
        Ok(())
    }

    /// Has the system write everything to the disk.
    pub(crate) fn sync(&self) -> Result<(), DetectorError> {
        self.file.sync_data().map_err(DetectorError::io(&self.path))
    }
}

/// Cuts off a last line that has no end, or ends it when it is whole. Gives the file's length.
fn mend_end(file: &File, path: &Path) -> Result<u64, DetectorError> {
    let io = || DetectorError::io(path);
    let length = file.metadata().map_err(io())?.len();
    let start = last_line(file, length).map_err(io())?;
    if start == length {
        return Ok(length);
    }
    let mut input = file;
    input.seek(SeekFrom::Start(start)).map_err(io())?;
    let mut tail = Vec::new();
    input.take(MAX_LINE).read_to_end(&mut tail).map_err(io())?;
    if tail.len() as u64 == length - start && serde_json::from_slice::<Line<'_>>(&tail).is_ok() {
        input.write_all(b"\n").map_err(io())?;
        return Ok(length + 1);
    }
    file.set_len(start).map_err(io())?;
    Ok(start)
}

/// Where the text after the last line break begins.
fn last_line(mut file: &File, length: u64) -> std::io::Result<u64> {
    let mut end = length;
    let mut block = [0; 4096];
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let block = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(block)?;
        if let Some(i) = memchr::memrchr(b'\n', block) {
            return Ok(start + i as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// What a line must have, and all that resuming needs of it.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(default)]
    score: Option<f64>,
    #[serde(default, borrow)]
    error: Option<Cow<'a, str>>,
    #[serde(default)]
    usage: Usage,
}

impl Line<'_> {
    fn is_good(&self) -> bool {
        self.error.is_none() && self.score.is_some_and(|s| (0.0..=1.0).contains(&s))
    }
}

/// Reads the lines of a predictions file, without their ends. A last line that has none is left out.
fn for_lines(
    path: &Path,
    mut each: impl FnMut(&[u8], &Line<'_>, u64) -> Result<(), DetectorError>,
) -> Result<(), DetectorError> {
    let mut input = BufReader::with_capacity(1 << 16, File::open(path).map_err(DetectorError::io(path))?);
    let (mut line, mut number, mut offset) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        number += 1;
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(DetectorError::io(path))?;
        let Some(text) = line.strip_suffix(b"\n") else {
            if read as u64 == MAX_LINE {
                let message = format!("is longer than {MAX_LINE} bytes");
                return Err(DetectorError::Line { path: path.to_owned(), line: number, message });
            }
            return Ok(());
        };
        let parsed = serde_json::from_slice(text).map_err(|e| {
            let message = format!("is no prediction: {e}");
            DetectorError::Line { path: path.to_owned(), line: number, message }
        })?;
        each(text, &parsed, offset)?;
        offset += read as u64;
    }
}

/// Reads a predictions file in constant memory, as it stands or as a killed run left it: a last line that was cut off is left out.
///
/// # Errors
/// The file cannot be read, or another line is no prediction.
pub fn read_predictions(
    path: &Path,
    mut each: impl FnMut(Prediction) -> Result<(), DetectorError>,
) -> Result<(), DetectorError> {
    for_lines(path, |text, _, _| {
        // The line was parsed as a prediction in part, so only fields of a wrong type are left to complain of.
        each(serde_json::from_slice(text).map_err(|e| DetectorError::file(path, format!("is no prediction: {e}")))?)
    })
}

/// What a compacted file holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) good: u64,
    pub(crate) failed: u64,
    pub(crate) usage: Usage,
}

/// Brings a predictions file to one line an id, sorted by id: the last good one, or else the last one. The new file takes the old
/// one's place in one step; on any error the old one stays.
pub(crate) fn compact(path: &Path, folder: &Path) -> Result<Held, DetectorError> {
    let mut sort = ExternalSort::new(folder);
    let mut held = Held::default();
    let mut previous: Option<String> = None;
    let mut sorted = true;
    for_lines(path, |text, line, _| {
        sorted &= previous.as_deref().is_none_or(|p| p < line.id.as_ref());
        if sorted {
            match &mut previous {
                Some(id) => line.id.as_ref().clone_into(id),
                None => previous = Some(line.id.to_string()),
            }
        }
        held.usage.add(line.usage);
        if line.is_good() {
            held.good += 1
        } else {
            held.failed += 1
        }
        sort.push(line.id.as_bytes(), text).map_err(DetectorError::io(folder))
    })?;
    if sorted {
        return Ok(held);
    }
    let mut held = Held { good: 0, failed: 0, ..held };
    let partial = path.with_extension("jsonl.partial");
    let written = write_compacted(sort, &partial, &mut held)
        .and_then(|()| fs::rename(&partial, path).map_err(DetectorError::io(path)))
        .and_then(|()| sync_folder(folder));
    if written.is_err() {
        // It may not even have been made.
        let _ = fs::remove_file(&partial);
    }
    written.map(|()| held)
}

fn write_compacted(sort: ExternalSort, partial: &Path, held: &mut Held) -> Result<(), DetectorError> {
    let io = || DetectorError::io(partial);
    let mut out = BufWriter::with_capacity(1 << 16, File::create(partial).map_err(io())?);
    let mut best: Option<(Vec<u8>, Vec<u8>, bool)> = None;
    let mut put = |line: Option<(Vec<u8>, Vec<u8>, bool)>| -> Result<(), DetectorError> {
        let Some((_, text, good)) = line else { return Ok(()) };
        if good {
            held.good += 1
        } else {
            held.failed += 1
        }
        out.write_all(&text).and_then(|()| out.write_all(b"\n")).map_err(io())
    };
    for entry in sort.finish().map_err(io())? {
        let entry = entry.map_err(io())?;
        let good = serde_json::from_slice::<Line<'_>>(&entry.payload).is_ok_and(|l| l.is_good());
        let new = (entry.key, entry.payload, good);
        best = match best {
            Some(old) if old.0 == new.0 => Some(if good || !old.2 { new } else { old }),
            other => {
                put(other)?;
                Some(new)
            }
        };
    }
    put(best)?;
    let file = out.into_inner().map_err(|e| io()(e.into_error()))?;
    file.sync_all().map_err(io())
}

/// Makes a rename last. Where a folder cannot be opened as a file the system does it by itself.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), DetectorError> {
    match File::open(folder) {
        Ok(file) => file.sync_all().map_err(DetectorError::io(folder)),
        Err(_) => Ok(()),
    }
}

/// Finds ids in a compacted file in constant memory: it knows where a few thousand of them stand, and reads on from there.
pub(crate) struct Index {
    path: PathBuf,
    input: BufReader<File>,
    marks: Vec<(String, u64)>,
    end: u64,
}

/// Marks of an index at most.
const MARKS: usize = 4096;

impl Index {
    pub(crate) fn build(path: &Path) -> Result<Self, DetectorError> {
        let (mut marks, mut stride, mut count, mut end) = (Vec::new(), 1, 0_u64, 0);
        for_lines(path, |text, line, offset| {
            if count % stride == 0 {
                if marks.len() == MARKS {
                    let mut keep = false;
                    marks.retain(|_| {
                        keep = !keep;
                        keep
                    });
                    stride *= 2;
                }
                if count % stride == 0 {
                    marks.push((line.id.to_string(), offset));
                }
            }
            count += 1;
            end = offset + text.len() as u64 + 1;
            Ok(())
        })?;
        let file = File::open(path).map_err(DetectorError::io(path))?;
        Ok(Self { path: path.to_owned(), input: BufReader::new(file), marks, end })
    }

    /// Whether the id has a good prediction; `None` when it has none at all.
    pub(crate) fn find(&mut self, id: &str) -> Result<Option<bool>, DetectorError> {
        let after = self.marks.partition_point(|(mark, _)| mark.as_str() <= id);
        let Some((_, start)) = after.checked_sub(1).and_then(|i| self.marks.get(i)) else { return Ok(None) };
        let mut left = self.end - start;
        self.input.seek(SeekFrom::Start(*start)).map_err(DetectorError::io(&self.path))?;
        let mut line = Vec::new();
        while left > 0 {
            line.clear();
            let read = self.input.read_until(b'\n', &mut line).map_err(DetectorError::io(&self.path))?;
            let parsed: Line<'_> = serde_json::from_slice(&line)
                .map_err(|e| DetectorError::file(&self.path, format!("has changed while it was read: {e}")))?;
            if parsed.id.as_ref() >= id {
                return Ok((parsed.id == id).then(|| parsed.is_good()));
            }
            left = left.saturating_sub(read as u64);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{ErrorClass, Failure, Verdict};

    fn good(id: &str, score: f64) -> Prediction {
        Prediction::new(id, "d", Verdict::from_score(score), Duration::ZERO)
    }

    fn failed(id: &str) -> Prediction {
        Prediction::new(id, "d", Err(Failure::new(ErrorClass::Server, "503")), Duration::ZERO)
    }

    fn ids(path: &Path) -> Vec<(String, Option<f64>)> {
        let mut out = Vec::new();
        read_predictions(path, |p| {
            out.push((p.id, p.score));
            Ok(())
        })
        .unwrap();
        out
    }

    #[test]
    fn cut_at_every_byte_the_file_is_readable_and_only_the_last_line_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.jsonl");
        let mut log = PredictionLog::open(&path).unwrap();
        log.append(&[good("a", 0.5), good("bé", 0.25)]).unwrap();
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|b| *b == b'\n').unwrap() + 1;
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let lines = ids(&path).len();
            assert_eq!(lines, usize::from(cut >= first) + usize::from(cut == whole.len()), "cut at {cut}");
            let mut log = PredictionLog::open(&path).unwrap();
            log.append(&[good("c", 1.0)]).unwrap();
            // A line that lacks only its end is whole.
            let whole_lines = usize::from(cut + 1 >= first) + usize::from(cut + 1 >= whole.len());
            assert_eq!(ids(&path).len(), whole_lines + 1, "cut at {cut}");
        }
    }

    #[test]
    fn compaction_keeps_the_last_good_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.jsonl");
        let mut log = PredictionLog::open(&path).unwrap();
        log.append(&[
            good("b", 0.1),
            failed("a"),
            good("c", 0.2),
            failed("c"),
            good("b", 0.3),
            failed("d"),
            failed("d"),
        ])
        .unwrap();
        let held = compact(&path, folder.path()).unwrap();
        assert_eq!((held.good, held.failed), (2, 2));
        let expected = [("a", None), ("b", Some(0.3)), ("c", Some(0.2)), ("d", None)];
        assert_eq!(ids(&path), expected.map(|(id, s)| (id.to_owned(), s)));
        let bytes = fs::read(&path).unwrap();
        assert_eq!(compact(&path, folder.path()).unwrap(), held);
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_wrong_line_is_named_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.jsonl");
        fs::write(&path, "{\"id\":\"a\",\"detector\":\"d\"}\n{\"id\":1}\n{\"id\":\"b\",\"detector\":\"d\"}\n").unwrap();
        let error = compact(&path, folder.path()).unwrap_err().to_string();
        assert!(error.contains("d.jsonl: line 2: is no prediction"), "{error}");
        assert!(fs::read_to_string(&path).unwrap().ends_with("\"d\"}\n"));
    }

    #[test]
    fn an_index_finds_every_id_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.jsonl");
        let mut log = PredictionLog::open(&path).unwrap();
        let id = |i: u32| format!("id{i:06}");
        let predictions: Vec<_> =
            (0..20_000).map(|i| if i % 7 == 0 { failed(&id(i * 2)) } else { good(&id(i * 2), 0.5) }).collect();
        log.append(&predictions).unwrap();
        let mut index = Index::build(&path).unwrap();
        assert!(index.marks.len() <= MARKS);
        // What is appended later is not looked at.
        log.append(&[good("id000001", 0.5)]).unwrap();
        for i in (0..40_000).step_by(37).chain([0, 39_998, 39_999]) {
            let expected = (i % 2 == 0).then_some(i / 2 % 7 != 0);
            assert_eq!(index.find(&id(i)).unwrap(), expected, "{i}");
        }
        assert_eq!(index.find("").unwrap(), None);
        assert_eq!(index.find("zzz").unwrap(), None);
    }
}
