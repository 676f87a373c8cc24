use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use wardline_email_corpus::{EvalRole, ThreatType};
use wardline_metrics::{Half, grouped_split, leakage};

use super::result::{Population, RecipePart, SplitAudit, TaskCounts};
use super::settings::GroupBy;
use crate::input::hex;
use crate::{AnalysisError, Column, Record, Run, Task};

/// The records that are analysed: their rows in the manifest, and the groups that belong together, numbered in sorted order.
pub(super) struct Rows {
    pub(super) rows: Vec<usize>,
    pub(super) payload: Vec<u32>,
    pub(super) scenario: Vec<u32>,
    pub(super) not_covered: u64,
    pub(super) pdf: u64,
}

/// Numbers keys in sorted order.
fn numbers<'a>(keys: impl Iterator<Item = &'a str> + Clone) -> Vec<u32> {
    let mut known: BTreeMap<&str, u32> = keys.clone().map(|k| (k, 0)).collect();
    for (n, number) in (0..).zip(known.values_mut()) {
        *number = n;
    }
    keys.map(|k| known[k]).collect()
}

impl Rows {
    /// Every record without a PDF that every judge covers.
    pub(super) fn select(run: &Run, judges: &[&Column]) -> Result<Self, AnalysisError> {
        let (mut rows, mut pdf, mut not_covered) = (Vec::new(), 0, 0);
        for (row, record) in run.manifest.records.iter().enumerate() {
            if record.is_pdf() {
                pdf += 1;
            } else if judges.iter().all(|j| j.covers(row)) {
                rows.push(row);
            } else {
                not_covered += 1;
            }
        }
        if rows.is_empty() {
            return Err(AnalysisError::Request(
                "no record is left: every one is a PDF or lacks a judge's score".into(),
            ));
        }
        let records = || rows.iter().map(|&row| &run.manifest.records[row]);
        let payload = numbers(records().map(|r| r.payload.as_str()));
        let scenario = numbers(records().map(|r| r.scenario.as_str()));
        Ok(Self { payload, scenario, rows, not_covered, pdf })
    }

    pub(super) fn groups(&self, by: GroupBy) -> &[u32] {
        match by {
            GroupBy::BasePayloadId => &self.payload,
            GroupBy::BaseScenarioId => &self.scenario,
        }
    }

    /// The stratified split: strata are class and source.
    pub(super) fn split(&self, run: &Run, by: GroupBy) -> Result<Vec<Half>, AnalysisError> {
        let strata: Vec<(EvalRole, &str)> =
            self.rows.iter().map(|&row| &run.manifest.records[row]).map(|r| (r.role, r.source.as_str())).collect();
        grouped_split(&strata, self.groups(by)).map_err(AnalysisError::metrics("the split into dev and test"))
    }

    pub(super) fn audit(&self, halves: &[Half]) -> Result<SplitAudit, AnalysisError> {
        let count = |groups: &[u32]| leakage(halves, groups).map_err(AnalysisError::metrics("the split's audit"));
        Ok(SplitAudit { base_payload: count(&self.payload)?, base_scenario: count(&self.scenario)? })
    }

