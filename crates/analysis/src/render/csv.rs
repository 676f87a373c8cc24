use wardline_report::{Column, Table};

use crate::entries::{figures, particulars};
use crate::{Analysis, Cost, Fault, Figure, Grade, Graded, GradedTask, Task};

/// One row a number, with full precision; an undefined number is an empty cell, and so is what does not apply. Figures come first, then
/// what stands behind them: coverage, p-values, bins, counts. The last column says whether the row was carried forward from a reference.
#[must_use]
pub fn analysis_csv(analysis: &Analysis) -> String {
    let mut rows = Rows::new(Some("carried_forward"));
    for e in figures(analysis).iter().chain(&particulars(analysis)) {
        let task = e.task.map_or("", Task::as_str);
        rows.push([task, e.rows, &e.slice, &e.detector, &e.measure], e.n, &e.figure, Some(e.carried_forward));
    }
    rows.0.to_csv()
}

/// One row a number of a grade, as [`analysis_csv`].
#[must_use]
pub fn grade_csv(grade: &Grade) -> String {
    let mut rows = Rows::new(None);
    for d in &grade.detectors {
        for (task, t) in &d.tasks {
            graded(&mut rows, *task, &d.detector, t);
        }
        let cross = ["pi", "all", "", &d.detector, "cross_fire_on_phishing"];
        rows.push(cross, None, &d.cross_fire_on_phishing, None);
        cost(&mut rows, d, &d.cost);
    }
    rows.0.to_csv()
}

fn graded(rows: &mut Rows, task: Task, detector: &str, t: &GradedTask) {
    let n = Some((t.n_pos, t.n_neg));
    for (measure, figure) in [
        ("precision", t.precision),
        ("recall", t.recall),
        ("f1", t.f1),
        ("fpr", t.fpr),
        ("roc_auc", t.roc_auc),
        ("pr_auc", t.pr_auc),
        ("tpr_at_1pct_fpr", t.tpr_at_1pct_fpr),
        ("realised_fpr_1pct", value(t.realised_fpr_1pct)),
        ("threshold_1pct", value(t.threshold_1pct)),
        ("tpr_at_0.1pct_fpr", t.tpr_at_01pct_fpr),
        ("realised_fpr_0.1pct", value(t.realised_fpr_01pct)),
    ] {
        rows.push([task.as_str(), "whole", "", detector, measure], n, &figure, None);
    }
    let c = &t.confusion;
    for (measure, count) in [
        ("true_positives", c.true_positives),
        ("false_positives", c.false_positives),
        ("true_negatives", c.true_negatives),
        ("false_negatives", c.false_negatives),
        ("missing_pos", t.missing_pos),
        ("missing_neg", t.missing_neg),
        ("expected", t.coverage.expected),
        ("scored", t.coverage.scored),
    ] {
        rows.push([task.as_str(), "whole", "", detector, measure], None, &value(Some(count as f64)), None);
    }
    for fault in Fault::ALL {
        let measure = format!("without_score_{}", fault.key());
        rows.push(
            [task.as_str(), "whole", "", detector, &measure],
            None,
            &value(Some(t.coverage.of(fault) as f64)),
            None,
        );
    }
    for s in &t.slices {
        let slice = format!("{}={}", s.by, s.name);
        for (measure, figure) in [("recall", &s.recall), ("fpr", &s.fpr)] {
            rows.push([task.as_str(), "whole", &slice, detector, measure], Some((s.n_pos, s.n_neg)), figure, None);
        }
    }
}

fn cost(rows: &mut Rows, d: &Graded, c: &Cost) {
    for (measure, number) in [
        ("latency_ms_p50", c.latency_ms_p50),
        ("latency_ms_p95", c.latency_ms_p95),
        ("requests", Some(c.requests as f64)),
        ("input_tokens", Some(c.input_tokens as f64)),
        ("output_tokens", Some(c.output_tokens as f64)),
    ] {
        rows.push(["", "all", "", &d.detector, measure], None, &value(number), None);
    }
}

fn value(value: Option<f64>) -> Figure {
    Figure { value, ..Figure::default() }
}

/// How the interval was made, as JSON names it.
fn method(figure: &Figure) -> Option<String> {
    serde_json::to_value(figure.method?).ok()?.as_str().map(str::to_owned)
}

struct Rows(Table);

impl Rows {
    fn new(last: Option<&'static str>) -> Self {
        let names = [
            "task", "rows", "slice", "detector", "measure", "n_pos", "n_neg", "value", "low", "high", "worst", "best",
            "method",
        ];
        Self(Table::new(names.into_iter().chain(last).map(Column::text)))
    }

    fn push(&mut self, names: [&str; 5], n: Option<(u64, u64)>, figure: &Figure, last: Option<bool>) {
        let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
        let count = |of: fn((u64, u64)) -> u64| n.map_or(String::new(), |n| of(n).to_string());
        let numbers = [
            count(|n| n.0),
            count(|n| n.1),
            number(figure.value),
            number(figure.interval.map(|i| i.low)),
            number(figure.interval.map(|i| i.high)),
            number(figure.worst),
            number(figure.best),
            method(figure).unwrap_or_default(),
        ];
        let last = last.map(|carried| carried.to_string());
        self.0.row(names.map(str::to_owned).into_iter().chain(numbers).chain(last));
    }
}
