//! The same results as tables.

use std::collections::BTreeMap;
use std::io::{self, Write};

use wardline_classifier::ClassifierReport;
use wardline_cli::Stdout;
use wardline_defense::{CrossedInterval, DefenseResult, EgressReach, LabelSweep, PairedRate, PairedResult, Rate};
use wardline_report::{Column, Table};

use super::Report;
use crate::classifiers::DropReport;

/// Every table with its heading, and a note where a figure needs one.
pub(crate) fn sections(
    report: &Report,
    out: &mut Stdout,
    draw: impl Fn(&Table) -> String,
    shown: impl Fn(&str) -> String,
    heading: &str,
) -> io::Result<()> {
    // Names that come from a command line or a score table go through `shown`.
    let of = report.suite.as_ref().map_or(String::new(), |s| format!(", suite {s}"));
    writeln!(out, "{heading}{}{of}: {}\n", report.corpus, extent(&report.results))?;
    write!(out, "{}", draw(&results(&report.results)))?;
    if let Some(versus) = &report.versus {
        let against = shown(versus.first().map_or("", |p| p.versus.as_str()));
        writeln!(out, "\n{heading}difference from {against} on the same scenarios, in percentage points\n")?;
        write!(out, "{}", draw(&differences(versus)))?;
    }
    if let Some(by_attack) = &report.by_attack {
        for (attack, rows) in by_attack {
            writeln!(out, "\n{heading}attack {attack}\n")?;
            write!(out, "{}", draw(&results(rows)))?;
        }
    }
    if report.by_suite.len() > 1 {
        writeln!(out, "\n{heading}by suite: blocked, attributable and kept\n")?;
        write!(out, "{}", draw(&suites(report)))?;
    }
    for classifier in &report.classifiers {
        writeln!(out, "\n{heading}classifier {}: {}\n", shown(&classifier.label), shown(&classifier.model))?;
        let c = classifier;
        writeln!(
            out,
            "At {} it flags {} of {} outputs read in benign tasks and {} of {} that carry an injection.\n",
            c.threshold,
            c.benign_outputs_flagged,
            c.benign_outputs_read,
            c.injected_outputs_detected,
            c.carrying_outputs_read
        )?;
        write!(out, "{}", draw(&results(&c.threshold_sweep)))?;
    }
    if !report.classifiers_by_attack.is_empty() {
        writeln!(out, "\n{heading}outputs that carry an injection, detected\n")?;
        write!(out, "{}", draw(&detected(&report.classifiers_by_attack)))?;
    }
    if let Some(ground) = &report.ground {
        let (labels, corrected) = (&ground.labels, &ground.flow_guard_corrected);
        writeln!(out, "\n{heading}labels\n")?;
        writeln!(
            out,
            "{} untrusted arguments in benign tasks: {} stand in the environment, {} in neither prompt nor environment.",
            labels.benign_untrusted, labels.environment, labels.neither
        )?;
        writeln!(
            out,
            "With these {} corrected to trusted, flow-guard blocks {} of {} and keeps {} of {}.",
            labels.neither, corrected.blocked, corrected.injections, corrected.kept, corrected.benign
        )?;
        if let Some(sweep) = &ground.label_sweep {
            writeln!(
                out,
                "\n{heading}flow-guard under wrong labels: {} trials a rate, seed {}, mean (least to most)\n",
                sweep.trials, sweep.seed
            )?;
            write!(out, "{}", draw(&wrong_labels(sweep)))?;
            let s = &sweep.stripped;
            writeln!(
                out,
                "\nWithout any labels it blocks {} of {} and keeps {} of {}.",
                s.blocked, s.injections, s.kept, s.benign
            )?;
        }
    }
    writeln!(out, "\n{}", notes(report))?;
    if report.corpus == crate::corpora::BUNDLED {
        writeln!(
            out,
            "These are the bundled scenarios, an illustration. The AgentDojo corpora: deveval corpora build, then \
             deveval --corpus pairs."
        )?;
    }
    Ok(())
}

/// What the intervals are, and what is no defense.
fn notes(report: &Report) -> String {
    let mut notes = Vec::new();
    if report.results.iter().any(|r| r.crossed.is_some()) {
        notes.push(
            "Intervals are at 95 %. Block and attributable rates: two-way interval, which is Wilson's with the effective sample size \
             that the two-way bootstrap variance over user tasks and injection tasks within suites gives (Student's t); at \
             0 % and 100 %, where a bootstrap has no spread, Wilson's over the fewer of the two. Utility: Wilson's.",
        );
    } else {
        notes.push("Intervals of rates are 95 % Wilson intervals.");
    }
    if report.versus.is_some() {
        notes.push("Differences: Student's t with the paired bootstrap variance over the same scenarios, and McNemar's exact test, which takes them for independent.");
    }
    if !report.allowed_destinations.is_empty() {
        notes.push("flow-guard has an allow-list of destinations.");
    }
    notes.push("allow-all and deny-all are controls, not defenses.");
    notes.join(" ")
}

