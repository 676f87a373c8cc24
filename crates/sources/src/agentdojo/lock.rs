use std::fmt;

use super::CorpusName;
use crate::digest;

/// What a built file must be: the digest of the whole and one digest a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    sha256: String,
    records: Vec<String>,
}

/// The digests that this release expects of a corpus.
pub fn locked(name: CorpusName) -> Lock {
    Lock::parse(match name {
        CorpusName::Ground => include_str!("../../agentdojo/lock/ground.lock"),
        CorpusName::Pairs => include_str!("../../agentdojo/lock/pairs.lock"),
        CorpusName::Attacks => include_str!("../../agentdojo/lock/attacks.lock"),
        CorpusName::AttacksFraming => include_str!("../../agentdojo/lock/attacks-framing.lock"),
        CorpusName::AttacksFieldSplit => include_str!("../../agentdojo/lock/attacks-field_split.lock"),
        CorpusName::AttacksLeet => include_str!("../../agentdojo/lock/attacks-leet.lock"),
        CorpusName::Inbox => include_str!("../../agentdojo/lock/inbox.lock"),
    })
}

/// The digest of the whole file alone, without reading the lock's records.
pub(crate) fn locked_sha256(name: CorpusName) -> String {
    locked(name).sha256
}

impl Lock {
    /// The lock of a file's bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self { sha256: digest::hex(bytes), records: lines(bytes).map(digest::short_hex).collect() }
    }

    /// SHA-256 of the whole file, in lower-case hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The first 16 hex digits of the SHA-256 of each line, without its line feed.
    pub fn records(&self) -> &[String] {
        &self.records
    }

    fn parse(text: &str) -> Self {
        let mut lines = text.lines().map(str::to_owned);
        Self { sha256: lines.next().unwrap_or_default(), records: lines.collect() }
    }
}

/// The lock's own file format: the whole file's digest, then one digest a line.
impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.sha256)?;
        self.records.iter().try_for_each(|r| writeln!(f, "{r}"))
    }
}

/// The lines of a file without their line feeds; what follows the last line feed is a line when it is not empty.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let count = if bytes.is_empty() { 0 } else { usize::MAX };
    whole.split(|&b| b == b'\n').take(count)
}
