use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::{Analysis, DetectorResult, Figure, Points, Task};

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
    /// The task.
    pub task: Task,
    /// `test` or `whole`.
    pub rows: &'static str,
    /// The detector.
    pub detector: String,
    /// The measure.
    pub measure: &'static str,
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
        fn by_name(analysis: &Analysis) -> BTreeMap<&str, &DetectorResult> {
            analysis.detectors.iter().map(|d| (d.detector.as_str(), d)).collect()
        }
        let (old, new) = (by_name(before), by_name(after));
        let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        for name in names {
            match (old.get(name), new.get(name)) {
                (Some(old), Some(new)) => changes.detector(name, old, new),
                (old, new) => {
                    let text = |d: Option<&&DetectorResult>| if d.is_some() { "present" } else { "absent" };
                    changes.cause(name, text(old), text(new));
                }
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

    fn detector(&mut self, name: &str, before: &DetectorResult, after: &DetectorResult) {
        self.json(name, &before.identity, &after.identity);
        self.cause(&format!("{name}: predictions"), &before.predictions_sha256, &after.predictions_sha256);
        for task in Task::PUBLISHED {
            let (Some(old), Some(new)) = (before.tasks.get(&task), after.tasks.get(&task)) else { continue };
            self.json(&format!("{name}, {task}: coverage"), &old.coverage, &new.coverage);
            for (rows, old, new) in [("test", &old.test, &new.test), ("whole", &old.whole, &new.whole)] {
                for (measure, read) in MEASURES {
                    let (a, b) = (read(old), read(new));
                    let moved = match (a.value, b.value) {
                        (Some(a), Some(b)) => (a - b).abs() >= 1e-12,
                        (a, b) => a != b,
                    };
                    if moved {
                        let outside = match (a.interval, b.value) {
                            (Some(interval), Some(value)) => !interval.contains(value),
                            _ => false,
                        };
                        self.movements.push(Movement {
                            task,
                            rows,
                            detector: name.into(),
                            measure,
                            before: a.value,
                            after: b.value,
                            outside_interval: outside,
                        });
                    }
                }
            }
        }
    }
}

/// A measure's name and where it stands.
type Read = (&'static str, fn(&Points) -> &Figure);

const MEASURES: [Read; 6] = [
    ("auc", |p| &p.auc),
    ("tpr_at_target_fpr", |p| &p.tpr_at_target_fpr),
    ("recall", |p| &p.recall),
    ("fpr", |p| &p.fpr),
    ("precision", |p| &p.precision),
    ("average_precision", |p| &p.average_precision),
];
