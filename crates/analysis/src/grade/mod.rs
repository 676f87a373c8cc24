//! Grading: counts by distinct score, and every metric read from them.

mod result;
mod stream;
mod tally;

use std::collections::BTreeMap;

use rayon::prelude::*;

pub use result::{GRADE_SCHEMA, Grade, Graded, GradedSlice, GradedTask};

use crate::input::{check_detectors, open_run, prediction_files};
use crate::{AnalysisError, Run, RunRequest};
use tally::Tally;

/// Grades every detector of a run at a threshold.
///
/// A predictions file and a manifest that are both sorted by id are read side by side, in memory that grows with the distinct scores and
/// not with the rows. Otherwise the run is read into memory first.
///
/// # Errors
/// As [`Run::read`]; a threshold outside 0..=1.
pub fn grade(request: &RunRequest, threshold: f64) -> Result<Grade, AnalysisError> {
    if !(0.0..=1.0).contains(&threshold) {
        return Err(AnalysisError::Request("the threshold is not between 0 and 1".into()));
    }
    let (manifest_sha256, tallies, absent) = match streamed(request)? {
        Some(found) => found,
        None => loaded(request)?,
    };
    let detectors: Result<Vec<Graded>, AnalysisError> = tallies.iter().map(|tally| tally.graded(threshold)).collect();
    Ok(Grade {
        schema: GRADE_SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        manifest_sha256,
        threshold,
        warnings: absent.iter().map(|name| format!("no predictions of {name}")).collect(),
        detectors: detectors?,
    })
}

type Tallies = (String, Vec<Tally>, Vec<String>);

/// `None` when a file is not sorted by id.
fn streamed(request: &RunRequest) -> Result<Option<Tallies>, AnalysisError> {
    if request.limit.is_some() {
        return Ok(None);
    }
    let (manifest, about) = open_run(request)?;
    let files = prediction_files(&request.folder)?;
    let found: Result<Vec<stream::Found>, AnalysisError> =
        files.par_iter().map(|file| stream::tally(&manifest, file, request)).collect();
    let (mut tallies, mut digest) = (Vec::new(), None);
    for found in found? {
        match found {
            stream::Found::Unsorted => return Ok(None),
            stream::Found::NotWanted => {}
            stream::Found::Tally(tally, sha256) => {
                tallies.push(*tally);
                digest = Some(sha256);
            }
        }
    }
    let Some(digest) = digest else { return Ok(None) };
    if let Some(about) = &about {
        about.check(request, &digest)?;
    }
    tallies.sort_by(|a, b| a.detector.cmp(&b.detector));
    let names: Vec<&str> = tallies.iter().map(|t| t.detector.as_str()).collect();
    let absent = check_detectors(request, about.as_ref(), &names)?;
    Ok(Some((digest, tallies, absent)))
}

fn loaded(request: &RunRequest) -> Result<Tallies, AnalysisError> {
    let run = Run::read(request)?;
    let tallies: Result<Vec<Tally>, AnalysisError> = run
        .columns
        .par_iter()
        .map(|column| {
            let mut tally = Tally::new(&column.detector);
            let mut cells = BTreeMap::new();
            for (row, record) in run.manifest.records.iter().enumerate() {
                let cell = *cells.entry(tally::Cell::of(record)).or_insert_with_key(|cell| tally.cell(cell.clone()));
                let shared = column.layout != crate::Layout::TaskScores;
                tally.add(cell, [column.pi[row], column.phishing[row], column.any[row]], shared, 1);
            }
            for latency in &column.latencies {
                tally.latency(*latency)?;
            }
            tally.sha256.clone_from(&column.sha256);
            tally.layout = column.layout;
            tally.usage = column.usage;
            Ok(tally)
        })
        .collect();
    Ok((run.manifest.sha256, tallies?, run.absent))
}
