use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

use super::tally::{Cell, Tally};
use crate::input::{LayoutVotes, Records, absent_ids, empty_manifest};
use crate::{AnalysisError, Fault, Layout, Predictions, RunRequest};

/// Records handed over at a time, and batches that may wait.
const BATCH: usize = 2048;
const WAITING: usize = 8;

/// What came of reading one file beside the manifest.
pub(super) enum Found {
    /// The manifest or the file is not sorted by id.
    Unsorted,
    /// The file's detector was not asked for.
    NotWanted,
    /// Everything, and the manifest's digest.
    Tally(Box<Tally>, String),
}

enum Message {
    Records(Vec<(String, Cell)>),
    Unsorted,
    Wrong(AnalysisError),
    End(String),
}

/// Reads a manifest and a predictions file side by side, each on a thread of its own.
pub(super) fn tally(manifest: &Path, file: &Path, request: &RunRequest) -> Result<Found, AnalysisError> {
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel(WAITING);
        scope.spawn(move || {
            let last = read_manifest(manifest, |batch| send.send(Message::Records(batch)).is_ok());
            let message = match last {
                Ok(Some(digest)) => Message::End(digest),
                Ok(None) => Message::Unsorted,
                Err(error) => Message::Wrong(error),
            };
            // The other side has gone when it has found an error of its own.
            let _ = send.send(message);
        });
        join(&receive, manifest, file, request)
    })
}

/// Gives batches to `take` until it wants no more; the digest at the end, `None` when the ids do not rise.
fn read_manifest(
    path: &Path,
    mut take: impl FnMut(Vec<(String, Cell)>) -> bool,
) -> Result<Option<String>, AnalysisError> {
    let mut records = Records::open(path, true)?;
    let mut batch: Vec<(String, Cell)> = Vec::with_capacity(BATCH);
    let mut before = String::new();
    while let Some(record) = records.next()? {
        if record.id == before {
            return Err(records.wrong(format!("id {:?} stands a second time", record.id)));
        }
        if record.id < before {
            return Ok(None);
        }
        before.clone_from(&record.id);
        let cell = Cell::of(&record);
        batch.push((record.id, cell));
        if batch.len() == BATCH && !take(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))) {
            return Ok(None);
        }
    }
    if !batch.is_empty() {
        take(batch);
    }
    Ok(Some(records.digest()))
}

/// The manifest's records, one by one.
struct Incoming<'a> {
    receive: &'a Receiver<Message>,
    batch: std::vec::IntoIter<(String, Cell)>,
    end: Option<String>,
    records: u64,
}

enum Next {
    Record(String, Cell),
    Unsorted,
    End,
}

impl Incoming<'_> {
    fn next(&mut self) -> Result<Next, AnalysisError> {
        loop {
            if let Some((id, cell)) = self.batch.next() {
                self.records += 1;
                return Ok(Next::Record(id, cell));
            }
            if self.end.is_some() {
                return Ok(Next::End);
            }
            match self.receive.recv() {
                Ok(Message::Records(batch)) => self.batch = batch.into_iter(),
                Ok(Message::End(digest)) => self.end = Some(digest),
                Ok(Message::Wrong(error)) => return Err(error),
                Ok(Message::Unsorted) | Err(_) => return Ok(Next::Unsorted),
            }
        }
    }
}

fn join(
    receive: &Receiver<Message>,
    manifest: &Path,
    file: &Path,
    request: &RunRequest,
) -> Result<Found, AnalysisError> {
    let mut incoming = Incoming { receive, batch: Vec::new().into_iter(), end: None, records: 0 };
    let mut predictions = Predictions::open(file)?;
    let mut tally = Tally::new("");
    let mut cells: BTreeMap<Cell, u32> = BTreeMap::new();
    let mut votes = LayoutVotes::default();
    let (mut absent, mut first_absent) = (0_u64, None);
    let mut row = predictions.next_row()?;
    if !request.detectors.is_empty() && !request.detectors.iter().any(|d| d == predictions.detector()) {
        return Ok(Found::NotWanted);
    }
    let mut absent_cells: BTreeMap<u32, u64> = BTreeMap::new();
    // What a flag alone counts for is known when every row has been seen.
    let mut flags: BTreeMap<(u32, bool), u64> = BTreeMap::new();
    loop {
        let (id, cell) = match incoming.next()? {
            Next::Record(id, cell) => (id, cell),
            Next::Unsorted => return Ok(Found::Unsorted),
            Next::End => break,
        };
        let cell = match cells.get(&cell) {
            Some(&number) => number,
            None => {
                let number = tally.cell(cell.clone());
                cells.insert(cell, number);
                number
            }
        };
        match row.as_ref().map_or(Ordering::Greater, |r| r.id.cmp(&id)) {
            Ordering::Equal => {
                let Some(current) = row.take() else { continue };
                votes.count(&current);
                match (current.layout, current.any) {
                    (Layout::FlagOnly, Ok(flag)) => *flags.entry((cell, flag > 0.5)).or_default() += 1,
                    (layout, any) => {
                        let shared = layout != Layout::TaskScores;
                        tally.add(cell, [current.pi, current.phishing, any], shared, 1);
                    }
                }
                tally.usage.iter_mut().zip(current.usage).for_each(|(sum, n)| *sum = sum.saturating_add(n));
                if let Some(ms) = current.latency_ms {
                    tally.latency(ms)?;
                }
                row = predictions.next_row()?;
                if let Some(next) = &row {
                    // A second row of the same id may be a retry: the reader that keeps everything decides.
                    if next.id <= id {
                        return Ok(Found::Unsorted);
                    }
                }
            }
            Ordering::Greater => {
                absent += 1;
                first_absent.get_or_insert(id);
                *absent_cells.entry(cell).or_default() += 1;
            }
            Ordering::Less => {
                // Unknown, or out of order: the reader that keeps everything can tell.
                return Ok(Found::Unsorted);
            }
        }
    }
    if incoming.records == 0 {
        return Err(empty_manifest(manifest));
    }
    if let Some(row) = row {
        return Err(predictions.wrong(format!("id {:?} is not in the manifest", row.id)));
    }
    predictions.detector().clone_into(&mut tally.detector);
    tally.layout = votes.layout();
    if let Some(first) = first_absent {
        absent_ids(file, absent, incoming.records, &first, votes.judge(&tally.detector, request), request)?;
    }
    let shared = tally.layout != Layout::TaskScores;
    for (cell, n) in absent_cells {
        tally.add(cell, [Err(Fault::Absent); 3], shared, n);
    }
    for ((cell, flag), n) in flags {
        let only_flags = tally.layout == Layout::FlagOnly;
        let reading = if only_flags { Ok(f64::from(u8::from(flag))) } else { Err(Fault::Null) };
        tally.add(cell, [reading; 3], shared, n);
    }
    tally.sha256 = predictions.digest();
    Ok(Found::Tally(Box::new(tally), incoming.end.unwrap_or_default()))
}
