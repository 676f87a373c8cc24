use wardline_report::{Column, Table};

use super::TitledTable;
use super::format::{count, figure, mean, number, p_value, percent, signed, threshold};
use crate::{Analysis, Points, Task, ViewResult};

/// Every table of an analysis, the headline first.
#[must_use]
pub fn analysis_tables(analysis: &Analysis) -> Vec<TitledTable> {
    let mut all = Vec::new();
    for task in Task::PUBLISHED {
        all.push(headline(analysis, task));
    }
    for task in Task::PUBLISHED {
        all.push(whole(analysis, task));
        all.extend(tuned(analysis, task));
    }
    all.extend(scenario_level(analysis));
    all.extend(comparisons(analysis));
    all.push(coverage(analysis));
    all.push(surfaces(analysis));
    all.extend(Task::PUBLISHED.map(|task| sources(analysis, task)));
    all.extend(sender_auth(analysis));
    all.extend(views(analysis));
    all.push(calibration(analysis));
    all.push(cost(analysis));
    all.push(population(analysis));
    all.push(split(analysis));
    all
}

fn target(analysis: &Analysis) -> String {
    format!("TPR at {} % FPR", analysis.settings.target_fpr * 100.0)
}

fn points_table(analysis: &Analysis) -> Table {
    let at = analysis.settings.threshold;
    Table::new([
        Column::text("detector"),
        Column::number("AUC"),
        Column::number(target(analysis)),
        Column::number("realised FPR"),
        Column::number("at threshold"),
        Column::number(format!("recall at {at}")),
        Column::number(format!("FPR at {at}")),
        Column::number("average precision"),
    ])
}

fn points_row(table: &mut Table, name: &str, points: &Points) {
    table.row([
        name.to_owned(),
        figure(&points.auc),
        figure(&points.tpr_at_target_fpr),
        number(points.realised_fpr),
        threshold(points.attainable_threshold),
        figure(&points.recall),
        figure(&points.fpr),
        figure(&points.average_precision),
    ]);
}

fn headline(analysis: &Analysis, task: Task) -> TitledTable {
    let mut table = points_table(analysis);
    let rows = || analysis.detectors.iter().filter_map(|d| Some((d, &d.tasks.get(&task)?.test)));
    for (detector, points) in rows() {
        points_row(&mut table, &detector.shown(), points);
    }
    let counts = analysis.population.tasks.get(&task).copied().unwrap_or_default();
    let title = format!(
        "{}, test half: {} positives, {} negatives",
        task.title(),
        count(counts.test_pos),
        count(counts.test_neg)
    );
    let mut titled = TitledTable::new(title, table);
    let others: Vec<String> = rows().filter(|(d, _)| !d.is_for(task)).map(|(d, _)| d.shown()).collect();
    let mut note = format!("mean AUC {}", mean(rows().filter(|(d, _)| d.is_for(task)).map(|(_, p)| p.auc.value)));
    if !others.is_empty() {
        note.push_str(&format!("; not in it, for they are for another task: {}", others.join(", ")));
    }
    titled.notes.push(note);
    titled
}

fn whole(analysis: &Analysis, task: Task) -> TitledTable {
    let mut table = points_table(analysis);
    for detector in &analysis.detectors {
        if let Some(result) = detector.tasks.get(&task) {
            points_row(&mut table, &detector.shown(), &result.whole);
        }
    }
    let counts = analysis.population.tasks.get(&task).copied().unwrap_or_default();
    let title = format!(
        "{}, whole population: {} positives, {} negatives",
        task.title(),
        count(counts.n_pos),
        count(counts.n_neg)
    );
    TitledTable::new(title, table)
}

