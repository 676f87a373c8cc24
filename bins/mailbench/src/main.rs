//! `mailbench`: does a detector catch prompt injection and phishing in real e-mail, at a false-alarm rate a gateway can live with?

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "mailbench", version, about, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// One file a subcommand.
#[derive(Subcommand)]
enum Command {}

fn main() -> ExitCode {
    let cli = Cli::parse();
    wardline_cli::run(|_out| match cli.command {})
}
