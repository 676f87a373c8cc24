use std::fmt;

use serde::{Deserialize, Serialize};
use wardline_email_corpus::EvalRole;

use crate::Record;

/// What is told from negatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Task {
    /// Prompt injections against negatives.
    #[serde(rename = "pi")]
    Injection,
    /// Phishing, scam and spam against negatives.
    #[serde(rename = "phishing")]
    Phishing,
    /// Everything malicious against negatives.
    #[serde(rename = "any_malicious")]
    AnyMalicious,
}

impl Task {
    /// The two tasks of the published protocol.
    pub const PUBLISHED: [Self; 2] = [Self::Injection, Self::Phishing];
    /// Every task.
    pub const ALL: [Self; 3] = [Self::Injection, Self::Phishing, Self::AnyMalicious];

    /// The name in files and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Injection => "pi",
            Self::Phishing => "phishing",
            Self::AnyMalicious => "any_malicious",
        }
    }

    /// The name in headings.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Injection => "Prompt injection",
            Self::Phishing => "Phishing",
            Self::AnyMalicious => "Any malicious",
        }
    }

    /// Whether the record is a positive of the task; `None` when it has no part in it.
    #[must_use]
    pub fn label(self, record: &Record) -> Option<bool> {
        match (record.role, self) {
            (EvalRole::Negative, _) => Some(false),
            (EvalRole::PiPositive, Self::Injection | Self::AnyMalicious)
            | (EvalRole::Phishing, Self::Phishing | Self::AnyMalicious) => Some(true),
            _ => None,
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
