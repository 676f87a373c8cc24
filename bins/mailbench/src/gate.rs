//! `mailbench gate`: a detector must reach what is asked, or the build fails.

use std::io::Write;

use clap::ValueEnum;
use serde::Serialize;
use wardline_analysis::{Condition, GateResult, GateRows, Prepared, Run, Settings, Task, Verdict};
use wardline_cli::{Exit, Failure, Stdout};
use wardline_report::{Column, Table};

use crate::analyze::Statistics;
use crate::results::{Format, Input, json};

/// Decide whether a detector is good enough, on the bounds of intervals.
///
/// Exit code 0: every condition is met by the whole interval. 1: one is missed by the whole interval. 4: none is missed, but for
/// one the value lies within the interval, or the measure is undefined, so there are too few samples to say. Missing scores count
/// against the detector, a judge's too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    statistics: Statistics,
    /// The detector to decide on [default: the only one]
    #[arg(long, value_name = "NAME")]
    gate: Option<String>,
    #[arg(long, value_enum, default_value_t = TaskArg::Pi)]
    task: TaskArg,
    /// Rows to decide on
    #[arg(long, value_enum, default_value_t = RowsArg::Whole)]
    rows: RowsArg,
    /// At least: auc=V, ap=V, tpr@1%fpr=V, recall@T=V, precision@T=V
    #[arg(long, value_name = "MEASURE=VALUE")]
    min: Vec<Condition>,
    /// At most: fpr@T=V and the like
    #[arg(long, value_name = "MEASURE=VALUE")]
    max: Vec<Condition>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TaskArg {
    Pi,
    Phishing,
    #[value(name = "any_malicious")]
    AnyMalicious,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RowsArg {
    Whole,
    Test,
}

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    detector: &'a str,
    task: Task,
    confidence: f64,
    population_signature: String,
    results: &'a [GateResult],
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    if args.min.is_empty() && args.max.is_empty() {
        return Err(Failure::usage("nothing is asked: give --min or --max"));
    }
    let settings: Settings = args.statistics.settings();
    let run = Run::read(&args.input.request())?;
    let name = match (&args.gate, run.columns.as_slice()) {
        (Some(name), _) => name.clone(),
        (None, [only]) => only.detector.clone(),
        (None, several) => {
            return Err(Failure::usage(format!("{} detectors are there: name one with --gate", several.len())));
        }
    };
    let task = match args.task {
        TaskArg::Pi => Task::Injection,
        TaskArg::Phishing => Task::Phishing,
        TaskArg::AnyMalicious => Task::AnyMalicious,
    };
    let rows = match args.rows {
        RowsArg::Whole => GateRows::Whole,
        RowsArg::Test => GateRows::Test,
    };
    let prepared = Prepared::of_all_records(&run, &settings)?;
    let results = prepared.gate(&name, task, rows, &args.min, &args.max)?;
    let table = |undefined| table(&results, undefined);
    match args.format {
        Format::Json => {
            let report = Report {
                schema: "wardline-mail-gate/1",
                detector: &name,
                task,
                confidence: args.statistics.confidence,
                population_signature: prepared.population_signature(),
                results: &results,
            };
            out.write_all(json(&report)?.as_bytes())?;
        }
        Format::Csv => out.write_all(table("").to_csv().as_bytes())?,
        Format::Markdown => out.write_all(table("undefined").to_markdown().as_bytes())?,
        Format::Text => {
            writeln!(out, "{name}, {task}\n")?;
            out.write_all(table("undefined").to_text().as_bytes())?;
        }
    }
    let any = |verdict| results.iter().any(|r| r.verdict == verdict);
    Ok(if any(Verdict::NotMet) {
        Exit::Failed
    } else if any(Verdict::TooFew) {
        Exit::TooFew
    } else {
        Exit::Ok
    })
}

fn table(results: &[GateResult], undefined: &str) -> Table {
    let mut table = Table::new([
        Column::text("condition"),
        Column::number("found"),
        Column::number("low"),
        Column::number("high"),
        Column::number("positives"),
        Column::number("negatives"),
        Column::number("missing"),
        Column::text("verdict"),
    ]);
    for r in results {
        let number = |v: Option<f64>| v.map_or(undefined.into(), |v| format!("{v:.4}"));
        let sign = if r.bound == "min" { ">=" } else { "<=" };
        table.row([
            format!("{} {sign} {}", r.measure, r.value),
            number(r.found.value),
            number(r.found.interval.map(|i| i.low)),
            number(r.found.interval.map(|i| i.high)),
            r.rows.0.to_string(),
            r.rows.1.to_string(),
            r.missing.to_string(),
            match r.verdict {
                Verdict::Met => "met",
                Verdict::NotMet => "not met",
                Verdict::TooFew => "too few samples to say",
            }
            .into(),
        ]);
    }
    table
}
