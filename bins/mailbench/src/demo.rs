//! `mailbench demo`: the whole way on the embedded seeds, offline.

use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use wardline_analysis::{Column, Fault, Manifest, Prepared, Reading, Run, Settings, analysis_page, analysis_tables};
use wardline_cli::{Exit, Failure, Stdout};
use wardline_detectors::{Detector, Heuristics, Input, View, mail_facts};
use wardline_email_corpus::{BuildInputs, Corpus, Profile, assemble};
use wardline_segments::{Limits, naive_view};

use crate::analyze::warnings;
use crate::results::{json, open_output, tables};

const NAME: &str = "heuristics";

/// Build the embedded seeds in memory, run the heuristics on them, and write the page: no network, no data, a few seconds.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder for index.html and analysis.json
    #[arg(long, value_name = "DIR", default_value = "mailbench-demo")]
    output_dir: PathBuf,
    /// Bootstrap replicates
    #[arg(long, default_value_t = 1000)]
    replicates: usize,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let output = open_output(Some(&args.output_dir))?;
    let corpus = assemble(Profile::Seeds, &BuildInputs::default())?;
    let mut lines = String::new();
    for item in &corpus.items {
        lines.push_str(&item.record.to_line()?);
        lines.push('\n');
    }
    let manifest = Manifest::parse(lines.into_bytes(), Path::new("embedded seeds"))?;
    let heuristics = Heuristics::new(NAME)?;
    let column = |view| Column::new(NAME, readings(&corpus, &heuristics, view));
    let run = Run::new(manifest.clone(), vec![column(View::Canonical)])?;
    let naive = Run::new(manifest, vec![column(View::Naive)])?;
    let settings = Settings { replicates: args.replicates, ..Settings::default() };
    let prepared = Prepared::new(&run, &settings)?;
    let analysis = prepared.analyze(Some(&naive))?;
    let page = analysis_page("Heuristics on the embedded seeds", &analysis, &prepared.curves()?)?;
    if let Some(output) = output {
        output.write("analysis.json", json(&analysis)?.as_bytes())?;
        output.write("index.html", page.to_html().as_bytes())?;
    }
    writeln!(out, "{} messages built in memory, {} scored\n", corpus.items.len(), analysis.population.text_ids)?;
    for warning in warnings(&analysis) {
        writeln!(out, "warning: {warning}")?;
    }
    let wanted = |title: &str| title.contains("test half:") || title.contains("by surface, test half");
    let titled: Vec<_> = analysis_tables(&analysis).into_iter().filter(|t| wanted(&t.title)).collect();
    write!(out, "\n{}", tables(&titled, false))?;
    writeln!(out, "The page: {}", args.output_dir.join("index.html").display())?;
    Ok(Exit::Ok)
}

/// The detector's scores on a view of every message, in order.
fn readings(corpus: &Corpus, detector: &Heuristics, view: View) -> Vec<[Reading; 3]> {
    corpus
        .items
        .par_iter()
        .map(|item| {
            let Some(eml) = &item.eml else { return [Err(Fault::Absent); 3] };
            let input = match view {
                View::Naive => {
                    let mut input = Input::new(item.record.clone());
                    input.extraction = Some(naive_view(eml, &Limits::default()));
                    input.facts = Some(mail_facts(eml));
                    input
                }
                _ => Input::from_message(item.record.id.as_str(), eml.clone()),
            };
            match detector.predict_batch(&[input]).pop() {
                Some(Ok(v)) => [Ok(v.pi_score.unwrap_or(v.score)), Ok(v.phi_score.unwrap_or(v.score)), Ok(v.score)],
                _ => [Err(Fault::Error); 3],
            }
        })
        .collect()
}
