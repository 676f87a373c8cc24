use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::injecagent::json_line;
use crate::{CorpusError, seeds::Carrier};

/// The version of the file that is read.
const VERSION: u64 = 1;

/// One goal of AgentDojo, in one formulation, with the inbox mail that carries it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InboxPayload {
    /// Scenario and formulation.
    pub id: String,
    /// Goal and carrier.
    pub scenario: String,
    /// The injection task.
    pub injection_task: String,
    /// How the goal is put.
    pub formulation: String,
    /// The text that the attacker writes.
    pub text: String,
    /// The mail around it; display names are empty.
    pub carrier: Carrier,
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u64,
    records: usize,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    scenario: String,
    injection_task: String,
    formulation: String,
    payload: String,
    carrier: RowCarrier,
}

#[derive(Deserialize)]
struct RowCarrier {
    id: String,
    from: String,
    to: Vec<String>,
    subject: String,
    before: String,
    after: String,
}

/// Reads `agentdojo/inbox.jsonl` of the data folder, which the exporter of `wardline-sources` writes.
///
/// # Errors
/// The file is missing, of another format or version, cut short, or has a wrong line.
pub fn read_agentdojo_inbox(path: &Path) -> Result<Vec<InboxPayload>, CorpusError> {
    let wrong = |message: String| CorpusError::Input { path: path.to_owned(), message };
    let text = fs::read_to_string(path).map_err(CorpusError::io(path))?;
    let mut lines = text.lines().enumerate();
    let (n, first) = lines.next().ok_or_else(|| wrong("is empty".into()))?;
    let header: Header = json_line(path, n, first)?;
    if header.format != "wardline-inbox" || header.version != VERSION {
        return Err(wrong(format!(
            "is {} version {}, not wardline-inbox version {VERSION}",
            header.format, header.version
        )));
    }
    let payloads = lines
        .map(|(n, line)| {
            let row: Row = json_line(path, n, line)?;
            Ok(InboxPayload {
                id: row.id,
                scenario: row.scenario,
                injection_task: row.injection_task,
                formulation: row.formulation,
                text: row.payload,
                carrier: Carrier {
                    id: row.carrier.id,
                    locale: "en".into(),
                    from_name: String::new(),
                    from_address: row.carrier.from,
                    to_name: String::new(),
                    to_address: row.carrier.to.into_iter().next().unwrap_or_default(),
                    subject: row.carrier.subject,
                    before: row.carrier.before,
                    after: row.carrier.after,
                },
            })
        })
        .collect::<Result<Vec<_>, CorpusError>>()?;
    if payloads.len() != header.records {
        return Err(wrong(format!("holds {} records where its first line says {}", payloads.len(), header.records)));
    }
    Ok(payloads)
}
