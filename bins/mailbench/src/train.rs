//! `mailbench train`: the local baseline, trained on one half of a corpus.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use wardline_cli::{Exit, Failure, Stdout};
use wardline_detectors::{Example, Needs, Preparer, Task, TrainOptions, file_digest, train_ngram};
use wardline_email_corpus::{BaseFolder, EmailRecord, EvalRole, ManifestReader};
use wardline_metrics::{Half, grouped_split};

use crate::score::ViewArg;

/// Train the n-gram baseline on the dev half of a manifest
///
/// The halves are those of the analysis: groups take turns within each role and source. The other half is never looked at, and the
/// model refuses to score the records that it was trained on.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Manifest to take the examples from
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
    /// Folder that the manifest's eml_path is relative to [default: the manifest's]
    #[arg(long, value_name = "DIR")]
    base_dir: Option<PathBuf>,
    /// What to look for
    #[arg(long, value_enum)]
    task: What,
    /// The reading of messages
    #[arg(long, value_enum, default_value_t = ViewArg::Canonical)]
    view: ViewArg,
    /// Model file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Instructions to an agent
    Injection,
    /// Phishing, scam and spam
    Phishing,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let records: Vec<EmailRecord> = ManifestReader::open(&args.manifest)?.collect::<Result<_, _>>()?;
    let strata: Vec<_> = records.iter().map(|r| (r.role(), r.provenance.source.as_str())).collect();
    let groups: Vec<&str> = records.iter().map(EmailRecord::group).collect();
    let halves = grouped_split(&strata, &groups)?;
    let parent = args.manifest.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let base = BaseFolder::open(args.base_dir.as_deref().unwrap_or(parent))?;
    let preparer = Preparer::new(base, args.view.into());
    let (task, wanted) = match args.task {
        What::Injection => (Task::Injection, EvalRole::PiPositive),
        What::Phishing => (Task::Phishing, EvalRole::Phishing),
    };
    let mut examples = Vec::new();
    for (record, half) in records.iter().zip(halves) {
        let role = record.role();
        if half != Half::Dev || (role != wanted && role != EvalRole::Negative) {
            continue;
        }
        let input = preparer.prepare(record.clone(), Needs::TEXT, None)?;
        examples.push(Example { id: record.id.clone(), text: input.text()?.to_owned(), positive: role == wanted });
    }
    let digest = file_digest(&args.manifest)?;
    let model = train_ngram(task, &digest, &examples, &TrainOptions::default())?;
    model.write(&args.out)?;
    let (positives, negatives) = model.examples;
    writeln!(out, "{}: {positives} positive and {negatives} negative examples of the dev half", args.out.display())?;
    Ok(Exit::Ok)
}
