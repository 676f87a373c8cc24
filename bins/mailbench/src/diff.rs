//! `mailbench diff`: what changed between two analyses.

use std::io::Write;
use std::path::PathBuf;

use wardline_analysis::{Changes, read_analysis};
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
    let (causes, movements) = tables(&changes);
    match args.format {
        Format::Json => out.write_all(json(&changes)?.as_bytes())?,
        Format::Csv => out.write_all(movements.to_csv().as_bytes())?,
        Format::Text if changes.is_empty() => writeln!(out, "nothing changed")?,
        Format::Text => write!(out, "{}\n{}", causes.to_text(), movements.to_text())?,
        Format::Markdown => write!(out, "{}\n{}", causes.to_markdown(), movements.to_markdown())?,
    }
    Ok(if args.exit_code && !changes.is_empty() { Exit::Failed } else { Exit::Ok })
}

fn tables(changes: &Changes) -> (Table, Table) {
    let mut causes = Table::new([Column::text("changed"), Column::text("before"), Column::text("after")]);
    for c in &changes.causes {
        causes.row([c.what.clone(), c.before.clone(), c.after.clone()]);
    }
    let mut movements = Table::new([
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
        movements.row([
            m.task.to_string(),
            m.rows.clone(),
            m.detector.clone(),
            m.measure.clone(),
            number(m.before),
            number(m.after),
            difference,
            if m.outside_interval { "yes" } else { "no" }.into(),
        ]);
    }
    (causes, movements)
}
