use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::ManifestReader;
use crate::{CorpusError, EmailRecord};

/// How two manifests differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManifestDiff {
    /// Ids that only the first has, sorted.
    pub removed: Vec<String>,
    /// Ids that only the second has, in its order.
    pub added: Vec<String>,
    /// Ids that both have, with the paths of the fields that differ, in the second's order.
    pub changed: Vec<(String, Vec<String>)>,
    /// Ids that both have with nothing changed.
    pub same: u64,
}

impl ManifestDiff {
    /// Whether the manifests hold the same records, in whatever order.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty() && self.changed.is_empty()
    }
}

/// Compares two manifests by id. The first is held in memory.
///
/// # Errors
/// A wrong line in either.
pub fn diff(first: &Path, second: &Path) -> Result<ManifestDiff, CorpusError> {
    let mut left: BTreeMap<String, EmailRecord> = BTreeMap::new();
    for record in ManifestReader::open(first)? {
        let record = record?;
        left.insert(record.id.clone(), record);
    }
    let mut diff = ManifestDiff::default();
    for record in ManifestReader::open(second)? {
        let record = record?;
        match left.remove(&record.id) {
            None => diff.added.push(record.id),
            Some(before) if before == record => diff.same += 1,
            Some(before) => {
                let mut fields = Vec::new();
                let json = |r: &EmailRecord| serde_json::to_value(r).unwrap_or(Value::Null);
                differing("", &json(&before), &json(&record), &mut fields);
                diff.changed.push((record.id, fields));
            }
        }
    }
    diff.removed = left.into_keys().collect();
    Ok(diff)
}

fn differing(path: &str, left: &Value, right: &Value, fields: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                differing(&path, a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null), fields);
            }
        }
        _ if left == right => {}
        _ => fields.push(path.to_owned()),
    }
}
