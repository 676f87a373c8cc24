use std::collections::BTreeMap;

use super::Ensemble;
use crate::{AnalysisError, Column, Layout, Reading};

/// The mean of the members' scores, added in the order that they are named in; a record that a member has no score for has none.
pub(super) fn mean(wanted: &Ensemble, columns: &[Column]) -> Result<Column, AnalysisError> {
    let refuse = |message: String| AnalysisError::Request(format!("ensemble {:?}: {message}", wanted.name));
    if columns.iter().any(|c| c.detector == wanted.name) {
        return Err(refuse("a detector has this name".into()));
    }
    if wanted.members.is_empty() {
        return Err(refuse("has no members".into()));
    }
    let members: Result<Vec<&Column>, AnalysisError> = wanted
        .members
        .iter()
        .map(|name| {
            let found = columns.iter().find(|c| c.detector == *name);
            found.ok_or_else(|| refuse(format!("no predictions of detector {name:?}")))
        })
        .collect();
    let members = members?;
    let mean_of = |read: fn(&Column) -> &[Reading]| -> Vec<Reading> {
        let rows = read(members[0]).len();
        (0..rows)
            .map(|row| {
                let mut sum = 0.0;
                for member in &members {
                    sum += read(member)[row]?;
                }
                Ok(sum / members.len() as f64)
            })
            .collect()
    };
    let identity = BTreeMap::from([("mean_of".to_owned(), serde_json::json!(wanted.members))]);
    Ok(Column {
        detector: wanted.name.clone(),
        sha256: String::new(),
        identity,
        only: members.iter().map(|m| m.only).reduce(|a, b| a.filter(|_| a == b)).flatten(),
        layout: if members.iter().any(|m| m.layout == Layout::TaskScores) { Layout::TaskScores } else { Layout::Score },
        judge: false,
        pi: mean_of(|c| &c.pi),
        phishing: mean_of(|c| &c.phishing),
        any: mean_of(|c| &c.any),
        latencies: Vec::new(),
        usage: [0; 3],
        retried: 0,
    })
}
