//! Our own material, read from the embedded TOML.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::CorpusError;

/// Plausible mail that a payload or control is set in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Carrier {
    /// `carrier_NN`.
    pub id: String,
    /// BCP 47 tag of the mail.
    pub locale: String,
    /// Display name of the sender.
    pub from_name: String,
    /// Address of the sender.
    pub from_address: String,
    /// Display name of the recipient.
    pub to_name: String,
    /// Address of the recipient.
    pub to_address: String,
    /// Subject.
    pub subject: String,
    /// Benign text before the place where a payload stands.
    pub before: String,
    /// Benign text after it.
    pub after: String,
}

/// An injected instruction of our own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PayloadSeed {
    /// `canonical_NN` or `payload_NNN`.
    pub id: String,
    /// What the attacker wants.
    pub goal: String,
    /// How the text tries to get it.
    pub technique: String,
    /// BCP 47 tag of the payload.
    pub language: String,
    /// The carrier's id.
    pub carrier: String,
    /// What makes the text awkward to carry, such as `crlf` or `long_line`.
    #[serde(default)]
    pub traits: Vec<String>,
    /// The payload, byte for byte.
    pub text: String,
}

/// A benign text that is rendered on the surfaces of a payload.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ControlSeed {
    /// `control_NN` or `hard_NN`.
    pub id: String,
    /// Kind of text.
    pub category: String,
    /// BCP 47 tag of the text.
    pub language: String,
    /// The carrier's id.
    pub carrier: String,
    /// Takes the place of the carrier's subject.
    pub subject: String,
    /// The text.
    pub text: String,
}

/// Somebody who takes part in a thread.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Participant {
    /// Display name.
    pub name: String,
    /// Address.
    pub address: String,
}

/// An older message of a thread.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ThreadMessage {
    /// Index of the writer among the participants.
    pub from: usize,
    /// The text.
    pub text: String,
}

/// An attack spread over a message.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AdaptiveSeed {
    /// `adaptive_NN`.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// What the attacker wants.
    pub goal: String,
    /// BCP 47 tag.
    pub language: String,
    /// Subject of the newest message.
    pub subject: String,
    /// The sender of the newest message, its recipient, and further people.
    pub participants: Vec<Participant>,
    /// Benign text of the newest message.
    pub cover: String,
    /// Older messages, newest first; at least as many as fragments.
    pub thread: Vec<ThreadMessage>,
    /// Two or three texts that instruct only together.
    pub fragments: Vec<String>,
    /// File name of the text attachment.
    pub note_name: String,
    /// Benign text of the text attachment.
    pub note_text: String,
    /// File name of the PDF.
    pub pdf_name: String,
    /// Title of the PDF.
    pub pdf_title: String,
    /// Benign text of the PDF.
    pub pdf_text: String,
}

/// A whole message of our own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HandwrittenMessage {
    /// `lure_NN` or `modern_NN`.
    pub id: String,
    /// Kind of message.
    pub category: String,
    /// BCP 47 tag.
    pub language: String,
    /// `easy`, `medium` or `hard` for a careful reader; lures only.
    #[serde(default)]
    pub difficulty: Option<String>,
    /// Display name of the sender.
    pub from_name: String,
    /// Address of the sender.
    pub from_address: String,
    /// Address for answers.
    #[serde(default)]
    pub reply_to: Option<String>,
    /// Display name of the recipient.
    pub to_name: String,
    /// Address of the recipient.
    pub to_address: String,
    /// Subject.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// HTML of the same message.
    #[serde(default)]
    pub html: Option<String>,
    /// Malicious targets, defanged; lures only.
    #[serde(default)]
    pub urls: Vec<String>,
    /// Further headers, in order.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// A text/calendar part.
    #[serde(default)]
    pub calendar: Option<String>,
}

/// All of our own material, in the order of the files.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Seeds {
    /// By id.
    pub carriers: BTreeMap<String, Carrier>,
    /// The five canonical phrasings.
    pub canonical: Vec<PayloadSeed>,
    /// Further payloads.
    pub payloads: Vec<PayloadSeed>,
    /// Structure-matched controls.
    pub controls: Vec<ControlSeed>,
    /// Hard controls.
    pub controls_hard: Vec<ControlSeed>,
    /// Attacks spread over a message.
    pub adaptive: Vec<AdaptiveSeed>,
    /// Phishing lures.
    pub lures: Vec<HandwrittenMessage>,
    /// Benign messages of a present-day inbox.
    pub modern: Vec<HandwrittenMessage>,
}

