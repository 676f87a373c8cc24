use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Corpus, Profile};
use crate::CorpusError;
use crate::manifest::hex;

/// Hexadecimal digits of a record's digests: 128 bits keep a lock of thousands of records small and still cannot be met by design.
const DIGITS: usize = 32;

/// The digests that a build is held to. Two texts: a TOML header and one line a record.
///
/// A record's line is its id, the digest of its JSON line, and the digest of its raw message (`-` without one), each the first 128
/// bits of a SHA-256. The header has the whole SHA-256 of the manifest, of all messages in order, and of each input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lock {
    /// The header.
    header: Header,
    /// Id, digest of the record, digest of the message, in manifest order.
    records: Vec<(String, String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    schema: u32,
    profile: String,
    records: usize,
    manifest_sha256: String,
    messages_sha256: String,
    notes: Vec<String>,
    inputs: BTreeMap<String, String>,
}

/// A way in which a corpus is not what the lock says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockDifference {
    /// The record, the input, or `manifest`.
    pub id: String,
    /// What differs.
    pub message: String,
}

impl Lock {
    /// The lock of a corpus.
    ///
    /// # Errors
    /// A record that has no JSON form; not known to happen.
    pub fn of(corpus: &Corpus) -> Result<Self, CorpusError> {
        let (mut manifest, mut messages) = (Sha256::new(), Sha256::new());
        let mut records = Vec::with_capacity(corpus.items.len());
        for item in &corpus.items {
            let id = item.record.id.clone();
            let mut line =
                item.record.to_line().map_err(|e| CorpusError::Render { id: id.clone(), message: e.to_string() })?;
            line.push('\n');
            manifest.update(&line);
            let message = item.eml.as_ref().map(|eml| {
                messages.update(eml);
                short(eml)
            });
            records.push((id, short(line.as_bytes()), message.unwrap_or_else(|| "-".into())));
        }
        let header = Header {
            schema: 1,
            profile: corpus.name.clone(),
            records: records.len(),
            manifest_sha256: hex(&manifest.finalize()),
            messages_sha256: hex(&messages.finalize()),
            notes: corpus.notes.clone(),
            inputs: corpus.inputs.iter().map(|i| (i.name.clone(), i.sha256.clone())).collect(),
        };
        Ok(Self { header, records })
    }

    /// The lock of a profile that this build carries; `None` for the seeds, which have none, and before the first lock.
    ///
    /// # Errors
    /// The embedded lock does not parse.
    pub fn embedded(profile: Profile) -> Result<Option<Self>, CorpusError> {
        match profile {
            Profile::Seeds => Ok(None),
            Profile::Core => Self::parse(wardline_dataset::LOCK_CORE, wardline_dataset::LOCK_CORE_RECORDS).map(Some),
            Profile::Full => Self::parse(wardline_dataset::LOCK_FULL, wardline_dataset::LOCK_FULL_RECORDS).map(Some),
        }
    }

    /// Reads a lock from its two texts.
    ///
    /// # Errors
    /// Either does not parse, or they do not belong together.
    pub fn parse(header: &str, records: &str) -> Result<Self, CorpusError> {
        let wrong = |message: String| CorpusError::Input { path: "lock".into(), message };
        let header: Header = toml::from_str(header).map_err(|e| wrong(e.to_string().replace('\n', " ")))?;
        let records = records
            .lines()
            .enumerate()
            .map(|(n, line)| match line.split(' ').collect::<Vec<_>>()[..] {
                [id, record, message] => Ok((id.to_owned(), record.to_owned(), message.to_owned())),
                _ => Err(wrong(format!("records, line {}: is not an id and two digests", n + 1))),
            })
            .collect::<Result<Vec<_>, _>>()?;
        if records.len() != header.records {
            return Err(wrong(format!("has {} records where its header says {}", records.len(), header.records)));
        }
        Ok(Self { header, records })
    }

    /// Whether the lock was made from the same inputs as the corpus, so that it says something of its records.
    #[must_use]
    pub fn is_for(&self, corpus: &Corpus) -> bool {
        let inputs: BTreeMap<String, String> =
            corpus.inputs.iter().map(|i| (i.name.clone(), i.sha256.clone())).collect();
        self.header.profile == corpus.name && self.header.inputs == inputs
    }

    /// The two texts: header and records.
    ///
    /// # Errors
    /// The header has no TOML form; not known to happen.
    pub fn to_texts(&self) -> Result<(String, String), CorpusError> {
        let header = toml::to_string(&self.header)
            .map_err(|e| CorpusError::Input { path: "lock".into(), message: e.to_string() })?;
        let records = self.records.iter().map(|(id, record, message)| format!("{id} {record} {message}\n")).collect();
        Ok((header, records))
    }

    /// How a corpus differs from the lock: each record that is missing, new, changed or out of its place, and each input that is not
    /// the one the lock was made from. Empty when the corpus is the one that was locked.
    ///
    /// # Errors
    /// As [`Lock::of`].
    pub fn differences(&self, corpus: &Corpus) -> Result<Vec<LockDifference>, CorpusError> {
        let now = Self::of(corpus)?;
        let mut all = Vec::new();
        let mut differ = |id: &str, message: String| all.push(LockDifference { id: id.to_owned(), message });
        let names: BTreeSet<&String> = self.header.inputs.keys().chain(now.header.inputs.keys()).collect();
        for name in names {
            match (self.header.inputs.get(name), now.header.inputs.get(name)) {
                (Some(a), Some(b)) if a == b => {}
                (Some(a), Some(b)) => differ(name, format!("input: SHA-256 is {b}, the lock has {a}")),
                (Some(_), None) => differ(name, "input: was not read".into()),
                (None, _) => differ(name, "input: is not in the lock".into()),
            }
        }
        let index = |lock: &Self| -> BTreeMap<String, (usize, String, String)> {
            let rows = lock.records.iter().enumerate();
            rows.map(|(n, (id, record, message))| (id.clone(), (n, record.clone(), message.clone()))).collect()
        };
        let (locked, built) = (index(self), index(&now));
        let same_ids = locked.len() == built.len() && locked.keys().eq(built.keys());
        for (id, _, _) in &self.records {
            let Some((place, record, message)) = locked.get(id) else { continue };
            match built.get(id) {
                None => differ(id, "is missing".into()),
                Some((at, new_record, new_message)) => {
                    if record != new_record {
                        differ(id, "the record has changed".into());
                    }
                    if message != new_message {
                        differ(id, "the message has changed".into());
                    }
                    if same_ids && at != place {
                        differ(id, format!("stands in line {} instead of {}", at + 1, place + 1));
                    }
                }
            }
        }
        for (id, _, _) in now.records.iter().filter(|(id, _, _)| !locked.contains_key(id)) {
            differ(id, "is not in the lock".into());
        }
        let totals = (&now.header.manifest_sha256, &now.header.messages_sha256);
        if all.is_empty() && totals != (&self.header.manifest_sha256, &self.header.messages_sha256) {
            let message = "the digest of the whole differs although no record does".to_owned();
            all.push(LockDifference { id: "manifest".into(), message });
        }
        Ok(all)
    }
}

fn short(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))[..DIGITS].to_owned()
}