fn tuned(analysis: &Analysis, task: Task) -> Option<TitledTable> {
    let mut table = Table::new([
        Column::text("judge"),
        Column::number("threshold from dev"),
        Column::number("dev recall"),
        Column::number("dev FPR"),
        Column::number("test recall"),
        Column::number("test FPR"),
    ]);
    let mut any = false;
    for detector in &analysis.detectors {
        let Some(t) = detector.tasks.get(&task).and_then(|r| r.dev_tuned) else { continue };
        any = true;
        let cells = [number(t.dev_recall), number(t.dev_fpr), figure(&t.recall), figure(&t.fpr)];
        table.row([detector.shown(), threshold(t.threshold)].into_iter().chain(cells));
    }
    any.then(|| TitledTable::new(format!("{}, threshold tuned on dev and read once on test", task.title()), table))
}

fn scenario_level(analysis: &Analysis) -> Vec<TitledTable> {
    let Some(headline) = &analysis.scenario_level else { return Vec::new() };
    let table = |task: Task| {
        let mut table = points_table(analysis);
        for (name, points) in headline.tasks.get(&task).into_iter().flatten() {
            points_row(&mut table, name, points);
        }
        let title =
            format!("{}, test half with scenarios kept together ({} records)", task.title(), count(headline.test));
        TitledTable::new(title, table)
    };
    Task::PUBLISHED.map(table).into()
}

fn comparisons(analysis: &Analysis) -> Vec<TitledTable> {
    let of = |task: Task| {
        let rows: Vec<_> = analysis.comparisons.iter().filter(|c| c.task == task).collect();
        let baseline = &rows.first()?.baseline;
        let mut columns = vec![Column::text("detector"), Column::number("rows")];
        for name in ["AUC", &target(analysis), "recall", "FPR"] {
            columns.push(Column::number(format!("{name} difference")));
            columns.push(Column::number("p (Holm)"));
        }
        let mut table = Table::new(columns);
        for c in &rows {
            let cells = [c.auc, c.tpr_at_target_fpr, c.recall, c.fpr]
                .into_iter()
                .flat_map(|d| [signed(&d.difference), p_value(d.p_holm)]);
            table.row([c.detector.clone(), count(c.rows)].into_iter().chain(cells));
        }
        Some(TitledTable::new(format!("{}: each detector minus {baseline}, paired, test half", task.title()), table))
    };
    Task::PUBLISHED.into_iter().filter_map(of).collect()
}

fn coverage(analysis: &Analysis) -> TitledTable {
    let mut table = Table::new([
        Column::text("detector"),
        Column::text("task"),
        Column::number("expected"),
        Column::number("scored"),
        Column::number("coverage"),
        Column::text("without a score"),
    ]);
    for detector in &analysis.detectors {
        for (task, result) in &detector.tasks {
            let c = result.coverage;
            let cells = [count(c.expected), count(c.scored), percent(c.share()), c.faults()];
            table.row([detector.shown(), task.to_string()].into_iter().chain(cells));
        }
    }
    TitledTable::new("Coverage of the population", table)
}

fn surfaces(analysis: &Analysis) -> TitledTable {
    let task = Task::Injection;
    let slices = |d: &crate::DetectorResult| {
        let of = d.tasks.get(&task).and_then(|t| t.slices.iter().find(|s| s.by == "surface"));
        of.map(|s| s.slices.clone()).unwrap_or_default()
    };
    let mut names: Vec<String> = Vec::new();
    for slice in analysis.detectors.iter().flat_map(&slices).filter(|s| s.n_pos > 0) {
        if !names.contains(&slice.name) {
            names.push(slice.name);
        }
    }
    names.sort();
    let mut table = Table::new(
        std::iter::once(Column::text("detector")).chain(names.iter().map(|n| Column::number(n.replace('_', " ")))),
    );
    for detector in &analysis.detectors {
        let slices = slices(detector);
        let cells = names.iter().map(|name| {
            let Some(slice) = slices.iter().find(|s| s.name == *name) else { return String::new() };
            let few = if slice.n_pos < 30 { format!(" (few: {})", slice.n_pos) } else { String::new() };
            format!("{}{few}", figure(&slice.recall))
        });
        table.row(std::iter::once(detector.shown()).chain(cells));
    }
    let title = format!("Injection recall at {} by surface, whole population", analysis.settings.threshold);
    TitledTable::new(title, table)
}

