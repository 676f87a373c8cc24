//! The benchmark's recipe: what goes into each profile, and in what order.

mod found;
mod lock;
mod own;
mod payloads;
mod write;

use std::path::PathBuf;

use serde_json::Value;

use crate::import::{Upstream, UsedInput, read_agentdojo_inbox};
use crate::manifest::{file_digest, hex};
use crate::render::Placement;
use crate::seeds::Seeds;
use crate::{CorpusError, EmailRecord, Stats};

pub use lock::{Lock, LockDifference};
pub use own::{OwnMail, own_mail};
pub use write::{BuiltDifference, compare_with_built, write_corpus};

/// What to build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// Our own material alone; needs nothing else.
    Seeds,
    /// Our own material and AgentDojo's inbox scenarios.
    Core,
    /// The published recipe: 6,333 records when nothing is missing.
    Full,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 3] = [Self::Seeds, Self::Core, Self::Full];

    /// The name on the command line and of the folder.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seeds => "seeds",
            Self::Core => "core",
            Self::Full => "full",
        }
    }
}

/// What a build reads.
#[derive(Debug, Clone, Default)]
pub struct BuildInputs {
    /// `agentdojo/inbox.jsonl` of the data folder; the core and full profiles need it.
    pub agentdojo_inbox: Option<PathBuf>,
    /// The folder of other people's data sets; the full profile needs it.
    pub upstream: Option<PathBuf>,
    /// Take an upstream file whose digest is not the pinned one.
    pub accept_unpinned: bool,
    /// Add the two surfaces beyond the published eight.
    pub extended: bool,
}

/// A record and its raw message.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The record.
    pub record: EmailRecord,
    /// The raw message, unless the record is scored from its fields.
    pub eml: Option<Vec<u8>>,
}

/// A benchmark in memory, in manifest order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Corpus {
    /// What was built: the profile's name, or that of the user's own mail.
    pub name: String,
    /// Records and messages.
    pub items: Vec<Item>,
    /// What was read of other people's data.
    pub inputs: Vec<UsedInput>,
    /// What to know of this build: what is missing, what was left out and why.
    pub notes: Vec<String>,
}

impl Corpus {
    /// The counts.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        for item in &self.items {
            stats.add(&item.record, item.eml.as_ref().map(|eml| eml.len() as u64));
        }
        stats.close();
        stats
    }
}

/// Builds a profile in memory. No clock, no chance: the same inputs give the same bytes.
///
/// The parts stand in the order of the recipe: injected payloads surface by surface, adaptive scenarios, found ham, benign probes,
/// controls, phishing, spam, hand-written messages.
///
/// # Errors
/// An input that the profile needs is not given, cannot be read, or is not what is pinned; each error names the file and line or id.
pub fn assemble(profile: Profile, inputs: &BuildInputs) -> Result<Corpus, CorpusError> {
    let seeds = Seeds::embedded()?;
    let placements: &[Placement] = if inputs.extended { &Placement::EXTENDED } else { &Placement::PUBLISHED };
    let mut notes = Vec::new();
    let mut used = Vec::new();
    let mut upstream = match (profile, &inputs.upstream) {
        (Profile::Full, Some(folder)) => Some(Upstream::open(folder, inputs.accept_unpinned)?),
        (Profile::Full, None) => {
            let message = "the full profile needs the folder of the upstream data sets".to_owned();
            return Err(CorpusError::Input { path: "upstream".into(), message });
        }
        _ => None,
    };
    let mut payloads = Vec::new();
    if let Some(upstream) = &mut upstream {
        payloads.extend(payloads::injecagent(upstream, &seeds, &mut notes)?);
    }
    match (profile, &inputs.agentdojo_inbox) {
        (Profile::Seeds, _) => {}
        (_, Some(path)) => {
            payloads.extend(payloads::agentdojo(read_agentdojo_inbox(path)?, &mut notes));
            let sha256 = hex(&file_digest(path)?);
            used.push(UsedInput { name: "agentdojo-inbox".into(), sha256, pinned: false });
        }
        (_, None) => {
            let message = "is needed: AgentDojo's inbox scenarios, which the exporter writes".to_owned();
            return Err(CorpusError::Input { path: "agentdojo/inbox.jsonl".into(), message });
        }
    }
    if let Some(upstream) = &mut upstream {
        payloads.extend(payloads::llmail(upstream, &seeds, &mut notes)?);
    }
    payloads.extend(payloads::own(&seeds, profile)?);
    let mut items = payloads::render_payloads(&payloads, placements)?;
    items.extend(payloads::adaptive(&seeds)?);
    if let Some(upstream) = &mut upstream {
        items.extend(found::ham(upstream, &mut notes)?);
        items.extend(found::notinject(upstream)?);
    }
    items.extend(payloads::controls(&seeds, profile, placements)?);
    if let Some(upstream) = &mut upstream {
        items.extend(found::nazario(upstream, &mut notes)?);
        items.extend(found::spam(upstream, &mut notes)?);
        used.extend(upstream.used());
    } else {
        items.extend(payloads::handwritten(&seeds)?);
    }
    used.sort();
    let name = if inputs.extended { format!("{}-extended", profile.as_str()) } else { profile.as_str().to_owned() };
    Ok(Corpus { name, items, inputs: used, notes })
}

/// A field of source metadata.
fn text(value: impl Into<String>) -> Value {
    Value::String(value.into())
}
