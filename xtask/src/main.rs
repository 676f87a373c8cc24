//! Maintainers' commands: `cargo xtask --help`.

mod bench;
mod corpus;
mod dataset;
mod docs;
mod features;
mod figures;
mod fixtures;
mod fuzz_smoke;
mod live;
mod models;
mod page_check;
mod python;
mod reproduce;
mod results;
mod shell;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Maintainers' commands of Wardline", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Args),
    Corpus(corpus::Args),
    Dataset(dataset::Args),
    Docs(docs::Args),
    Features(features::Args),
    Fixtures(fixtures::Args),
    FuzzSmoke(fuzz_smoke::Args),
    Live(live::Args),
    PageCheck(page_check::Args),
    Reproduce(reproduce::Args),
    Results(results::Args),
    Test(test::Args),
    Tidy(tidy::Args),
}

fn main() -> ExitCode {
    let cli = match wardline_cli::parse::<Cli>() {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    wardline_cli::run(|out| match cli.command {
        Command::Bench(args) => bench::run(&args, out),
        Command::Corpus(args) => corpus::run(&args, out),
        Command::Dataset(args) => dataset::run(&args, out),
        Command::Docs(args) => docs::run(&args, out),
        Command::Features(args) => features::run(&args, out),
        Command::Fixtures(args) => fixtures::run(&args, out),
        Command::FuzzSmoke(args) => fuzz_smoke::run(&args, out),
        Command::Live(args) => live::run(&args, out),
        Command::PageCheck(args) => page_check::run(&args, out),
        Command::Reproduce(args) => reproduce::run(&args, out),
        Command::Results(args) => results::run(&args, out),
        Command::Test(args) => test::run(&args, out),
        Command::Tidy(args) => tidy::run(&args, out),
    })
}