fn sources(analysis: &Analysis, task: Task) -> TitledTable {
    let at = analysis.settings.threshold;
    let mut table = Table::new([
        Column::text("detector"),
        Column::text("source"),
        Column::number("positives"),
        Column::number(format!("recall at {at}")),
        Column::number("negatives"),
        Column::number(format!("FPR at {at}")),
    ]);
    for detector in &analysis.detectors {
        let slices = detector.tasks.get(&task).map(|t| t.slices.iter().filter(|s| s.by == "source"));
        for slice in slices.into_iter().flatten().flat_map(|s| &s.slices) {
            let n = |n: u64| if (1..30).contains(&n) { format!("{n} (few)") } else { count(n) };
            let shown = |n: u64, rate: &crate::Figure| if n == 0 { String::new() } else { figure(rate) };
            table.row([
                detector.shown(),
                slice.name.clone(),
                n(slice.n_pos),
                shown(slice.n_pos, &slice.recall),
                n(slice.n_neg),
                shown(slice.n_neg, &slice.fpr),
            ]);
        }
    }
    TitledTable::new(format!("{} by source, whole population", task.title()), table)
}

fn sender_auth(analysis: &Analysis) -> Vec<TitledTable> {
    let mut table = Table::new([
        Column::text("detector"),
        Column::text("sender"),
        Column::number("n"),
        Column::number("positives"),
        Column::number("AUC"),
        Column::number(target(analysis)),
        Column::number("recall"),
        Column::number("FPR"),
    ]);
    let mut tiers = Table::new([
        Column::text("detector"),
        Column::number("verified"),
        Column::number("the rest"),
        Column::number("test recall"),
        Column::number("test FPR"),
        Column::number("single threshold"),
        Column::number("test recall"),
        Column::number("test FPR"),
    ]);
    for detector in &analysis.detectors {
        let slices = detector.tasks.get(&Task::Injection).map(|t| t.slices.iter().filter(|s| s.by == "sender_auth"));
        for slice in slices.into_iter().flatten().flat_map(|s| &s.slices) {
            let cells = [
                count(slice.n_pos + slice.n_neg),
                count(slice.n_pos),
                number(slice.auc),
                number(slice.tpr_at_target_fpr),
                figure(&slice.recall),
                figure(&slice.fpr),
            ];
            table.row([detector.shown(), slice.name.clone()].into_iter().chain(cells));
        }
        if let Some(t) = detector.two_tier {
            let cells = [
                threshold(Some(t.t_verified)),
                threshold(Some(t.t_other)),
                number(t.test_recall),
                number(t.test_fpr),
                threshold(Some(t.single_threshold)),
                number(t.single_test_recall),
                number(t.single_test_fpr),
            ];
            tiers.row(std::iter::once(detector.shown()).chain(cells));
        }
    }
    vec![
        TitledTable::new("Injection task by sender authentication, whole population", table),
        TitledTable::new(
            "A threshold for verified senders and one for the rest, tuned on dev, read once on test",
            tiers,
        ),
    ]
}

fn views(analysis: &Analysis) -> Vec<TitledTable> {
    [("test half", &analysis.views_test), ("whole population", &analysis.views)]
        .into_iter()
        .filter(|(_, views)| !views.is_empty())
        .flat_map(|(rows, views)| views_on(analysis, rows, views))
        .collect()
}

