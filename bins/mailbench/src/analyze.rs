//! `mailbench analyze`: the published protocol on a run, and what goes beyond it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use wardline_analysis::{
    Analysis, Ensemble, IntervalMethod, Prepared, Run, Settings, analysis_csv, analysis_page, analysis_tables,
    carry_forward, read_analysis,
};
use wardline_cli::{Exit, Failure, Stdout};

use crate::results::{Format, Input, json, open_output, print, tables, warning_lines};

/// Analyze a run: dev and test halves, areas, operating points, intervals, comparisons, and a page.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    statistics: Statistics,
    /// Folder with predictions of the same detectors on the naive view
    #[arg(long, value_name = "DIR")]
    naive: Option<PathBuf>,
    /// Compare every detector with this one
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Add the mean score of several detectors as one
    #[arg(long = "ensemble", value_name = "NAME=A,B,…", value_parser = ensemble)]
    ensembles: Vec<Ensemble>,
    /// Keep together in the split what shares this; scenarios are computed beside the published payloads
    #[arg(long, value_enum, default_value_t = GroupBy::BasePayloadId)]
    group_by: GroupBy,
    /// Dollars per million tokens sent and answered
    #[arg(long = "price", value_name = "NAME=IN,OUT", value_parser = price)]
    prices: Vec<(String, (f64, f64))>,
    /// An earlier analysis.json of the same population and settings; with --allow-missing-predictions its rows stand in for absent detectors
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also write analysis.json, analysis.csv, analysis.md and index.html into this folder
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// Title of the page
    #[arg(long, default_value = "E-mail detectors")]
    title: String,
}

/// Settings of the statistics.
#[derive(Debug, clap::Args)]
pub(crate) struct Statistics {
    /// Scores at or above it are flagged
    #[arg(long, default_value_t = 0.35)]
    threshold: f64,
    /// The false-positive rate to read recall at
    #[arg(long, default_value_t = 0.01)]
    target_fpr: f64,
    /// Bootstrap replicates
    #[arg(long, default_value_t = 1000, allow_negative_numbers = true)]
    replicates: usize,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = 0.95)]
    pub(crate) confidence: f64,
    /// Seed of the random streams
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How intervals are made
    #[arg(long, value_enum, default_value_t = Interval::Percentile)]
    interval: Interval,
}

impl Statistics {
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            threshold: self.threshold,
            target_fpr: self.target_fpr,
            replicates: self.replicates,
            confidence: self.confidence,
            seed: self.seed,
            interval: match self.interval {
                Interval::Percentile => IntervalMethod::Percentile,
                Interval::StudentT => IntervalMethod::StudentT,
                Interval::Bca => IntervalMethod::Bca,
                Interval::Numpy => IntervalMethod::Numpy,
            },
            ..Settings::default()
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Interval {
    /// Percentiles, as published
    Percentile,
    /// Student's t with the standard deviation of the replicates, corrected for few groups
    StudentT,
    /// Bias-corrected and accelerated
    Bca,
    /// Bare percentiles over numpy's random stream, to check published intervals
    Numpy,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum GroupBy {
    /// As published
    BasePayloadId,
    /// Also with payloads of one scenario kept together
    BaseScenarioId,
}

fn ensemble(text: &str) -> Result<Ensemble, String> {
    let (name, members) = text.split_once('=').ok_or("is not NAME=A,B,…")?;
    let members: Vec<String> = members.split(',').map(str::to_owned).collect();
    if name.is_empty() || members.iter().any(String::is_empty) {
        return Err("is not NAME=A,B,…".into());
    }
    Ok(Ensemble { name: name.into(), members })
}

fn price(text: &str) -> Result<(String, (f64, f64)), String> {
    let wrong = || "is not NAME=IN,OUT, two numbers".to_owned();
    let (name, prices) = text.split_once('=').ok_or_else(wrong)?;
    let (sent, answered) = prices.split_once(',').ok_or_else(wrong)?;
    let number = |s: &str| s.parse::<f64>().map_err(|_| wrong());
    Ok((name.into(), (number(sent)?, number(answered)?)))
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let output = open_output(args.output_dir.as_ref())?;
    let settings = Settings {
        scenario_level: args.group_by == GroupBy::BaseScenarioId,
        baseline: args.baseline.clone(),
        ensembles: args.ensembles.clone(),
        prices: args.prices.iter().cloned().collect::<BTreeMap<_, _>>(),
        ..args.statistics.settings()
    };
    let (run, naive) = rayon::join(
        || Run::read(&args.input.request()),
        || args.naive.as_ref().map(|folder| Run::read(&args.input.other_view(folder))).transpose(),
    );
    let (run, naive) = (run?, naive?);
    if let (Some(naive), Some(folder), false) = (&naive, &args.naive, args.input.allows_missing()) {
        let names = run.columns.iter().map(|c| c.detector.as_str());
        let absent: Vec<&str> = names.filter(|name| naive.column(name).is_none()).collect();
        if !absent.is_empty() {
            return Err(Failure::usage(format!("{}: no predictions file of {}", folder.display(), absent.join(", "))));
        }
    }
    let prepared = Prepared::new(&run, &settings)?;
    let mut analysis = prepared.analyze(naive.as_ref())?;
    if let Some(path) = &args.reference {
        carry_forward(&mut analysis, &read_analysis(path)?, &run.absent, !args.input.allows_missing())?;
    }
    let titled = analysis_tables(&analysis);
    if let Some(output) = output {
        let page = analysis_page(&args.title, &analysis, &prepared.curves()?)?;
        output.write("analysis.json", json(&analysis)?.as_bytes())?;
        output.write("analysis.csv", analysis_csv(&analysis).as_bytes())?;
        output.write("analysis.md", (warning_lines(&warnings(&analysis), true) + &tables(&titled, true)).as_bytes())?;
        output.write("index.html", page.to_html().as_bytes())?;
    }
    print(out, args.format, &analysis, || analysis_csv(&analysis), &titled, &warnings(&analysis))?;
    Ok(Exit::Ok)
}

pub(crate) fn warnings(analysis: &Analysis) -> Vec<&str> {
    let own = analysis.detectors.iter().flat_map(|d| &d.warnings);
    analysis.warnings.iter().chain(own).map(String::as_str).collect()
}
