//! Printing results.

mod page;
mod tables;

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;
use wardline_classifier::ClassifierReport;
use wardline_cli::{Failure, Stdout};
use wardline_defense::{DefenseResult, EgressReach, Exposure, LabelCounts, LabelSweep, PairedResult};
use wardline_report::markdown_text;

use crate::args::Format;
use crate::classifiers::DropReport;

pub(crate) use page::{PageFile, page};

/// Version of the JSON output.
pub(crate) const SCHEMA: &str = "wardline-deveval/1";

/// Defenses on a corpus. The field names are the JSON's.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) schema: &'static str,
    pub(crate) corpus: String,
    pub(crate) corpus_sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suite: Option<String>,
    /// What flow-guard was told to allow; empty when any destination passes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowed_destinations: Vec<String>,
    pub(crate) results: Vec<DefenseResult>,
    pub(crate) by_suite: BTreeMap<String, Vec<DefenseResult>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by_attack: Option<BTreeMap<String, Vec<DefenseResult>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) versus: Option<Vec<PairedResult>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exposure: Option<Exposure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exposure_by_attack: Option<BTreeMap<String, Exposure>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) classifiers: Vec<ClassifierReport>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) classifiers_by_attack: BTreeMap<String, Vec<ClassifierReport>>,
    #[serde(flatten)]
    pub(crate) ground: Option<Ground>,
}

/// What only the ground-truth corpus has.
#[derive(Serialize)]
pub(crate) struct Ground {
    pub(crate) labels: LabelCounts,
    pub(crate) flow_guard_corrected: DefenseResult,
    pub(crate) flow_guard_allows: Vec<String>,
    pub(crate) unscorable: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label_sweep: Option<LabelSweep>,
}

/// The injection tasks by the reach of an egress defense.
#[derive(Serialize)]
pub(crate) struct Reach {
    schema: &'static str,
    corpus: &'static str,
    only_egress: usize,
    mixed: usize,
    no_egress: usize,
    tasks: EgressReach,
}

impl Reach {
    pub(crate) fn new(tasks: EgressReach) -> Self {
        Self {
            schema: SCHEMA,
            corpus: crate::corpora::EGRESS_REACH,
            only_egress: tasks.only_egress.len(),
            mixed: tasks.mixed.len(),
            no_egress: tasks.no_egress.len(),
            tasks,
        }
    }
}

pub(crate) fn report(report: &Report, format: Format, out: &mut Stdout) -> Result<(), Failure> {
    match format {
        Format::Json => json(report, out)?,
        Format::Csv => write!(out, "{}", tables::csv(report))?,
        Format::Text => tables::sections(report, out, |t| t.to_text(), |s| s.to_owned(), "")?,
        Format::Markdown => tables::sections(report, out, |t| t.to_markdown(), markdown_text, "### ")?,
    }
    Ok(())
}

pub(crate) fn reach(reach: &Reach, format: Format, out: &mut Stdout) -> Result<(), Failure> {
    let table = tables::reach(&reach.tasks);
    match format {
        Format::Json => json(reach, out)?,
        Format::Csv => write!(out, "{}", table.to_csv())?,
        Format::Text => write!(out, "{}", table.to_text())?,
        Format::Markdown => write!(out, "{}", table.to_markdown())?,
    }
    Ok(())
}

pub(crate) fn drops(report: &DropReport, format: Format, out: &mut Stdout) -> Result<(), Failure> {
    let table = tables::drops(report);
    match format {
        Format::Json => json(report, out)?,
        Format::Csv => write!(out, "{}", table.to_csv())?,
        Format::Text => write!(out, "{}", table.to_text())?,
        Format::Markdown => write!(out, "{}", table.to_markdown())?,
    }
    Ok(())
}

fn json(value: &impl Serialize, out: &mut Stdout) -> Result<(), Failure> {
    writeln!(out, "{}", serde_json::to_string_pretty(value)?)?;
    Ok(())
}
