use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use wardline_classifier::ScoreTable;

use crate::runner::file_digest;
use crate::{Detector, DetectorError, ErrorClass, Failure, Input, Needs, Task, Verdict};

/// A classifier's score table as a detector: looks up the flattened text by its SHA-256. A text that the table lacks is an error of
/// its record; the empty text scores 0.
pub struct ScoresDetector {
    name: String,
    sha256: String,
    table: Arc<ScoreTable>,
}

impl ScoresDetector {
    /// Reads a score table.
    ///
    /// # Errors
    /// The file cannot be read or is no score table.
    pub fn open(name: impl Into<String>, path: &Path) -> Result<Self, DetectorError> {
        let table = ScoreTable::read(path).map_err(|e| DetectorError::detector("scores", e.to_string()))?;
        Ok(Self { name: name.into(), sha256: file_digest(path)?, table: Arc::new(table) })
    }
}

impl Detector for ScoresDetector {
    fn name(&self) -> &str {
        &self.name
    }

    fn task(&self) -> Task {
        Task::Injection
    }

    fn needs(&self) -> Needs {
        Needs::TEXT
    }

    fn identity(&self) -> Map<String, Value> {
        Map::from_iter([("table_sha256".to_owned(), json!(self.sha256))])
    }

    fn batch_size(&self) -> usize {
        64
    }

    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
        let predict = |input: &Input| {
            let text = input.text()?;
            if text.is_empty() {
                return Verdict::from_score(0.0);
            }
            let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
            let score = self.table.score_of(&digest);
            Verdict::from_score(
                score.ok_or_else(|| Failure::new(ErrorClass::Input, "the score table lacks this text"))?,
            )
        };
        inputs.iter().map(predict).collect()
    }
}
