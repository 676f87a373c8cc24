//! `deveval`: does a defense that rules on an agent's tool calls stop injected calls, and how much work does it let through?

mod args;
mod classifiers;
mod corpora;
mod defenses;
mod models;
mod output;
mod score;
mod scoring;
mod texts;

use std::process::ExitCode;

use clap::CommandFactory;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = match wardline_cli::parse::<Cli>() {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    wardline_cli::run(|out| match cli.command {
        None => score::run(&cli.score, out),
        Some(Command::Corpora(args)) => corpora::run(&args, out),
        Some(Command::Models(args)) => models::run(&args, out),
        Some(Command::Score(args)) => scoring::run(&args, out),
        Some(Command::Texts(args)) => texts::run(&args, out),
        Some(Command::Completions { shell }) => {
            clap_complete::generate(shell, &mut Cli::command(), "deveval", out);
            Ok(wardline_cli::Exit::Ok)
        }
    })
}
