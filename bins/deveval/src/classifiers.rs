//! Classifier defenses from score tables.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use wardline_classifier::{
    ClassifierDefense, ClassifierReport, CorpusTexts, Drop, Scope, ScoreTable, changed_outputs, drop_under_transform,
    labels, report,
};
use wardline_cli::{Failure, Stdout};
use wardline_defense::{Defense, Kind, Scenario, Source};

use crate::args::ScoreArgs;
use crate::score::in_suite;
use crate::{corpora, output};

/// The score tables of a command line, which cover its corpus.
pub(crate) struct Classifiers {
    tables: Vec<Named>,
    scopes: Vec<Scope>,
    threshold: f64,
}

struct Named {
    label: String,
    /// As it was given, for errors.
    path: String,
    table: Arc<ScoreTable>,
}

impl Classifiers {
    /// Reads the tables.
    pub(crate) fn read(args: &ScoreArgs) -> Result<Self, Failure> {
        let mut scopes = args.scopes.clone();
        if scopes.is_empty() {
            scopes = Scope::ALL.to_vec();
        }
        scopes.sort_unstable();
        scopes.dedup();
        Ok(Self { tables: named(&args.scores)?, scopes, threshold: args.threshold() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Refuses tables that lack texts of the corpus.
    pub(crate) fn require(&self, texts: &CorpusTexts) -> Result<(), Failure> {
        for t in &self.tables {
            t.table.require(&t.path, texts.iter().map(|t| &**t))?;
        }
        Ok(())
    }

    /// A row for each table and scope.
    pub(crate) fn defenses(&self) -> Result<Vec<Box<dyn Defense>>, Failure> {
        let mut all: Vec<Box<dyn Defense>> = Vec::new();
        for t in &self.tables {
            for &scope in &self.scopes {
                all.push(Box::new(ClassifierDefense::new(&t.label, Arc::clone(&t.table), scope, self.threshold)?));
            }
        }
        Ok(all)
    }

    /// The defense of this name, `<label>-<scope>@<threshold>`, when one of the tables has the label.
    pub(crate) fn named(&self, name: &str) -> Option<Result<Box<dyn Defense>, Failure>> {
        let (before, threshold) = name.rsplit_once('@')?;
        let (label, scope) = before.rsplit_once('-')?;
        let table = self.tables.iter().find(|t| t.label == label)?;
        let (scope, threshold) = (scope.parse().ok()?, threshold.parse().ok()?);
        let defense = ClassifierDefense::new(label, Arc::clone(&table.table), scope, threshold);
        Some(defense.map(|d| Box::new(d) as Box<dyn Defense>).map_err(Failure::from))
    }

    /// What each classifier does to the corpus.
    pub(crate) fn reports(
        &self,
        scenarios: &[Scenario],
        texts: &CorpusTexts,
    ) -> Result<Vec<ClassifierReport>, Failure> {
        self.tables.iter().map(|t| Ok(report(&t.label, &t.table, self.threshold, scenarios, texts)?)).collect()
    }

    /// The same for each attack; the benign scenarios count in each.
    pub(crate) fn by_attack(&self, scenarios: &[Scenario]) -> Result<BTreeMap<String, Vec<ClassifierReport>>, Failure> {
        let mut parts: BTreeMap<&str, Vec<Scenario>> = BTreeMap::new();
        for attack in scenarios.iter().filter_map(|s| s.attack.as_deref()) {
            parts.entry(attack).or_default();
        }
        for s in scenarios {
            for (attack, part) in &mut parts {
                if s.kind == Kind::Benign || s.attack.as_deref() == Some(attack) {
                    part.push(s.clone());
                }
            }
        }
        let reports = |part: Vec<Scenario>| self.reports(&part, &CorpusTexts::of(&part));
        parts.into_iter().map(|(attack, part)| Ok((attack.to_owned(), reports(part)?))).collect()
    }
}

/// Reads tables given as `PATH` or `LABEL=PATH`.
fn named(given: &[String]) -> Result<Vec<Named>, Failure> {
    let mut read = Vec::with_capacity(given.len());
    for spec in given {
        let (label, path) = match spec.split_once('=') {
            Some((label, path)) if !Path::new(spec).exists() => (Some(label), path),
            _ => (None, spec.as_str()),
        };
        if let Some(label) = label.filter(|l| l.is_empty() || l.contains([',', ':', '@'])) {
            return Err(Failure::usage(format!(
                "--scores {spec}: a label {label:?} cannot be part of a defense's name"
            )));
        }
        if path.is_empty() {
            return Err(Failure::usage(format!("--scores {spec:?} names no table")));
        }
        read.push((label, path, ScoreTable::read(Path::new(path))?));
    }
    let own = labels(&read.iter().filter(|r| r.0.is_none()).map(|r| &r.2).collect::<Vec<_>>())?;
    let mut own = own.into_iter();
    let mut named: Vec<Named> = Vec::with_capacity(read.len());
    for (label, path, table) in read {
        let label = label.map(str::to_owned).or_else(|| own.next()).unwrap_or_default();
        if named.iter().any(|n| n.label == label) {
            return Err(Failure::usage(format!("two score tables are named {label}; name them, as in NAME=TABLE")));
        }
        named.push(Named { label, path: path.to_owned(), table: Arc::new(table) });
    }
    Ok(named)
}

/// How a transform lowers the scores of each model.
#[derive(Serialize)]
pub(crate) struct DropReport {
    pub(crate) schema: &'static str,
    pub(crate) corpus: String,
    pub(crate) transform: String,
    pub(crate) threshold: f64,
    pub(crate) models: Vec<Drop>,
}

/// Compares tables on a transformed corpus with tables of the same models on the corpus without it.
pub(crate) fn drops(args: &ScoreArgs, out: &mut Stdout) -> Result<(), Failure> {
    let Some(transform) = args.corpus.strip_prefix("attacks-") else {
        return Err(Failure::usage(
            "--baseline-scores goes with a transformed corpus, such as attacks-leet, and the baseline is attacks"
                .to_owned(),
        ));
    };
    if args.scores.is_empty() {
        return Err(Failure::usage(
            "--baseline-scores needs --scores with the tables of the transformed corpus".to_owned(),
        ));
    }
    let (after, before) = (named(&args.scores)?, named(&args.baseline_scores)?);
    let data = args.data_dir.as_deref();
    let (transformed, baseline) = (corpora::load(&args.corpus, data)?, corpora::load("attacks", data)?);
    let suite = args.suite.as_deref();
    let transformed = in_suite(transformed.scenarios(), suite, &args.corpus)?;
    let baseline = in_suite(baseline.scenarios(), suite, "attacks")?;
    let changed = changed_outputs(&baseline, &transformed)?;
    let (texts, baseline_texts) = (CorpusTexts::of(&transformed), CorpusTexts::of(&baseline));
    let mut models = Vec::with_capacity(after.len());
    for t in &after {
        let same = |b: &&Named| b.table.model == t.table.model && b.table.chunking == t.table.chunking;
        let base = before
            .iter()
            .find(same)
            .ok_or_else(|| Failure::usage(format!("no baseline table of {} cut as in {}", t.table.model, t.path)))?;
        if base.table.revision != t.table.revision || base.table.positive_label != t.table.positive_label {
            return Err(Failure::usage(format!("{} and {} are of other revisions or labels", base.path, t.path)));
        }
        t.table.require(&t.path, texts.iter().map(|t| &**t))?;
        base.table.require(&base.path, baseline_texts.iter().map(|t| &**t))?;
        models.push(drop_under_transform(
            &t.label,
            (&base.path, &base.table),
            (&t.path, &t.table),
            args.threshold(),
            &changed,
        )?);
    }
    let report = DropReport {
        schema: output::SCHEMA,
        corpus: args.corpus.clone(),
        transform: transform.to_owned(),
        threshold: args.threshold(),
        models,
    };
    output::drops(&report, args.format, out)
}
