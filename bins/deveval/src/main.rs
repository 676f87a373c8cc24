//! `deveval`: does a defense that rules on an agent's tool calls stop injected calls, and how much work does it let through?

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(name = "deveval", version, about)]
struct Cli {}

fn main() -> ExitCode {
    let _cli = Cli::parse();
    wardline_cli::run(|_out| Ok(wardline_cli::Exit::Ok))
}
