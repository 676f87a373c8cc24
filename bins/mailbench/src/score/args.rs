//! Arguments of `mailbench score`.

use std::path::PathBuf;

use clap::ValueEnum;
use wardline_cli::ModelArgs;
use wardline_detectors::{Task, View};

/// Score every message of a manifest with one or more detectors
///
/// Predictions are written as they come, one file a detector in the run folder. A run that was stopped, killed, or had errors goes on
/// when the same command is given again: records with a score are not asked about again. A run that is refused leaves no folder.
/// Exit code 3: not every record has a score.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A detector, or NAME=DETECTOR to name its predictions; `mailbench detectors` lists them
    #[arg(long = "detector", value_name = "DETECTOR", required = true)]
    pub(crate) detectors: Vec<String>,
    /// Manifest: one JSON record a line
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: PathBuf,
    /// Folder of the run; made if it is missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out_dir: PathBuf,
    /// Folder that the manifest's eml_path is relative to [default: the manifest's]
    #[arg(long, value_name = "DIR")]
    pub(crate) base_dir: Option<PathBuf>,
    /// The reading of messages that detectors are given
    #[arg(long, value_enum, default_value_t = ViewArg::Canonical)]
    pub(crate) view: ViewArg,
    /// Output of `mailbench segments` for this manifest, read instead of extracting again
    #[arg(long, value_name = "FILE", conflicts_with = "view")]
    pub(crate) segments: Option<PathBuf>,
    /// Only the first N records; a later run of the folder may take more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Requests under way at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) concurrency: u16,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Folder of models [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR", help_heading = "Local classifiers")]
    pub(crate) data_dir: Option<PathBuf>,
    /// `exec:` and `http:` are sent the raw message too, in base64
    #[arg(long)]
    pub(crate) send_raw: bool,
    /// Let a trained detector score the records that it was trained on; in a run folder of its own
    #[arg(long)]
    pub(crate) allow_trained_on: bool,
}

/// How requests are put.
#[derive(clap::Args)]
#[command(next_help_heading = "Requests")]
pub(crate) struct PolicyArgs {
    /// Seconds that a request, or a program's answer, may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    pub(crate) timeout: f64,
    /// Requests for one answer at most, when earlier ones fail in a way that may pass
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) attempts: u32,
    /// Requests a minute at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rpm: Option<u32>,
    /// Tokens a minute at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) tpm: Option<u32>,
    /// Requests of the whole run at most
    #[arg(long, value_name = "N")]
    pub(crate) max_requests: Option<u64>,
    /// Tokens of the whole run at most
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Dollars of the whole run at most, at the prices given
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub(crate) max_cost: Option<f64>,
    /// Dollars for a million tokens sent
    #[arg(long, value_name = "DOLLARS", default_value_t = 0.0, value_parser = dollars)]
    pub(crate) price_input: f64,
    /// Dollars for a million tokens answered
    #[arg(long, value_name = "DOLLARS", default_value_t = 0.0, value_parser = dollars)]
    pub(crate) price_output: f64,
    /// Dollars for a request
    #[arg(long, value_name = "DOLLARS", default_value_t = 0.0, value_parser = dollars)]
    pub(crate) price_request: f64,
    /// Proxy for services, such as `http://proxy.example:3128`
    #[arg(long, value_name = "URL")]
    pub(crate) proxy: Option<String>,
}

/// What judges are asked.
#[derive(clap::Args)]
#[command(next_help_heading = "Judges")]
pub(crate) struct JudgeArgs {
    /// The questions to ask
    #[arg(long, value_enum, default_value_t = TaskArg::Both)]
    pub(crate) task: TaskArg,
    /// Answers to each question, whose mean is the score
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) samples: u32,
    /// Sampling temperature
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = temperature)]
    pub(crate) temperature: f64,
    /// Send image parts too
    #[arg(long)]
    pub(crate) vision: bool,
    /// JSON object put into each request; null takes a field out
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub(crate) judge_extra: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewArg {
    /// Every text that a person or a model could read
    Canonical,
    /// Subject, From and plain text, or stripped HTML where there is none
    Naive,
}

impl From<ViewArg> for View {
    fn from(view: ViewArg) -> Self {
        match view {
            ViewArg::Canonical => Self::Canonical,
            ViewArg::Naive => Self::Naive,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskArg {
    /// Instructions to an agent
    Injection,
    /// Deceit of a person
    Phishing,
    /// Both, in two requests
    Both,
}

impl From<TaskArg> for Task {
    fn from(task: TaskArg) -> Self {
        match task {
            TaskArg::Injection => Self::Injection,
            TaskArg::Phishing => Self::Phishing,
            TaskArg::Both => Self::Both,
        }
    }
}

fn number(text: &str, what: &str, fits: impl Fn(f64) -> bool) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|n| fits(*n)).ok_or_else(|| format!("is no {what}"))
}

fn seconds(text: &str) -> Result<f64, String> {
    number(text, "number of seconds from 0.001 to 86400", |n| (0.001..=86_400.0).contains(&n))
}

fn dollars(text: &str) -> Result<f64, String> {
    number(text, "amount of dollars", |n| n.is_finite() && n >= 0.0)
}

fn temperature(text: &str) -> Result<f64, String> {
    number(text, "temperature from 0 to 2", |n| (0.0..=2.0).contains(&n))
}

fn object(text: &str) -> Result<serde_json::Map<String, serde_json::Value>, String> {
    serde_json::from_str(text).map_err(|e| format!("is no JSON object: {e}"))
}
