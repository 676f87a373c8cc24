use std::path::Path;

use wardline_email_corpus::{EmailRecord, ManifestReader};
use wardline_segments::Extraction;

use super::log::Index;
use super::segments_file::SegmentsFile;
use crate::DetectorError;

/// Gives out the records that still need an answer, in manifest order.
pub(crate) struct Work {
    records: ManifestReader<std::io::BufReader<std::fs::File>>,
    done: Index,
    segments: Option<SegmentsFile>,
}

/// A record to ask about, and its segments when a file gives them.
pub(crate) type Job = (EmailRecord, Option<Extraction>);

impl Work {
    pub(crate) fn open(manifest: &Path, log: &Path, segments: Option<&Path>) -> Result<Self, DetectorError> {
        Ok(Self {
            records: ManifestReader::open(manifest)?,
            done: Index::build(log)?,
            segments: segments.map(SegmentsFile::open).transpose()?,
        })
    }

    /// The next few records; none when all were given out.
    pub(crate) fn next(&mut self, count: usize) -> Result<Vec<Job>, DetectorError> {
        let mut jobs = Vec::with_capacity(count);
        while jobs.len() < count {
            let Some(record) = self.records.next() else { break };
            let record = record?;
            if self.done.find(&record.id)? == Some(true) {
                continue;
            }
            let segments = self.segments.as_mut().map(|s| s.find(&record.id)).transpose()?;
            jobs.push((record, segments));
        }
        Ok(jobs)
    }
}
