use wardline_report::{Column, Table};

use crate::{Analysis, Figure, Grade};

/// One row a figure, with full precision; an undefined number is an empty cell. The last column says whether the row was carried
/// forward from a reference.
#[must_use]
pub fn analysis_csv(analysis: &Analysis) -> String {
    let mut rows = Rows::new(Some("carried_forward"));
    for d in &analysis.detectors {
        for (task, result) in &d.tasks {
            for (half, p) in [("test", &result.test), ("whole", &result.whole)] {
                let n = (p.n_pos, p.n_neg);
                for (name, figure) in [
                    ("auc", &p.auc),
                    ("tpr_at_target_fpr", &p.tpr_at_target_fpr),
                    ("realised_fpr", &Figure { value: p.realised_fpr, ..Figure::default() }),
                    ("attainable_threshold", &Figure { value: p.attainable_threshold, ..Figure::default() }),
                    ("recall", &p.recall),
                    ("fpr", &p.fpr),
                    ("precision", &p.precision),
                    ("average_precision", &p.average_precision),
                ] {
                    rows.push([task.as_str(), half, "", &d.detector, name], n, figure, Some(d.carried_forward));
                }
            }
            for slices in &result.slices {
                for s in &slices.slices {
                    let n = (s.n_pos, s.n_neg);
                    for (name, figure) in [
                        ("auc", &Figure { value: s.auc, ..Figure::default() }),
                        ("tpr_at_target_fpr", &Figure { value: s.tpr_at_target_fpr, ..Figure::default() }),
                        ("recall", &s.recall),
                        ("fpr", &s.fpr),
                    ] {
                        rows.push(
                            [task.as_str(), "whole", &format!("{}={}", slices.by, s.name), &d.detector, name],
                            n,
                            figure,
                            Some(d.carried_forward),
                        );
                    }
                }
            }
        }
    }
    for c in &analysis.comparisons {
        for (name, d) in
            [("auc", &c.auc), ("tpr_at_target_fpr", &c.tpr_at_target_fpr), ("recall", &c.recall), ("fpr", &c.fpr)]
        {
            let against = format!("minus {}", c.baseline);
            rows.push([c.task.as_str(), "test", &against, &c.detector, name], (c.rows, 0), &d.difference, Some(false));
        }
    }
    rows.0.to_csv()
}

/// One row a figure of a grade.
#[must_use]
pub fn grade_csv(grade: &Grade) -> String {
    let mut rows = Rows::new(None);
    for d in &grade.detectors {
        for (task, t) in &d.tasks {
            let n = (t.n_pos, t.n_neg);
            for (name, figure) in [
                ("precision", &t.precision),
                ("recall", &t.recall),
                ("f1", &t.f1),
                ("fpr", &t.fpr),
                ("roc_auc", &t.roc_auc),
                ("pr_auc", &t.pr_auc),
                ("tpr_at_1pct_fpr", &t.tpr_at_1pct_fpr),
                ("tpr_at_0.1pct_fpr", &t.tpr_at_01pct_fpr),
            ] {
                rows.push([task.as_str(), "whole", "", &d.detector, name], n, figure, None);
            }
            for s in &t.slices {
                let n = (s.n_pos, s.n_neg);
                let slice = format!("{}={}", s.by, s.name);
                for (name, figure) in [("recall", &s.recall), ("fpr", &s.fpr)] {
                    rows.push([task.as_str(), "whole", &slice, &d.detector, name], n, figure, None);
                }
            }
        }
    }
    rows.0.to_csv()
}

struct Rows(Table);

impl Rows {
    fn new(last: Option<&'static str>) -> Self {
        let names =
            ["task", "rows", "slice", "detector", "measure", "n_pos", "n_neg", "value", "low", "high", "worst", "best"];
        Self(Table::new(names.into_iter().chain(last).map(Column::text)))
    }

    fn push(&mut self, names: [&str; 5], (n_pos, n_neg): (u64, u64), figure: &Figure, last: Option<bool>) {
        let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
        let numbers = [
            n_pos.to_string(),
            n_neg.to_string(),
            number(figure.value),
            number(figure.interval.map(|i| i.low)),
            number(figure.interval.map(|i| i.high)),
            number(figure.worst),
            number(figure.best),
        ];
        let last = last.map(|carried| carried.to_string());
        self.0.row(names.map(str::to_owned).into_iter().chain(numbers).chain(last));
    }
}