pub(super) fn detected(by_attack: &BTreeMap<String, Vec<ClassifierReport>>) -> Table {
    let labels = by_attack.values().next().into_iter().flatten().map(|c| Column::number(c.label.as_str()));
    let mut table = Table::new([Column::text("attack")].into_iter().chain(labels));
    for (attack, reports) in by_attack {
        let cells = reports.iter().map(|c| format!("{} of {}", c.injected_outputs_detected, c.carrying_outputs_read));
        table.row([attack.clone()].into_iter().chain(cells));
    }
    table
}

/// Drops of scores under a transform.
pub(crate) fn drops(report: &DropReport) -> Table {
    let mut table = Table::new([Column::text("transform"), Column::text("model")].into_iter().chain(
        ["n", "mean drop", "min", "5 %", "25 %", "median", "75 %", "95 %", "max", "evaded"].map(Column::number),
    ));
    for m in &report.models {
        let q = m.quantiles.as_ref();
        let numbers = [
            m.mean,
            m.min,
            q.map(|q| q.q05),
            q.map(|q| q.q25),
            q.map(|q| q.q50),
            q.map(|q| q.q75),
            q.map(|q| q.q95),
            m.max,
        ];
        let cells = numbers.map(|x| x.map_or_else(|| "undefined".to_owned(), |x| format!("{x:.3}")));
        let words = [report.transform.clone(), m.model.clone(), m.n.to_string()];
        table.row(words.into_iter().chain(cells).chain([m.evaded.to_string()]));
    }
    table
}

pub(super) fn extent(rows: &[DefenseResult]) -> String {
    let Some(r) = rows.first() else { return "no defense".to_owned() };
    let unscored = match r.unscored {
        0 => String::new(),
        n => format!(" ({n} more have no call to stop and are unscored)"),
    };
    format!("{} injection scenarios{unscored}, {} benign tasks", r.injections, r.benign)
}

pub(super) fn results(rows: &[DefenseResult]) -> Table {
    let errors = rows.iter().any(|r| r.errors > 0);
    let mut columns = vec![
        Column::text("defense"),
        Column::number("blocked"),
        Column::number("block rate"),
        Column::number("attributable"),
        Column::number("attributable rate"),
        Column::number("halted in task"),
        Column::number("kept"),
        Column::number("utility"),
    ];
    if errors {
        columns.push(Column::number("errors"));
    }
    let mut table = Table::new(columns);
    for r in rows {
        table.row([
            label(r),
            format!("{} of {}", r.blocked, r.injections),
            percent(r.block_rate, r.crossed.and_then(|c| c.block_rate)),
            r.attributable.to_string(),
            percent(r.attributable_rate, r.crossed.and_then(|c| c.attributable_rate)),
            r.halted_in_task.to_string(),
            format!("{} of {}", r.kept, r.benign),
            percent(r.utility_rate, None),
            r.errors.to_string(),
        ]);
    }
    table
}

fn label(r: &DefenseResult) -> String {
    if r.control { format!("{} (control)", r.defense) } else { r.defense.clone() }
}

/// A rate with its two-way interval where there is one, else Wilson's.
fn percent(rate: Option<Rate>, crossed: Option<CrossedInterval>) -> String {
    let Some(rate) = rate else { return "undefined".to_owned() };
    let (low, high) = crossed.map_or((rate.low, rate.high), |c| (c.low, c.high));
    format!("{:.1} % ({:.1} to {:.1})", 100.0 * rate.value, 100.0 * low, 100.0 * high)
}

pub(super) fn differences(versus: &[PairedResult]) -> Table {
    let mut table = Table::new([
        Column::text("defense"),
        Column::text("rate"),
        Column::number("difference"),
        Column::number("95 % interval"),
        Column::number("only here"),
        Column::number("only there"),
        Column::number("McNemar p"),
    ]);
    for pair in versus {
        let rates =
            [("block", pair.block_rate), ("attributable", pair.attributable_rate), ("utility", pair.utility_rate)];
        for (name, rate) in rates {
            table.row(difference_cells(&pair.defense, name, &rate));
        }
    }
    table
}

fn difference_cells(defense: &str, name: &str, rate: &PairedRate) -> [String; 7] {
    let undefined = || "undefined".to_owned();
    [
        defense.to_owned(),
        name.to_owned(),
        rate.difference.map_or_else(undefined, |d| format!("{:+.1}", 100.0 * d)),
        rate.low.zip(rate.high).map_or_else(undefined, |(l, h)| format!("{:+.1} to {:+.1}", 100.0 * l, 100.0 * h)),
        rate.only_first.to_string(),
        rate.only_second.to_string(),
        format!("{:.2e}", rate.p_value),
    ]
}