    /// What makes two populations the same.
    pub(super) fn signature(&self, run: &Run) -> String {
        let mut records: Vec<&Record> = self.rows.iter().map(|&row| &run.manifest.records[row]).collect();
        records.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        let mut hash = Sha256::new();
        hash.update(b"wardline-population-1");
        for r in records {
            for part in [r.id.as_str(), r.role.as_str(), &r.source, r.auth.as_str(), &r.payload, &r.scenario] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        hex(&hash.finalize())
    }

    pub(super) fn counts(&self, run: &Run, halves: &[Half]) -> Population {
        let half = |wanted: Half| halves.iter().filter(|h| **h == wanted).count() as u64;
        let mut tasks = BTreeMap::new();
        for task in Task::PUBLISHED {
            let mut counts = TaskCounts::default();
            for (&row, half) in self.rows.iter().zip(halves) {
                let test = u64::from(*half == Half::Test);
                match task.label(&run.manifest.records[row]) {
                    Some(true) => (counts.n_pos, counts.test_pos) = (counts.n_pos + 1, counts.test_pos + test),
                    Some(false) => (counts.n_neg, counts.test_neg) = (counts.n_neg + 1, counts.test_neg + test),
                    None => {}
                }
            }
            tasks.insert(task, counts);
        }
        let mut population = Population {
            manifest: run.manifest.records.len() as u64,
            pdf_held_out: self.pdf,
            not_covered: self.not_covered,
            text_ids: self.rows.len() as u64,
            dev: half(Half::Dev),
            test: half(Half::Test),
            tasks,
            recipe: Vec::new(),
        };
        population.recipe = recipe(&run.manifest.records, &population);
        population
    }
}

/// A part of the published recipe: its name, its count, and which records are of it.
type Part = (&'static str, u64, fn(&Record) -> bool);

/// The parts of the published recipe and its counts, beside those that are here.
fn recipe(records: &[Record], population: &Population) -> Vec<RecipePart> {
    let named = ["injecagent", "agentdojo", "llmail-inject"];
    let parts: [Part; 10] = [
        ("injections, InjecAgent (62 payloads × 8)", 496, |r| {
            r.role == EvalRole::PiPositive && r.source == "injecagent"
        }),
        ("injections, AgentDojo (180 × 8)", 1440, |r| r.role == EvalRole::PiPositive && r.source == "agentdojo"),
        ("injections, LLMail-Inject (100 × 8)", 800, |r| {
            r.role == EvalRole::PiPositive && r.source == "llmail-inject"
        }),
        ("injections, own payloads (5 × 8) and adaptive (6 × 3)", 58, |_| false),
        ("negatives, SpamAssassin ham", 1500, |r| r.role == EvalRole::Negative && r.source == "ham_corpus"),
        ("negatives, NotInject", 339, |r| r.role == EvalRole::Negative && r.source == "notinject"),
        ("negatives, structure-matched controls (25 × 8) and other own", 200, |r| {
            r.role == EvalRole::Negative && r.source != "ham_corpus" && r.source != "notinject"
        }),
        ("phishing, Nazario", 1000, |r| {
            r.role == EvalRole::Phishing && r.threat_type != ThreatType::Spam && r.source == "phishing_corpus"
        }),
        ("phishing, SpamAssassin spam", 500, |r| r.role == EvalRole::Phishing && r.threat_type == ThreatType::Spam),
        ("phishing, own lures", 0, |r| {
            r.role == EvalRole::Phishing && r.threat_type != ThreatType::Spam && r.source != "phishing_corpus"
        }),
    ];
    let count = |of: &dyn Fn(&Record) -> bool| records.iter().filter(|r| of(r)).count() as u64;
    let mut rows: Vec<RecipePart> = parts
        .into_iter()
        .map(|(part, published, of)| {
            let own = |r: &Record| r.role == EvalRole::PiPositive && !named.contains(&r.source.as_str());
            let here = if published == 58 { count(&own) } else { count(&of) };
            RecipePart { part: part.into(), published, here }
        })
        .collect();
    let task = |t: Task| population.tasks.get(&t).copied().unwrap_or_default();
    let (pi, phishing) = (task(Task::Injection), task(Task::Phishing));
    let totals = [
        ("records", 6333, population.manifest),
        ("text population", 5955, population.text_ids),
        ("dev half", 2985, population.dev),
        ("test half", 2970, population.test),
        ("injections on test", 1217, pi.test_pos),
        ("phishing on test", 750, phishing.test_pos),
        ("negatives on test", 1003, pi.test_neg),
    ];
    rows.extend(totals.map(|(part, published, here)| RecipePart { part: part.into(), published, here }));
    rows
}