fn views_on(analysis: &Analysis, rows: &str, views: &[ViewResult]) -> [TitledTable; 2] {
    let mut table = Table::new([
        Column::text("detector"),
        Column::text("view"),
        Column::number("AUC"),
        Column::number(target(analysis)),
        Column::number("recall"),
        Column::number("FPR"),
        Column::number("recall that structure costs"),
    ]);
    let mut by_surface = Table::new([
        Column::text("detector"),
        Column::text("surface"),
        Column::number("n"),
        Column::number("canonical recall"),
        Column::number("naive recall"),
        Column::number("difference"),
    ]);
    for view in views {
        for (name, points, lost) in
            [("canonical", &view.canonical, signed(&view.recall_lost)), ("naive", &view.naive, String::new())]
        {
            let cells = [
                figure(&points.auc),
                figure(&points.tpr_at_target_fpr),
                figure(&points.recall),
                figure(&points.fpr),
                lost,
            ];
            table.row([view.detector.clone(), name.into()].into_iter().chain(cells));
        }
        for s in &view.surfaces {
            let few = if s.n_pos < 30 { " (few)" } else { "" };
            let cells =
                [format!("{}{few}", count(s.n_pos)), figure(&s.canonical), figure(&s.naive), signed(&s.recall_lost)];
            by_surface.row([view.detector.clone(), s.name.clone()].into_iter().chain(cells));
        }
    }
    [
        TitledTable::new(format!("Canonical against naive view: injection task, {rows}"), table),
        TitledTable::new(format!("What structure alone costs by surface, {rows}"), by_surface),
    ]
}

fn calibration(analysis: &Analysis) -> TitledTable {
    let mut table = Table::new([
        Column::text("detector"),
        Column::text("task"),
        Column::number("ECE"),
        Column::number("largest bin error"),
        Column::number("Brier score"),
    ]);
    for detector in &analysis.detectors {
        for (task, result) in &detector.tasks {
            let c = result.calibration.as_ref();
            let cells = [c.map(|c| c.expected_error), c.map(|c| c.maximum_error), c.map(|c| c.brier)].map(number);
            table.row([detector.shown(), task.to_string()].into_iter().chain(cells));
        }
    }
    TitledTable::new("Calibration on the test half", table)
}

fn cost(analysis: &Analysis) -> TitledTable {
    let mut table = Table::new([
        Column::text("detector"),
        Column::number("p50 ms"),
        Column::number("p95 ms"),
        Column::number("requests"),
        Column::number("tokens sent"),
        Column::number("tokens answered"),
        Column::number("$ per 1,000"),
    ]);
    for detector in &analysis.detectors {
        let c = detector.cost;
        let ms = |v: Option<f64>| v.map_or("not given".into(), |v| format!("{v:.1}"));
        table.row([
            detector.shown(),
            ms(c.latency_ms_p50),
            ms(c.latency_ms_p95),
            count(c.requests),
            count(c.input_tokens),
            count(c.output_tokens),
            c.dollars_per_1000.map_or("no price".into(), |v| format!("{v:.3}")),
        ]);
    }
    TitledTable::new("Latency and cost", table)
}

fn population(analysis: &Analysis) -> TitledTable {
    let mut table = Table::new([
        Column::text("count"),
        Column::number("published"),
        Column::number("here"),
        Column::number("difference"),
    ]);
    for part in &analysis.population.recipe {
        let difference = i128::from(part.here) - i128::from(part.published);
        let difference = if difference == 0 { "same".into() } else { format!("{difference:+}") };
        table.row([part.part.clone(), count(part.published), count(part.here), difference]);
    }
    let p = &analysis.population;
    let mut titled = TitledTable::new("Population against the published recipe", table);
    titled.notes.push(format!(
        "{} records; {} with a PDF are held out to the vision track; {} lack a judge's score",
        count(p.manifest),
        count(p.pdf_held_out),
        count(p.not_covered)
    ));
    titled
}

fn split(analysis: &Analysis) -> TitledTable {
    let mut table = Table::new([
        Column::text("groups by"),
        Column::number("groups"),
        Column::number("in both halves"),
        Column::number("dev rows in both"),
        Column::number("test rows in both"),
        Column::number("of test rows"),
    ]);
    for (name, l) in [("base payload", analysis.split.base_payload), ("base scenario", analysis.split.base_scenario)] {
        let cells = [l.groups, l.groups_in_both, l.dev_rows_in_both, l.test_rows_in_both, l.test_rows];
        table.row(std::iter::once(name.to_owned()).chain(cells.map(|n| count(n as u64))));
    }
    TitledTable::new("How far dev and test know each other", table)
}
