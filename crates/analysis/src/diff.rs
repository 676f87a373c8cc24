use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::entries::{Entry, figures};
use crate::{Analysis, DetectorResult, Figure, Task};

/// What changed between two analyses.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Changes {
    /// What the results depend on: records, versions, settings, predictions.
    pub causes: Vec<Cause>,
    /// Numbers that moved.
    pub movements: Vec<Movement>,
}

/// One thing that a result depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cause {
    /// Its name, such as `manifest` or `heuristics: version`.
    pub what: String,
    /// In the first analysis; `none` where it has none.
    pub before: String,
    /// In the second.
    pub after: String,
}

/// One number that moved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Movement {
    /// The task; `None` of latency and cost.
    pub task: Option<Task>,
    /// The rows that it is read from: `test`, `dev`, `whole` or `all`.
    pub rows: String,
    /// The part of the rows, view, policy or grouping, as `property=value`; empty for all of them.
    pub slice: String,
    /// The detector.
    pub detector: String,
    /// The measure, as the CSV of an analysis names it.
    pub measure: String,
    /// In the first analysis; `None` is undefined.
    pub before: Option<f64>,
    /// In the second.
    pub after: Option<f64>,
    /// Whether the second lies outside the interval of the first.
    pub outside_interval: bool,
}

impl Changes {
    /// What changed from one analysis to another; numbers that differ by less than 1e-12 have not moved.
    #[must_use]
    pub fn between(before: &Analysis, after: &Analysis) -> Self {
        let mut changes = Self::default();
        changes.cause("version", &before.version, &after.version);
        changes.cause("manifest", &before.manifest_sha256, &after.manifest_sha256);
        changes.cause("population signature", &before.population_signature, &after.population_signature);
        changes.json("settings", &before.settings, &after.settings);
        changes.json("population", &before.population, &after.population);
        changes.json("split", &before.split, &after.split);
        fn by_name(analysis: &Analysis) -> BTreeMap<&str, &DetectorResult> {
            analysis.detectors.iter().map(|d| (d.detector.as_str(), d)).collect()
        }
        let (old, new) = (by_name(before), by_name(after));
        let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        for name in names {
            match (old.get(name), new.get(name)) {
                (Some(_), Some(_)) => changes.detector(name, before, after),
                (old, new) => {
                    let text = |d: Option<&&DetectorResult>| if d.is_some() { "present" } else { "absent" };
                    changes.cause(name, text(old), text(new));
                }
            }
        }
        let mut old: BTreeMap<Key, Entry> = figures(before).into_iter().map(|e| (key(&e), e)).collect();
        for after in figures(after) {
            // What only one of them computes is a setting, and stands among the causes.
            if let Some(before) = old.remove(&key(&after)) {
                changes.number(&before.figure, after);
            }
        }
        changes
    }

    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.movements.is_empty()
    }

    fn cause(&mut self, what: &str, before: &str, after: &str) {
        if before != after {
            self.causes.push(Cause { what: what.into(), before: before.into(), after: after.into() });
        }
    }

    /// Every leaf that differs.
    fn json(&mut self, what: &str, before: &impl Serialize, after: &impl Serialize) {
        let value = |v: Result<Value, serde_json::Error>| v.unwrap_or(Value::Null);
        self.values(what, &value(serde_json::to_value(before)), &value(serde_json::to_value(after)));
    }

    fn values(&mut self, what: &str, before: &Value, after: &Value) {
        match (before, after) {
            (a, b) if a == b => {}
            (Value::Object(a), Value::Object(b)) => {
                let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
                for key in keys {
                    let at = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
                    self.values(&format!("{what}: {key}"), &at(a), &at(b));
                }
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (n, (a, b)) in a.iter().zip(b).enumerate() {
                    let name = a.get("part").and_then(Value::as_str).map_or(n.to_string(), str::to_owned);
                    self.values(&format!("{what}: {name}"), a, b);
                }
            }
            (a, b) => {
                let text = |v: &Value| if v.is_null() { "none".into() } else { v.to_string() };
                self.cause(what, &text(a), &text(b));
            }
        }
    }

    fn detector(&mut self, name: &str, before: &Analysis, after: &Analysis) {
        let (Some(old), Some(new)) = (before.detector(name), after.detector(name)) else { return };
        self.json(name, &old.identity, &new.identity);
        self.cause(&format!("{name}: predictions"), &old.predictions_sha256, &new.predictions_sha256);
        let naive = |analysis: &Analysis| {
            let view = analysis.views.iter().find(|v| v.detector == name);
            view.map_or("none".to_owned(), |v| v.naive_sha256.clone())
        };
        self.cause(&format!("{name}: predictions on the naive view"), &naive(before), &naive(after));
        for task in Task::PUBLISHED {
            if let (Some(old), Some(new)) = (old.tasks.get(&task), new.tasks.get(&task)) {
                self.json(&format!("{name}, {task}: coverage"), &old.coverage, &new.coverage);
            }
        }
    }

    fn number(&mut self, before: &Figure, entry: Entry) {
        let after = entry.figure.value;
        let moved = match (before.value, after) {
            (Some(a), Some(b)) => (a - b).abs() >= 1e-12,
            (a, b) => a != b,
        };
        if !moved {
            return;
        }
        let outside_interval = before.interval.zip(after).is_some_and(|(interval, value)| !interval.contains(value));
        let Entry { task, rows, slice, detector, measure, .. } = entry;
        let (rows, before) = (rows.to_owned(), before.value);
        self.movements.push(Movement { task, rows, slice, detector, measure, before, after, outside_interval });
    }
}

/// What makes two numbers the same one.
type Key = (Option<Task>, &'static str, String, String, String);

fn key(e: &Entry) -> Key {
    (e.task, e.rows, e.slice.clone(), e.detector.clone(), e.measure.clone())
}