impl Seeds {
    /// The material embedded in this build.
    ///
    /// # Errors
    /// A file that does not parse, an id that stands twice, a carrier that is not there, or a thread that is too short: each names
    /// the file and the id.
    pub fn embedded() -> Result<Self, CorpusError> {
        let carriers: Vec<Carrier> = table("seeds/carriers.toml", wardline_dataset::CARRIERS, "carrier")?;
        let seeds = Self {
            carriers: carriers.into_iter().map(|c| (c.id.clone(), c)).collect(),
            canonical: table("seeds/canonical.toml", wardline_dataset::CANONICAL, "payload")?,
            payloads: table("seeds/payloads.toml", wardline_dataset::PAYLOADS, "payload")?,
            controls: table("seeds/controls.toml", wardline_dataset::CONTROLS, "control")?,
            controls_hard: table("seeds/controls-hard.toml", wardline_dataset::CONTROLS_HARD, "control")?,
            adaptive: table("seeds/adaptive.toml", wardline_dataset::ADAPTIVE, "scenario")?,
            lures: table("handwritten/phishing.toml", wardline_dataset::PHISHING, "message")?,
            modern: table("handwritten/modern-benign.toml", wardline_dataset::MODERN_BENIGN, "message")?,
        };
        seeds.check()?;
        Ok(seeds)
    }

    /// The carrier of that id.
    ///
    /// # Errors
    /// There is none.
    pub fn carrier(&self, id: &str) -> Result<&Carrier, CorpusError> {
        self.carriers.get(id).ok_or_else(|| wrong("seeds/carriers.toml", format!("has no carrier {id:?}")))
    }

    /// The carrier for the n-th payload of a source that names none: all of them in turn.
    #[must_use]
    pub fn carrier_in_turn(&self, n: usize) -> Option<&Carrier> {
        self.carriers.values().nth(n % self.carriers.len().max(1))
    }

    fn check(&self) -> Result<(), CorpusError> {
        let payloads = self.canonical.iter().chain(&self.payloads).map(|p| (&p.id, Some(&p.carrier)));
        let controls = self.controls.iter().chain(&self.controls_hard).map(|c| (&c.id, Some(&c.carrier)));
        let adaptive = self.adaptive.iter().map(|a| (&a.id, None));
        let messages = self.lures.iter().chain(&self.modern).map(|m| (&m.id, None));
        let mut ids = BTreeSet::new();
        for (id, carrier) in payloads.chain(controls).chain(adaptive).chain(messages) {
            if !ids.insert(id) {
                return Err(wrong("seeds", format!("id {id:?} stands twice")));
            }
            if let Some(carrier) = carrier {
                self.carrier(carrier)?;
            }
        }
        for a in &self.adaptive {
            let people = a.participants.len();
            let fits = (2..=3).contains(&a.fragments.len())
                && a.thread.len() >= a.fragments.len()
                && people >= 2
                && a.thread.iter().all(|m| m.from < people);
            if !fits {
                let message = format!(
                    "{}: needs 2 or 3 fragments, a thread at least as long, and two participants or more that it refers to",
                    a.id
                );
                return Err(wrong("seeds/adaptive.toml", message));
            }
        }
        Ok(())
    }
}

fn wrong(file: &str, message: String) -> CorpusError {
    CorpusError::Input { path: file.into(), message }
}

fn table<T: DeserializeOwned>(file: &str, text: &str, name: &str) -> Result<Vec<T>, CorpusError> {
    let mut document: toml::Table = toml::from_str(text).map_err(|e| wrong(file, one_line(&e.to_string())))?;
    if document.remove("schema") != Some(toml::Value::Integer(1)) {
        return Err(wrong(file, "has no `schema = 1`".into()));
    }
    let rows = document.remove(name).unwrap_or_else(|| toml::Value::Array(Vec::new()));
    if let Some(other) = document.keys().next() {
        return Err(wrong(file, format!("has an unknown table {other:?}")));
    }
    let toml::Value::Array(rows) = rows else {
        return Err(wrong(file, format!("`{name}` is no array of tables")));
    };
    rows.into_iter()
        .map(|row| {
            let id = row.get("id").and_then(toml::Value::as_str).unwrap_or("?").to_owned();
            row.try_into().map_err(|e: toml::de::Error| wrong(file, format!("{id}: {}", one_line(&e.to_string()))))
        })
        .collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
