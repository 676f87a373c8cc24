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

/// Prints results in a format; warnings go before tables, for a reader of text.
pub(crate) fn print(
    out: &mut Stdout,
    format: Format,
    value: &impl Serialize,
    csv: impl FnOnce() -> String,
    titled: &[TitledTable],
    warnings: &[&str],
) -> Result<(), Failure> {
    match format {
        Format::Json => out.write_all(json(value)?.as_bytes())?,
        Format::Csv => out.write_all(csv().as_bytes())?,
        Format::Text => {
            for warning in warnings {
                writeln!(out, "warning: {}", warning.replace(['\r', '\n'], " "))?;
            }
            if !warnings.is_empty() {
                writeln!(out)?;
            }
            out.write_all(tables(titled, false).as_bytes())?;
        }
        Format::Markdown => {
            for warning in warnings {
                writeln!(out, "> warning: {}\n", warning.replace(['\r', '\n'], " "))?;
            }
            out.write_all(tables(titled, true).as_bytes())?;
        }
    }
    Ok(())
}
