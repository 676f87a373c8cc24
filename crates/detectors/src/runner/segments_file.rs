use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use wardline_segments::Extraction;

use crate::DetectorError;

/// The longest line, in bytes: text and evidence of one message.
const MAX_LINE: u64 = 64 << 20;

/// Reads the segments of records from a file whose lines follow the manifest's order, with or without more lines between.
pub(crate) struct SegmentsFile {
    path: PathBuf,
    input: BufReader<File>,
    line: u64,
}

impl SegmentsFile {
    pub(crate) fn open(path: &Path) -> Result<Self, DetectorError> {
        let file = File::open(path).map_err(DetectorError::io(path))?;
        Ok(Self { path: path.to_owned(), input: BufReader::with_capacity(1 << 16, file), line: 0 })
    }

    pub(crate) fn find(&mut self, id: &str) -> Result<Extraction, DetectorError> {
        loop {
            let mut text = Vec::new();
            let read = self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut text);
            self.line += 1;
            if read.map_err(DetectorError::io(&self.path))? == 0 {
                let message = format!("has no segments of record {id:?} after those of the record before it");
                return Err(DetectorError::file(&self.path, message));
            }
            let extraction = parsed(&text).map_err(|e| DetectorError::Line {
                path: self.path.clone(),
                line: self.line,
                message: format!("is no extraction: {e}"),
            })?;
            if extraction.id.as_deref() == Some(id) {
                return Ok(extraction);
            }
        }
    }
}

fn parsed(text: &[u8]) -> serde_json::Result<Extraction> {
    /// Every extraction has the field. A line without it, of a manifest for instance, would be read as one of an empty message.
    #[derive(Deserialize)]
    struct Proof {
        #[serde(rename = "segments")]
        _segments: IgnoredAny,
    }

    let extraction: Extraction = serde_json::from_slice(text)?;
    if extraction.segments.is_empty() {
        serde_json::from_slice::<Proof>(text)?;
    }
    Ok(extraction)
}
