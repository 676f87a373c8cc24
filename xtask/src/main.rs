//! Maintainers' commands: `cargo xtask --help`.

mod shell;
mod test;

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
    /// Run every test of the project
    Test(test::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    wardline_cli::run(|out| match cli.command {
        Command::Test(args) => test::run(&args, out),
    })
}
