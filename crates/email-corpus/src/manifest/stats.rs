use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;

use crate::EmailRecord;

/// Counts of a manifest, gathered record by record.
///
/// A record counts once under each of its surfaces, and under `(none)` when it states none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// Records in all.
    pub records: u64,
    /// Records with a raw message.
    pub with_message: u64,
    /// Groups that a split keeps together: base payloads, and records without one.
    pub groups: u64,
    /// Bytes of the raw messages, where they were looked at.
    pub message_bytes: u64,
    /// Bytes of the largest raw message.
    pub largest_message: u64,
    /// By role in grading.
    pub role: BTreeMap<String, u64>,
    /// By threat type.
    pub threat_type: BTreeMap<String, u64>,
    /// By source.
    pub source: BTreeMap<String, u64>,
    /// By surface.
    pub surface: BTreeMap<String, u64>,
    /// By assigned authentication.
    pub sender_auth_condition: BTreeMap<String, u64>,
    /// By role and assigned authentication, as `role / condition`.
    pub role_and_auth: BTreeMap<String, u64>,
    /// By role and source, as `role / source`.
    pub role_and_source: BTreeMap<String, u64>,
    /// By split.
    pub split: BTreeMap<String, u64>,
    /// By category, as `role / category`.
    pub category: BTreeMap<String, u64>,
    /// By injection technique.
    pub injection_technique: BTreeMap<String, u64>,
    #[serde(skip)]
    payloads: Vec<u64>,
    #[serde(skip)]
    own_groups: u64,
}

impl Stats {
    /// The counts of the records.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a EmailRecord>) -> Self {
        let mut stats = Self::default();
        for record in records {
            stats.add(record, None);
        }
        stats.close();
        stats
    }

    /// Counts one record; `bytes` is the size of its raw message where it was looked at. Call [`Stats::close`] after the last.
    pub fn add(&mut self, record: &EmailRecord, bytes: Option<u64>) {
        let role = record.role().as_str();
        let auth = record.sender_auth_condition.as_str();
        let source = record.provenance.source.as_str();
        self.records += 1;
        self.with_message += u64::from(record.eml_path.is_some());
        self.message_bytes += bytes.unwrap_or(0);
        self.largest_message = self.largest_message.max(bytes.unwrap_or(0));
        count(&mut self.role, role);
        count(&mut self.threat_type, record.label.threat_type.as_str());
        count(&mut self.source, source);
        if record.surface.is_empty() {
            count(&mut self.surface, "(none)");
        }
        for surface in &record.surface {
            count(&mut self.surface, surface.as_str());
        }
        count(&mut self.sender_auth_condition, auth);
        count(&mut self.role_and_auth, &format!("{role} / {auth}"));
        count(&mut self.role_and_source, &format!("{role} / {source}"));
        count(&mut self.split, record.split.as_deref().unwrap_or("(none)"));
        if let Some(category) = &record.label.category {
            count(&mut self.category, &format!("{role} / {category}"));
        }
        if let Some(technique) = &record.label.injection_technique {
            count(&mut self.injection_technique, technique);
        }
        match &record.provenance.base_payload_id {
            None => self.own_groups += 1,
            Some(payload) => {
                let key = hash(payload);
                if self.payloads.last() != Some(&key) {
                    self.payloads.push(key);
                }
            }
        }
    }

    /// Ends the count.
    pub fn close(&mut self) {
        self.payloads.sort_unstable();
        self.payloads.dedup();
        self.groups = self.own_groups + self.payloads.len() as u64;
    }

    /// The tables that a data card shows: title and rows.
    #[must_use]
    pub fn tables(&self) -> Vec<(&'static str, Vec<(&str, u64)>)> {
        [
            ("role", &self.role),
            ("threat type", &self.threat_type),
            ("source", &self.source),
            ("role and source", &self.role_and_source),
            ("surface", &self.surface),
            ("sender authentication (assigned)", &self.sender_auth_condition),
            ("role and sender authentication", &self.role_and_auth),
            ("split", &self.split),
            ("category", &self.category),
            ("injection technique", &self.injection_technique),
        ]
        .into_iter()
        .filter(|(_, map)| !map.is_empty())
        .map(|(title, map)| (title, map.iter().map(|(key, n)| (key.as_str(), *n)).collect()))
        .collect()
    }

    fn totals(&self) -> Vec<(&'static str, u64)> {
        let mut totals =
            vec![("records", self.records), ("with a raw message", self.with_message), ("groups", self.groups)];
        if self.message_bytes > 0 {
            totals.push(("bytes of raw messages", self.message_bytes));
            totals.push(("largest raw message, bytes", self.largest_message));
        }
        totals
    }

    /// As text in columns.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (name, n) in self.totals() {
            let _ = writeln!(out, "{name:<40} {n:>10}");
        }
        for (title, rows) in self.tables() {
            let _ = writeln!(out, "\n{title}");
            for (key, n) in rows {
                let _ = writeln!(out, "  {key:<38} {n:>10}");
            }
        }
        out
    }

    /// As Markdown tables.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut out = String::from("| total | count |\n| --- | ---: |\n");
        for (name, n) in self.totals() {
            let _ = writeln!(out, "| {name} | {n} |");
        }
        for (title, rows) in self.tables() {
            let _ = writeln!(out, "\n| {title} | records |\n| --- | ---: |");
            for (key, n) in rows {
                let key = key.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('|', "\\|");
                let _ = writeln!(out, "| {key} | {n} |");
            }
        }
        out
    }
}

fn count(map: &mut BTreeMap<String, u64>, key: &str) {
    match map.get_mut(key) {
        Some(n) => *n += 1,
        None => {
            map.insert(key.to_owned(), 1);
        }
    }
}

/// A hash with fixed keys, the same on every run.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
