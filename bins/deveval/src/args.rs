//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use wardline_classifier::Scope;

use crate::corpora::CorporaArgs;
use crate::models::ModelsArgs;
use crate::scoring::ScoringArgs;
use crate::texts::TextsArgs;

/// Does a defense that rules on an agent's tool calls stop injected calls, and how much legitimate work does it let through?
///
/// Without arguments the five reference defenses are scored on the bundled scenarios.
#[derive(Parser)]
#[command(
    name = "deveval",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = AFTER_HELP,
    max_term_width = 110
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) score: ScoreArgs,
}

const AFTER_HELP: &str = "\
Examples:
  deveval                                           the bundled scenarios, at once and offline
  deveval corpora build                             build the AgentDojo corpora (needs Python 3.10 or later and PyPI)
  deveval --corpus pairs                            949 user task x injection task pairs and 97 benign tasks
  deveval --corpus pairs --defense flow-guard --defense 'exec:python3 my_defense.py'
  deveval --corpus pairs --html pairs.html          the same as a page with plots
  deveval --corpus agentdojo --sweep --format json  how flow-guard fares as labels go wrong

A defense of your own is any program that reads one JSON call a line and answers one JSON decision a line: see
docs/protocol.md of the project.

Exit codes: 0 ok, 1 a check failed, 2 usage or input, 3 a defense could not rule on a call, 4 too few samples to say.";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List, build or check the corpora
    Corpora(CorporaArgs),
    /// List the classifiers that are known by name, or fetch one
    Models(ModelsArgs),
    /// Score a corpus's texts with a classifier, into a table for --scores
    Score(ScoringArgs),
    /// List the texts of a corpus that a score table must hold, one SHA-256 a line
    Texts(TextsArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
pub(crate) struct ScoreArgs {
    /// Scenarios to score
    #[arg(long, default_value = "bundled", value_name = "NAME", value_parser = crate::corpora::names())]
    pub(crate) corpus: String,

    /// Defense to score, repeatable: allow-all, deny-all, keyword-filter, deny-egress, flow-guard, any:A,B (denies when any
    /// does), all:A,B (denies when all do), exec:COMMAND (a program; quote it) [default: the five reference defenses]
    #[arg(long = "defense", value_name = "SPEC")]
    pub(crate) defenses: Vec<String>,

    /// Destination that flow-guard allows, repeatable; without it any destination passes
    #[arg(long = "allow-destination", value_name = "DEST")]
    pub(crate) allowed_destinations: Vec<String>,

    /// Also compare every other defense with this one on the same scenarios
    #[arg(long, value_name = "DEFENSE")]
    pub(crate) versus: Option<String>,

    /// Score tables of classifiers, separated by commas; each gives a defense for each scope. A table is named classifier, or by its
    /// model's publisher beside others; NAME=TABLE names it otherwise. --defense may name one too, as in all:flow-guard,classifier-both@0.5
    #[arg(long, value_name = "TABLES", value_delimiter = ',')]
    pub(crate) scores: Vec<String>,

    /// Score at and above which a classifier denies, from 0 to 1 [default: 0.5]
    #[arg(long, value_name = "SCORE", value_parser = threshold)]
    pub(crate) threshold: Option<f64>,

    /// Texts that a classifier reads, repeatable: context (outputs read before the call), args (the call's arguments) or both
    /// [default: each of the three]
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<Scope>,

    /// Tables of the same models on the corpus without its transform: prints how far the transform lowers the scores
    #[arg(long, value_name = "TABLES", value_delimiter = ',')]
    pub(crate) baseline_scores: Vec<String>,

    /// Only this suite of the corpus
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Option<String>,

    /// Also sweep wrong labels under flow-guard (corpus agentdojo)
    #[arg(long)]
    pub(crate) sweep: bool,

    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Also write the results as a page that needs nothing else: tables, plots, data, methods
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// What a call counts as that a defense could not rule on; the report counts such calls
    #[arg(long, value_enum, default_value_t = OnErrorArg::Fail)]
    pub(crate) on_error: OnErrorArg,

    /// Seconds that an exec: program has for one call [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) exec_timeout: Option<f64>,

    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

impl ScoreArgs {
    /// The score at and above which a classifier denies.
    pub(crate) fn threshold(&self) -> f64 {
        self.threshold.unwrap_or(0.5)
    }

    /// Seconds that a program has for one call.
    pub(crate) fn exec_timeout(&self) -> f64 {
        self.exec_timeout.unwrap_or(30.0)
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s <= 86_400.0 => Ok(s),
        _ => Err("give a number of seconds above 0 and up to 86400".to_owned()),
    }
}

fn threshold(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(t) if (0.0..=1.0).contains(&t) => Ok(t),
        _ => Err("give a score from 0 to 1".to_owned()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for a terminal
    Text,
    /// One JSON object, versioned by its `schema` field
    Json,
    /// One row a table and defense
    Csv,
    /// Tables for a page
    Markdown,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnErrorArg {
    /// The run ends and names scenario and call
    Fail,
    /// The call counts as denied
    Deny,
    /// The call counts as allowed
    Allow,
}
