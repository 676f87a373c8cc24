//! `mailbench detectors`: what there is, and what each needs.

use std::io::Write;

use clap::ValueEnum;
use serde_json::json;
use wardline_cli::{Exit, Failure, Stdout};

use crate::score::catalog::{CATALOG, missing};

/// List the detectors, what each needs, and which keys are missing
///
/// Keys and addresses are read from the environment. They are shown here as set or missing, never by value.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    if args.format == Format::Json {
        let rows: Vec<_> = CATALOG
            .iter()
            .map(|e| {
                json!({"detector": e.spec, "task": e.task, "required": e.required, "optional": e.optional,
                    "missing": missing(e), "about": e.about})
            })
            .collect();
        serde_json::to_writer_pretty(&mut *out, &json!({"schema": "mailbench-detectors/1", "detectors": rows}))?;
        writeln!(out)?;
        return Ok(Exit::Ok);
    }
    for entry in CATALOG {
        writeln!(out, "{:<24} {:<12} {}", entry.spec, entry.task, entry.about)?;
        let lacking = missing(entry);
        for names in entry.required {
            let state = if lacking.contains(names) { "missing" } else { "set" };
            writeln!(out, "{:<24} {:<12} {}: {state}", "", "", names.replace('|', " or "))?;
        }
        for name in entry.optional {
            writeln!(out, "{:<24} {:<12} {name}: optional", "", "")?;
        }
    }
    Ok(Exit::Ok)
}