fn suites(report: &Report) -> Table {
    let mut table = Table::new(
        [Column::text("defense")].into_iter().chain(report.by_suite.keys().map(|s| Column::number(s.as_str()))),
    );
    for overall in &report.results {
        let cells = report.by_suite.values().map(|rows| {
            rows.iter().find(|r| r.defense == overall.defense).map_or(String::new(), |r| {
                format!("{}/{}, {}, {}/{}", r.blocked, r.injections, r.attributable, r.kept, r.benign)
            })
        });
        table.row([label(overall)].into_iter().chain(cells));
    }
    table
}

pub(super) fn wrong_labels(sweep: &LabelSweep) -> Table {
    let mut table = Table::new([
        Column::text("wrong labels"),
        Column::number("rate"),
        Column::number("block rate"),
        Column::number("utility"),
    ]);
    for (axis, points) in [("missed taint", &sweep.missed_taint), ("over-taint", &sweep.over_taint)] {
        for p in points {
            let cell = |mean: f64, min: f64, max: f64| {
                format!("{:.0} % ({:.0} to {:.0})", 100.0 * mean, 100.0 * min, 100.0 * max)
            };
            table.row([
                axis.to_owned(),
                p.rate.to_string(),
                cell(p.block_mean, p.block_min, p.block_max),
                cell(p.utility_mean, p.utility_min, p.utility_max),
            ]);
        }
    }
    table
}

/// One row a table and defense, in full precision; of a sweep its points instead.
pub(crate) fn csv(report: &Report) -> String {
    if let Some(sweep) = report.ground.as_ref().and_then(|g| g.label_sweep.as_ref()) {
        return sweep_csv(sweep);
    }
    let names = [
        "corpus",
        "group",
        "name",
        "defense",
        "control",
        "injections",
        "blocked",
        "attributable",
        "halted_in_task",
        "benign",
        "kept",
        "unscored",
        "errors",
        "block_rate",
        "block_low",
        "block_high",
        "attributable_rate",
        "attributable_low",
        "attributable_high",
        "utility_rate",
        "utility_low",
        "utility_high",
        "block_crossed_low",
        "block_crossed_high",
        "attributable_crossed_low",
        "attributable_crossed_high",
    ];
    let mut table = Table::new(names.map(Column::text));
    let mut add = |group: &str, name: &str, rows: &[DefenseResult]| {
        for r in rows {
            let words = [&report.corpus, group, name, &r.defense].map(str::to_owned);
            let counts =
                [r.injections, r.blocked, r.attributable, r.halted_in_task, r.benign, r.kept, r.unscored, r.errors];
            let rates = [r.block_rate, r.attributable_rate, r.utility_rate];
            let cells = words.into_iter().chain([r.control.to_string()]);
            let cells = cells.chain(counts.map(|n| n.to_string()));
            let crossed = [r.crossed.and_then(|c| c.block_rate), r.crossed.and_then(|c| c.attributable_rate)];
            let bounds = crossed
                .into_iter()
                .flat_map(|c| c.map_or_else(Default::default, |c| [c.low, c.high].map(|x| x.to_string())));
            table.row(cells.chain(rates.into_iter().flat_map(rate_cells)).chain(bounds));
        }
    };
    add("all", "", &report.results);
    for (suite, rows) in &report.by_suite {
        add("suite", suite, rows);
    }
    for (attack, rows) in report.by_attack.iter().flatten() {
        add("attack", attack, rows);
    }
    table.to_csv()
}

fn rate_cells(rate: Option<Rate>) -> [String; 3] {
    rate.map_or_else(Default::default, |r| [r.value, r.low, r.high].map(|x| x.to_string()))
}

fn sweep_csv(sweep: &LabelSweep) -> String {
    let names = ["axis", "rate", "block_mean", "block_min", "block_max", "utility_mean", "utility_min", "utility_max"];
    let mut table = Table::new(names.map(Column::text));
    for (axis, points) in [("missed_taint", &sweep.missed_taint), ("over_taint", &sweep.over_taint)] {
        for p in points {
            let numbers =
                [p.rate, p.block_mean, p.block_min, p.block_max, p.utility_mean, p.utility_min, p.utility_max];
            table.row([axis.to_owned()].into_iter().chain(numbers.map(|x| x.to_string())));
        }
    }
    table.to_csv()
}

/// The injection tasks, each with what it needs.
pub(crate) fn reach(reach: &EgressReach) -> Table {
    let mut table =
        Table::new([Column::text("goal's calls"), Column::number("tasks"), Column::text("injection tasks")]);
    for (what, tasks) in
        [("only egress tools", &reach.only_egress), ("mixed", &reach.mixed), ("no egress tool", &reach.no_egress)]
    {
        table.row([what.to_owned(), tasks.len().to_string(), tasks.join(" ")]);
    }
    table
}
