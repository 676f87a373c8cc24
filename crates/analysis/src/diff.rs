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
    /// The rows that it is read from: `test`, `whole`, or a part or view of one of them.
    pub rows: String,
    /// The detector.
    pub detector: String,
    /// The measure.
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
            let (mut old, new) = (numbers(before, name, task), numbers(after, name, task));
            for (key, after) in new {
                // What only one of them computes is a setting, and stands among the causes.
                if let Some(before) = old.remove(&key) {
                    self.number(name, task, key, &before, &after);
                }
            }
        }
    }

    fn number(&mut self, name: &str, task: Task, (rows, measure): Key, before: &Figure, after: &Figure) {
        let moved = match (before.value, after.value) {
            (Some(a), Some(b)) => (a - b).abs() >= 1e-12,
            (a, b) => a != b,
        };
        if !moved {
            return;
        }
        let outside_interval = match (before.interval, after.value) {
            (Some(interval), Some(value)) => !interval.contains(value),
            _ => false,
        };
        let (before, after) = (before.value, after.value);
        self.movements.push(Movement { task, rows, detector: name.into(), measure, before, after, outside_interval });
    }
}

/// Rows and measure.
type Key = (String, String);

/// Every number of a detector on a task, by the rows that it is read from and its measure.
fn numbers(analysis: &Analysis, name: &str, task: Task) -> BTreeMap<Key, Figure> {
    let mut all = BTreeMap::new();
    let mut points = |rows: &str, points: &Points| {
        for (measure, read) in MEASURES {
            all.insert((rows.to_owned(), measure.to_owned()), *read(points));
        }
    };
    let detector = analysis.detector(name);
    let result = detector.and_then(|d| d.tasks.get(&task));
    if let Some(result) = result {
        points("test", &result.test);
        points("whole", &result.whole);
    }
    if let Some(found) = analysis.scenario_level.as_ref().and_then(|h| h.tasks.get(&task)?.get(name)) {
        points("test, scenarios kept together", found);
    }
    let views = [("test", &analysis.views_test), ("whole", &analysis.views)];
    let views = || views.into_iter().filter_map(|(rows, v)| Some((rows, v.iter().find(|v| v.detector == name)?)));
    for (rows, view) in views().filter(|_| task == Task::Injection) {
        points(&format!("{rows}, naive view"), &view.naive);
    }
    let mut one = |rows: String, measure: &str, figure: Figure| {
        all.insert((rows, measure.to_owned()), figure);
    };
    for (rows, view) in views().filter(|_| task == Task::Injection) {
        one(rows.to_owned(), "recall that structure costs", view.recall_lost);
        for s in &view.surfaces {
            one(format!("{rows}, {}", s.name), "recall that structure costs", s.recall_lost);
        }
    }
    if let Some(tuned) = result.and_then(|r| r.dev_tuned) {
        let threshold = Figure { value: tuned.threshold, ..Figure::default() };
        for (measure, figure) in [("threshold", threshold), ("recall", tuned.recall), ("fpr", tuned.fpr)] {
            one("test, tuned on dev".into(), measure, figure);
        }
    }
    if let Some(tiers) = detector.and_then(|d| d.two_tier).filter(|_| task == Task::Injection) {
        for (rows, recall, fpr) in [
            ("test, two tiers", tiers.test_recall, tiers.test_fpr),
            ("test, one tier", tiers.single_test_recall, tiers.single_test_fpr),
        ] {
            for (measure, value) in [("recall", recall), ("fpr", fpr)] {
                one(rows.into(), measure, Figure { value, ..Figure::default() });
            }
        }
    }
    for c in analysis.comparisons.iter().filter(|c| c.detector == name && c.task == task) {
        for (measure, d) in
            [("auc", c.auc), ("tpr_at_target_fpr", c.tpr_at_target_fpr), ("recall", c.recall), ("fpr", c.fpr)]
        {
            one(format!("test, against {}", c.baseline), measure, d.difference);
        }
    }
    for slices in result.into_iter().flat_map(|r| &r.slices) {
        for s in &slices.slices {
            let rows = format!("whole, {} {}", slices.by, s.name);
            one(rows.clone(), "recall", s.recall);
            one(rows.clone(), "fpr", s.fpr);
            one(rows, "auc", Figure { value: s.auc, ..Figure::default() });
        }
    }
    all
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
