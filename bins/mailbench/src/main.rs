//! `mailbench`: does a detector catch prompt injection and phishing in real e-mail, at a false-alarm rate a gateway can live with?

mod analyze;
mod corpus;
mod demo;
mod detectors;
mod diff;
mod ensemble;
mod gate;
mod grade;
mod results;
mod score;
mod segments;
mod train;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Messages become many small strings: a tenth of the extractor's time is the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(name = "mailbench", version, about, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// One file a subcommand.
#[derive(Subcommand)]
enum Command {
    Analyze(Box<analyze::Args>),
    Corpus(corpus::CorpusArgs),
    Demo(demo::Args),
    Detectors(detectors::Args),
    Diff(diff::Args),
    Ensemble(ensemble::Args),
    Gate(Box<gate::Args>),
    Grade(grade::Args),
    Score(Box<score::Args>),
    Segments(segments::Args),
    Train(train::Args),
}

fn main() -> ExitCode {
    let cli = match wardline_cli::parse::<Cli>() {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    wardline_cli::run(|out| match cli.command {
        Command::Analyze(args) => analyze::run(&args, out),
        Command::Corpus(args) => corpus::run(&args, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Detectors(args) => detectors::run(&args, out),
        Command::Diff(args) => diff::run(&args, out),
        Command::Ensemble(args) => ensemble::run(&args, out),
        Command::Gate(args) => gate::run(&args, out),
        Command::Grade(args) => grade::run(&args, out),
        Command::Score(args) => score::run(&args, out),
        Command::Segments(args) => segments::run(&args, out),
        Command::Train(args) => train::run(&args, out),
    })
}
