//! `mailbench diff`: what changed between two analyses.

use std::io::Write;
use std::path::PathBuf;

use wardline_analysis::{Changes, Task, read_analysis};
use wardline_cli::{Exit, Failure, Stdout};
use wardline_report::{Column, Table};

use crate::results::{Format, json};

/// Name what changed between two analyses: records, versions, settings, predictions, and the numbers that moved.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// analysis.json of the earlier result
    before: PathBuf,
    /// analysis.json of the later result
    after: PathBuf,
    /// Exit with 1 when anything changed
    #[arg(long)]
    exit_code: bool,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let changes = Changes::between(&read_analysis(&args.before)?, &read_analysis(&args.after)?);
    match args.format {
        Format::Json => out.write_all(json(&changes)?.as_bytes())?,
        Format::Csv => out.write_all(csv(&changes).to_csv().as_bytes())?,
        Format::Text if changes.is_empty() => writeln!(out, "nothing changed")?,
        Format::Text => write!(out, "{}\n{}", causes(&changes).to_text(), movements(&changes).to_text())?,
        Format::Markdown => write!(out, "{}\n{}", causes(&changes).to_markdown(), movements(&changes).to_markdown())?,
    }
    Ok(if args.exit_code && !changes.is_empty() { Exit::Failed } else { Exit::Ok })
}

fn causes(changes: &Changes) -> Table {
    let mut table = Table::new([Column::text("changed"), Column::text("before"), Column::text("after")]);
    for c in &changes.causes {
        table.row([c.what.clone(), c.before.clone(), c.after.clone()]);
    }
    table
}

fn movements(changes: &Changes) -> Table {
    let mut table = Table::new([
        Column::text("task"),
        Column::text("rows"),
        Column::text("detector"),
        Column::text("measure"),
        Column::number("before"),
        Column::number("after"),
        Column::number("difference"),
        Column::text("beyond the earlier interval"),
    ]);
    for m in &changes.movements {
        let number = |v: Option<f64>| v.map_or("undefined".into(), |v| format!("{v:.6}"));
        let difference = m.before.zip(m.after).map_or("undefined".into(), |(a, b)| format!("{:+.6}", b - a));
        table.row([
            m.task.map_or("any", Task::as_str).to_owned(),
            if m.slice.is_empty() { m.rows.clone() } else { format!("{}, {}", m.rows, m.slice) },
            m.detector.clone(),
            m.measure.clone(),
            number(m.before),
            number(m.after),
            difference,
            if m.outside_interval { "yes" } else { "no" }.into(),
        ]);
    }
    table
}

/// Causes and movements in one table, in full precision.
fn csv(changes: &Changes) -> Table {
    let names = ["kind", "what", "task", "rows", "slice", "detector", "measure", "before", "after", "difference"];
    let mut table = Table::new(names.into_iter().chain(["outside_interval"]).map(Column::text));
    for c in &changes.causes {
        let [what, before, after] = [&c.what, &c.before, &c.after].map(String::as_str);
        table.row(["cause", what, "", "", "", "", "", before, after, "", ""].map(str::to_owned));
    }
    for m in &changes.movements {
        let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
        table.row([
            "movement".to_owned(),
            String::new(),
            m.task.map_or("", Task::as_str).to_owned(),
            m.rows.clone(),
            m.slice.clone(),
            m.detector.clone(),
            m.measure.clone(),
            number(m.before),
            number(m.after),
            number(m.before.zip(m.after).map(|(a, b)| b - a)),
            m.outside_interval.to_string(),
        ]);
    }
    table
}
