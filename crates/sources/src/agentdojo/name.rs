use std::fmt;
use std::str::FromStr;

use crate::Error;

/// The corpora that are built from AgentDojo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CorpusName {
    /// Each task's ground-truth calls, without outputs.
    Ground,
    /// Each user task alone, and with each injection task of its suite under one attack.
    Pairs,
    /// The same pairs under five attacks.
    Attacks,
    /// The five attacks with a harmless frame in front of each goal.
    AttacksFraming,
    /// The five attacks with each goal's words split over fields.
    AttacksFieldSplit,
    /// The five attacks with digits for some of each goal's letters.
    AttacksLeet,
    /// Mails of an inbox that carry injections; no scenarios.
    Inbox,
}

impl CorpusName {
    /// Every corpus, in the order in which they are listed.
    pub const ALL: [Self; 7] = [
        Self::Ground,
        Self::Pairs,
        Self::Attacks,
        Self::AttacksFraming,
        Self::AttacksFieldSplit,
        Self::AttacksLeet,
        Self::Inbox,
    ];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ground => "agentdojo",
            Self::Pairs => "pairs",
            Self::Attacks => "attacks",
            Self::AttacksFraming => "attacks-framing",
            Self::AttacksFieldSplit => "attacks-field_split",
            Self::AttacksLeet => "attacks-leet",
            Self::Inbox => "inbox",
        }
    }

    /// One line for a list of corpora.
    pub fn about(self) -> &'static str {
        match self {
            Self::Ground => "ground-truth calls of every user and injection task",
            Self::Pairs => "user tasks, alone and with each injection, with the tool outputs read",
            Self::Attacks => "the pairs under five attacks",
            Self::AttacksFraming => "the five attacks, a harmless frame in front of each goal",
            Self::AttacksFieldSplit => "the five attacks, each goal split over fields",
            Self::AttacksLeet => "the five attacks, digits for some of each goal's letters",
            Self::Inbox => "inbox mails that carry injections, for the e-mail benchmark",
        }
    }

    /// The exporter's name for it, and the file's without its ending.
    pub(crate) fn stem(self) -> &'static str {
        if self == Self::Ground { "ground" } else { self.as_str() }
    }

    pub(crate) fn file_name(self) -> String {
        format!("{}.jsonl", self.stem())
    }
}

impl fmt::Display for CorpusName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for CorpusName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|c| c.as_str() == name).ok_or_else(|| Error::UnknownCorpus {
            name: name.to_owned(),
            known: Self::ALL.map(Self::as_str).join(", "),
        })
    }
}
