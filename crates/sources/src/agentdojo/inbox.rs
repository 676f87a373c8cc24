use std::path::Path;

use serde::{Deserialize, Serialize};

use super::store::{check_version, file, json, read, verify};
use super::{CorpusName, lock};
use crate::{Error, Result};

const FORMAT: &str = "wardline-inbox";
const VERSION: u32 = 1;

/// A mail of the inbox whose body has a place for an injection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carrier {
    /// The mail's id in the environment.
    pub id: String,
    /// The name of the place, for instance `email_hiking_injection`.
    pub placeholder: String,
    /// The sender's address.
    pub from: String,
    /// The recipients' addresses.
    pub to: Vec<String>,
    /// The addresses in Cc.
    pub cc: Vec<String>,
    /// The subject.
    pub subject: String,
    /// The date, ISO 8601 without a zone.
    pub date: String,
    /// The body before the place.
    pub before: String,
    /// The body after the place.
    pub after: String,
}

/// One goal, in one formulation, in one carrier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxRecord {
    /// Scenario and formulation, joined by a slash.
    pub id: String,
    /// Goal and carrier: the same for the six formulations.
    pub scenario: String,
    /// The suite.
    pub suite: String,
    /// The injection task that the goal belongs to.
    pub injection_task: String,
    /// What the attacker wants.
    pub goal: String,
    /// How the goal is put: the attack's name.
    pub formulation: String,
    /// The text that the attacker writes.
    pub payload: String,
    /// The mail that carries it.
    pub carrier: Carrier,
    /// The carrier's body with the payload in place.
    pub body: String,
}

/// Loads the inbox mails: 30 scenarios, goal by goal in the suite's order with each of five carriers, in six formulations each.
///
/// # Errors
/// As [`load`](super::load).
pub fn inbox(data_dir: &Path) -> Result<Vec<InboxRecord>> {
    #[derive(Deserialize)]
    struct Header {
        records: usize,
    }
    let path = file(data_dir, CorpusName::Inbox);
    let bytes = read(data_dir, CorpusName::Inbox)?;
    let parse = || -> Result<Vec<InboxRecord>> {
        let mut lines = lock::lines(&bytes).enumerate();
        let (_, first) = lines.next().unwrap_or_default();
        check_version(&path, first, FORMAT, VERSION)?;
        let header: Header = json(&path, 1, first)?;
        let records: Vec<_> = lines.map(|(n, line)| json(&path, n + 1, line)).collect::<Result<_>>()?;
        if records.len() < header.records || !bytes.ends_with(b"\n") {
            let wanted = format!("record {} of {}", records.len(), header.records);
            return Err(Error::Truncated { path: path.clone(), line: records.len() + 2, wanted });
        }
        Ok(records)
    };
    let parsed = parse();
    verify(data_dir, CorpusName::Inbox, &bytes, None, &parsed)?;
    parsed
}
