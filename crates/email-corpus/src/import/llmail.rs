use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::injecagent::json_line;
use crate::CorpusError;
use crate::render::check_text;

/// Submissions kept of each stratum, those with the smallest digests: enough for any selection, and bounded for the published files of
/// several hundred thousand lines.
const POOL: usize = 2000;
/// Characters of a body that is taken.
const LENGTH: std::ops::RangeInclusive<usize> = 40..=2000;

/// A submission to LLMail-Inject that can be carried on every surface.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Submission {
    /// The source's row key, or the row of the CSV counted from 1 as `row_N`.
    pub id: String,
    /// What the source sorts it by: the challenge's scenario, or the derivative's cluster.
    pub stratum: String,
    /// How it attacks, where the source says so.
    pub technique: Option<String>,
    /// Subject that it was sent with.
    pub subject: String,
    /// The body.
    pub text: String,
    /// Whether it comes from the derivative CSV instead of the published submissions.
    pub derivative: bool,
}

#[derive(Deserialize)]
struct JsonRow {
    #[serde(rename = "RowKey", default)]
    key: Option<String>,
    #[serde(default)]
    subject: Option<String>,
    body: String,
    #[serde(default)]
    scenario: Option<String>,
}

#[derive(Deserialize)]
struct CsvRow {
    subject: String,
    body: String,
    #[serde(default)]
    cluster: Option<String>,
    #[serde(default)]
    r#type: Option<String>,
}

/// Reads submissions: the published JSON lines (`RowKey`, `subject`, `body`, `scenario`), or a CSV file with the columns `subject` and
/// `body`, whose records are marked as a derivative. Bodies of 40 to 2,000 characters without control characters are kept, of each
/// stratum at most the 2,000 with the smallest digests.
///
/// # Errors
/// The file cannot be read, or a row is not of the expected form; the error names the line.
pub fn read_llmail(path: &Path) -> Result<Vec<Submission>, CorpusError> {
    let mut pools: BTreeMap<String, BTreeMap<[u8; 32], Submission>> = BTreeMap::new();
    let mut take = |mut submission: Submission| {
        submission.text = submission.text.trim().to_owned();
        if check_text(&submission.text).is_err() || !LENGTH.contains(&submission.text.chars().count()) {
            return;
        }
        let pool = pools.entry(submission.stratum.clone()).or_default();
        pool.entry(Sha256::digest(submission.text.as_bytes()).into()).or_insert(submission);
        if pool.len() > POOL {
            pool.pop_last();
        }
    };
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv")) {
        read_csv(path, &mut take)?;
    } else {
        read_json_lines(path, &mut take)?;
    }
    Ok(pools.into_values().flat_map(BTreeMap::into_values).collect())
}

fn read_csv(path: &Path, take: &mut impl FnMut(Submission)) -> Result<(), CorpusError> {
    let mut reader = csv::Reader::from_path(path)
        .map_err(|e| CorpusError::Input { path: path.to_owned(), message: e.to_string() })?;
    for (n, row) in reader.deserialize::<CsvRow>().enumerate() {
        let row = row.map_err(|e| {
            let line = e.position().map_or(n as u64 + 2, csv::Position::line);
            CorpusError::Line { file: path.to_owned(), line, field: String::new(), message: e.to_string() }
        })?;
        take(Submission {
            id: format!("row_{}", n + 1),
            stratum: row.cluster.unwrap_or_default(),
            technique: row.r#type.as_deref().map(technique),
            subject: row.subject,
            text: row.body,
            derivative: true,
        });
    }
    Ok(())
}

/// The derivative numbers six kinds of attack; these are our names for them.
fn technique(number: &str) -> String {
    match number {
        "1" => "dialogue_forgery",
        "2" => "role_token",
        "3" => "mail_bundle",
        "4" => "markup_forgery",
        "5" => "workflow_disguise",
        "6" => "tool_call_syntax",
        other => return format!("type_{other}"),
    }
    .to_owned()
}

fn read_json_lines(path: &Path, take: &mut impl FnMut(Submission)) -> Result<(), CorpusError> {
    let file = File::open(path).map_err(CorpusError::io(path))?;
    for (n, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(CorpusError::io(path))?;
        let row: JsonRow = json_line(path, n, &line)?;
        take(Submission {
            id: row.key.unwrap_or_else(|| format!("row_{}", n + 1)),
            stratum: row.scenario.unwrap_or_default(),
            technique: None,
            subject: row.subject.unwrap_or_default(),
            text: row.body,
            derivative: false,
        });
    }
    Ok(())
}
