use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use crate::CorpusError;

/// A benign prompt of NotInject that holds words of attacks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// File and number, such as `one/17`, counted from 1.
    pub id: String,
    /// The prompt.
    pub text: String,
    /// The words of attacks in it.
    pub trigger_words: Vec<String>,
    /// The category, as the source names it.
    pub category: String,
}

#[derive(Deserialize)]
struct Row {
    prompt: String,
    word_list: Vec<String>,
    category: String,
}

/// Reads the three files of NotInject in the order given: `NotInject_one.json`, `NotInject_two.json`, `NotInject_three.json`.
///
/// # Errors
/// A file is missing or not of the expected form.
pub fn read_notinject(files: &[PathBuf]) -> Result<Vec<Probe>, CorpusError> {
    let mut probes = Vec::new();
    for path in files {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let part = stem.rsplit('_').next().unwrap_or_default().to_owned();
        let text = fs::read_to_string(path).map_err(CorpusError::io(path))?;
        let rows: Vec<Row> = serde_json::from_str(&text)
            .map_err(|e| CorpusError::Input { path: path.clone(), message: e.to_string() })?;
        probes.extend(rows.into_iter().enumerate().map(|(n, row)| Probe {
            id: format!("{part}/{}", n + 1),
            text: row.prompt,
            trigger_words: row.word_list,
            category: row.category,
        }));
    }
    Ok(probes)
}
