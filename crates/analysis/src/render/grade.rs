use wardline_report::{Column, Table};

use super::TitledTable;
use super::format::{count, figure, number, percent};
use crate::{Grade, Task};

/// Every table of a grade.
#[must_use]
pub fn grade_tables(grade: &Grade) -> Vec<TitledTable> {
    let mut all: Vec<TitledTable> = Task::ALL.into_iter().map(|task| metrics(grade, task)).collect();
    all.push(coverage(grade));
    all.push(slices(grade));
    all
}

fn metrics(grade: &Grade, task: Task) -> TitledTable {
    let mut table = Table::new([
        Column::text("detector"),
        Column::number("precision"),
        Column::number("recall"),
        Column::number("F1"),
        Column::number("FPR"),
        Column::number("ROC AUC"),
        Column::number("PR AUC"),
        Column::number("TPR at 1 % FPR"),
        Column::number("realised FPR"),
        Column::number("TPR at .1 % FPR"),
    ]);
    for detector in &grade.detectors {
        let Some(t) = detector.tasks.get(&task) else { continue };
        table.row([
            detector.detector.clone(),
            figure(&t.precision),
            figure(&t.recall),
            figure(&t.f1),
            figure(&t.fpr),
            figure(&t.roc_auc),
            figure(&t.pr_auc),
            figure(&t.tpr_at_1pct_fpr),
            number(t.realised_fpr_1pct),
            figure(&t.tpr_at_01pct_fpr),
        ]);
    }
    let counts = grade.detectors.iter().filter_map(|d| d.tasks.get(&task));
    let (positives, negatives) =
        counts.map(|t| (t.n_pos + t.missing_pos, t.n_neg + t.missing_neg)).next().unwrap_or_default();
    let title = format!(
        "{} at {}: {} positives, {} negatives",
        task.title(),
        grade.threshold,
        count(positives),
        count(negatives)
    );
    TitledTable::new(title, table)
}

fn coverage(grade: &Grade) -> TitledTable {
    let mut table = Table::new([
        Column::text("detector"),
        Column::number("records"),
        Column::number("scored"),
        Column::number("coverage"),
        Column::text("without a score"),
        Column::number("cross-fire on phishing"),
        Column::number("p50 ms"),
        Column::number("p95 ms"),
    ]);
    for detector in &grade.detectors {
        let Some(t) = detector.tasks.get(&Task::AnyMalicious) else { continue };
        let ms = |v: Option<f64>| v.map_or("not given".into(), |v| format!("{v:.1}"));
        table.row([
            detector.detector.clone(),
            count(t.coverage.expected),
            count(t.coverage.scored),
            percent(t.coverage.share()),
            t.coverage.faults(),
            figure(&detector.cross_fire_on_phishing),
            ms(detector.cost.latency_ms_p50),
            ms(detector.cost.latency_ms_p95),
        ]);
    }
    TitledTable::new("Coverage, cross-fire and latency", table)
}

fn slices(grade: &Grade) -> TitledTable {
    let mut table = Table::new([
        Column::text("detector"),
        Column::text("task"),
        Column::text("by"),
        Column::text("value"),
        Column::number("positives"),
        Column::number("recall"),
        Column::number("negatives"),
        Column::number("FPR"),
    ]);
    for detector in &grade.detectors {
        for (task, graded) in detector.tasks.iter().filter(|(t, _)| **t != Task::AnyMalicious) {
            for s in &graded.slices {
                let n = |n: u64| if (1..30).contains(&n) { format!("{n} (few)") } else { count(n) };
                let shown = |n: u64, f: &crate::Figure| if n == 0 { String::new() } else { figure(f) };
                table.row([
                    detector.detector.clone(),
                    task.to_string(),
                    s.by.clone(),
                    s.name.clone(),
                    n(s.n_pos),
                    shown(s.n_pos, &s.recall),
                    n(s.n_neg),
                    shown(s.n_neg, &s.fpr),
                ]);
            }
        }
    }
    TitledTable::new("Slices", table)
}
