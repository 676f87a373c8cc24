//! What the subcommands that read results share: input, formats, output.

use std::io::Write;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;
use wardline_analysis::{OutputFolder, RunRequest, TitledTable};
use wardline_cli::{Failure, Stdout};
use wardline_report::markdown_text;

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns.
    Text,
    /// Everything, with full precision.
    Json,
    /// One row a figure.
    Csv,
    /// Tables for a README.
    Markdown,
}

/// Where predictions come from.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Input {
    /// Folder with one predictions file a detector (.jsonl), and manifest_used.jsonl
    run: PathBuf,
    /// Manifest to read in place of the run's manifest_used.jsonl
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// A detector that must be there; only those named are read [default: all]
    #[arg(long = "detector", value_name = "NAME")]
    detectors: Vec<String>,
    /// A judge, beside those whose rows or names say so: judges define the population
    #[arg(long = "judge", value_name = "NAME")]
    judges: Vec<String>,
    /// Go on without detectors or ids that are absent, and say what is missing
    #[arg(long)]
    allow_missing_predictions: bool,
    /// Read only the first N records of the manifest
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    limit: Option<NonZeroU64>,
}

impl Input {
    pub(crate) fn request(&self) -> RunRequest {
        RunRequest {
            folder: self.run.clone(),
            manifest: self.manifest.clone(),
            detectors: self.detectors.clone(),
            judges: self.judges.clone(),
            allow_missing: self.allow_missing_predictions,
            limit: self.limit,
        }
    }

    /// The run folder of the same detectors on another view, over the same manifest.
    pub(crate) fn other_view(&self, folder: &Path) -> RunRequest {
        let manifest = self.manifest.clone().unwrap_or_else(|| self.run.join("manifest_used.jsonl"));
        RunRequest {
            folder: folder.to_owned(),
            manifest: Some(manifest),
            detectors: Vec::new(),
            judges: Vec::new(),
            allow_missing: self.allow_missing_predictions,
            limit: self.limit,
        }
    }

    pub(crate) fn allows_missing(&self) -> bool {
        self.allow_missing_predictions
    }
}

/// The folder for results, tried before anything is computed.
pub(crate) fn open_output(folder: Option<&PathBuf>) -> Result<Option<OutputFolder>, Failure> {
    Ok(folder.map(|folder| OutputFolder::open(folder)).transpose()?)
}

pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Every table in one text.
pub(crate) fn tables(tables: &[TitledTable], markdown: bool) -> String {
    let mut text = String::new();
    for titled in tables {
        let heading =
            if markdown { format!("## {}\n\n", markdown_text(&titled.title)) } else { format!("{}\n\n", titled.title) };
        text.push_str(&heading);
        if let Some(table) = &titled.table {
            text.push_str(&if markdown { table.to_markdown() } else { table.to_text() });
        }
        for note in &titled.notes {
            let note = if markdown { &markdown_text(note) } else { note };
            text.push_str(&format!("\n{note}\n"));
        }
        text.push('\n');
    }
    text
}

/// What the reader must not miss, one line each and an empty one after them, to stand before tables.
pub(crate) fn warning_lines(warnings: &[&str], markdown: bool) -> String {
    let line = |w: &&str| {
        let w = w.replace(char::is_control, " ");
        if markdown { format!("> warning: {}\n\n", markdown_text(&w)) } else { format!("warning: {w}\n") }
    };
    let mut text: String = warnings.iter().map(line).collect();
    if !markdown && !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Prints results in a format. Warnings go before tables, and to standard error beside CSV, which has no place for them.
pub(crate) fn print(
    out: &mut Stdout,
    format: Format,
    value: &impl Serialize,
    csv: impl FnOnce() -> String,
    titled: &[TitledTable],
    warnings: &[&str],
) -> Result<(), Failure> {
    let text = match format {
        Format::Json => json(value)?,
        Format::Csv => {
            for line in warning_lines(warnings, false).lines().filter(|l| !l.is_empty()) {
                // Nobody may be listening there.
                let _ = writeln!(std::io::stderr(), "{line}");
            }
            csv()
        }
        Format::Text => warning_lines(warnings, false) + &tables(titled, false),
        Format::Markdown => warning_lines(warnings, true) + &tables(titled, true),
    };
    Ok(out.write_all(text.as_bytes())?)
}
