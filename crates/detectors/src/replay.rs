use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::prediction::checked;
use crate::runner::file_digest;
use crate::{Detector, DetectorError, ErrorClass, Failure, Input, Needs, Task, Verdict};

/// A predictions file as a detector: it says what somebody said before. Holds the whole file in memory.
///
/// Rows need an `id` and a `score`, or `pi_score` and `phi_score`. A row without a score, a score that is no number in 0..1, and a
/// record without a row are errors of that record.
pub struct ReplayDetector {
    name: String,
    sha256: String,
    rows: HashMap<String, Result<Verdict, Failure>>,
}

/// A row in any layout that holds scores. Scores may be of any type, so that a wrong one is an error of its record alone.
#[derive(Deserialize)]
struct Row {
    id: String,
    score: Option<Value>,
    pi_score: Option<Value>,
    phi_score: Option<Value>,
    flagged: Option<bool>,
    error: Option<Value>,
    #[serde(default)]
    categories: Vec<String>,
}

impl ReplayDetector {
    /// Reads a file; a last line that a killed run cut off is left out.
    ///
    /// # Errors
    /// The file cannot be read, a line is no JSON object with an `id`, or an id stands twice.
    pub fn open(name: impl Into<String>, path: &Path) -> Result<Self, DetectorError> {
        let file = File::open(path).map_err(DetectorError::io(path))?;
        let mut input = BufReader::with_capacity(1 << 16, file);
        let (mut rows, mut line, mut number) = (HashMap::new(), Vec::new(), 0);
        let wrong = |line, message| DetectorError::Line { path: PathBuf::from(path), line, message };
        loop {
            line.clear();
            number += 1;
            if input.read_until(b'\n', &mut line).map_err(DetectorError::io(path))? == 0 {
                break;
            }
            let row: Row = match serde_json::from_slice(&line) {
                Ok(row) => row,
                Err(_) if !line.ends_with(b"\n") => break,
                Err(e) => return Err(wrong(number, format!("is no prediction: {e}"))),
            };
            let id = row.id.clone();
            if rows.insert(row.id.clone(), verdict(row)).is_some() {
                return Err(wrong(number, format!("id {id:?} stands twice")));
            }
        }
        Ok(Self { name: name.into(), sha256: file_digest(path)?, rows })
    }
}

fn verdict(row: Row) -> Result<Verdict, Failure> {
    if let Some(error) = row.error.filter(|e| !e.is_null()) {
        let text = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        return Err(Failure::new(ErrorClass::Reply, format!("the row has an error: {text}")));
    }
    let number = |value: Option<Value>| match value.filter(|v| !v.is_null()) {
        None => Ok(None),
        Some(value) => match value.as_f64() {
            Some(score) => checked(score).map(Some),
            None => Err(Failure::new(ErrorClass::Reply, format!("score {value} is no number in 0..1"))),
        },
    };
    let (score, pi, phi) = (number(row.score)?, number(row.pi_score)?, number(row.phi_score)?);
    let larger = [pi, phi].into_iter().flatten().reduce(f64::max);
    let Some(score) = score.or(larger) else {
        return Err(Failure::new(ErrorClass::Reply, "the row has no score"));
    };
    let mut verdict = Verdict::from_score(score)?;
    (verdict.pi_score, verdict.phi_score, verdict.categories) = (pi, phi, row.categories);
    verdict.flagged = row.flagged.unwrap_or(verdict.flagged);
    Ok(verdict)
}

impl Detector for ReplayDetector {
    fn name(&self) -> &str {
        &self.name
    }

    fn task(&self) -> Task {
        Task::Both
    }

    fn needs(&self) -> Needs {
        Needs::NONE
    }

    fn identity(&self) -> Map<String, Value> {
        Map::from_iter([("predictions_sha256".to_owned(), json!(self.sha256))])
    }

    fn batch_size(&self) -> usize {
        256
    }

    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
        let none = || Err(Failure::new(ErrorClass::Input, "the predictions file has no such id"));
        inputs.iter().map(|input| self.rows.get(input.id()).cloned().unwrap_or_else(none)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_every_layout() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let rows = r#"{"id":"a","detector":"x","flagged":false,"score":0.5,"action":"review","latency_ms":3}
{"id":"b","model":"m","N":1,"pi_score":0.95,"phi_score":0.1}
{"id":"c","score":null,"error":"429"}
{"id":"d","score":"high"}
{"id":"e","flagged":true}
{"id":"f","score":7}
{"id":"g","sco"#;
        std::fs::write(&path, rows).unwrap();
        let replay = ReplayDetector::open("old", &path).unwrap();
        let says = |id: &str| replay.predict_batch(&[Input::from_text(id, "")]).remove(0);
        let a = says("a").unwrap();
        assert_eq!((a.score, a.flagged), (0.5, false));
        let b = says("b").unwrap();
        assert_eq!((b.score, b.pi_score, b.phi_score), (0.95, Some(0.95), Some(0.1)));
        let messages: Vec<_> = ["c", "d", "e", "f", "g"].map(|id| says(id).unwrap_err().message).to_vec();
        let expected = [
            "the row has an error: 429",
            "score \"high\" is no number in 0..1",
            "the row has no score",
            "score 7 is no number in 0..1",
            "the predictions file has no such id",
        ];
        assert_eq!(messages, expected);
        std::fs::write(&path, "{\"id\":\"a\"}\n{\"id\":\"a\"}\n").unwrap();
        assert!(
            ReplayDetector::open("old", &path).err().unwrap().to_string().ends_with("line 2: id \"a\" stands twice")
        );
    }
}
