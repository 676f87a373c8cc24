use std::io::Write;
use std::process::{Command, Stdio};

use wait4::Wait4;
use wardline_cli::{Exit, Failure, Stdout};

use super::median;
use crate::shell::{built, cargo, root, step};

/// What the crate promises: see its documentation.
const LEAST_MESSAGES: f64 = 6000.0;
const LEAST_MEGABYTES: f64 = 50.0;
const LEAST_RATIO: f64 = 20.0;
const LEAST_SCALING: f64 = 1.7;
const BOMB_MILLISECONDS: f64 = 2000.0;
const BOMB_MEBIBYTES: u64 = 256;

/// Extraction beside CPython's email package, and the bounds on hostile messages
#[derive(clap::Args)]
pub(super) struct Args {
    /// Folder of messages [default: the SpamAssassin corpus beside the checkout]
    #[arg(long, value_name = "DIR")]
    messages: Option<std::path::PathBuf>,
    /// Times that each program goes over the messages
    #[arg(long, default_value_t = 5)]
    repeats: usize,
}

pub(super) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let speed = ["--package", "wardline-segments", "--all-features", "--example", "extraction_speed"];
    step(out, "build", cargo(&["build", "--quiet", "--release"]).args(speed))?;
    let mut missed = Vec::new();
    let folder = args.messages.clone().unwrap_or_else(|| root().join("../shared/upstream/spamassassin"));
    if folder.is_dir() {
        corpus(args, &folder, out, &mut missed)?;
    } else {
        writeln!(out, "no messages to time: {} is no folder (--messages DIR)", folder.display())?;
    }
    bombs(out, &mut missed)?;
    if missed.is_empty() { Ok(Exit::Ok) } else { Err(Failure::new(Exit::Failed, missed.join("; "))) }
}

fn program() -> Result<Command, Failure> {
    built("release", "examples/extraction_speed").map(Command::new)
}

fn numbers(printed: &str, name: &str) -> Vec<f64> {
    let line = printed.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
    line.map(|l| l.split(' ').filter_map(|n| n.parse().ok()).collect()).unwrap_or_default()
}

fn printed(command: &mut Command) -> Result<String, Failure> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(Failure::new(Exit::Failed, format!("{}: {}", command.get_program().display(), output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn corpus(args: &Args, folder: &std::path::Path, out: &mut Stdout, missed: &mut Vec<String>) -> Result<(), Failure> {
    let ours = |threads: &str| {
        let repeats = args.repeats.to_string();
        printed(program()?.args(["corpus", threads, &repeats]).arg(folder))
    };
    let script = root().join("crates/segments/benches/naive_walk.py");
    let one = ours("1")?;
    let python = printed(Command::new("python3").arg(script).arg(args.repeats.to_string()).arg(folder))?;
    let two = ours("2")?;
    let count = numbers(&one, "messages").first().copied().unwrap_or_default();
    let megabytes = numbers(&one, "bytes").first().copied().unwrap_or_default() / 1e6;
    // Processor time of the busiest thread, so that other programs on the machine do not count.
    let [one_s, two_s] = [&one, &two].map(|p| median(numbers(p, "processor")));
    let [one_wall, two_wall, python_s] = [&one, &two, &python].map(|p| median(numbers(p, "seconds")));
    let each = numbers(&one, "each");
    writeln!(out, "{count} messages, {megabytes:.1} MB, processor time, median of {} repeats", args.repeats)?;
    writeln!(out, "{:<34} {:>10} {:>12} {:>8}", "", "seconds", "messages/s", "MB/s")?;
    for (name, seconds) in
        [("this crate, one thread", one_s), ("this crate, two threads", two_s), ("CPython email, naive walk", python_s)]
    {
        writeln!(out, "{name:<34} {seconds:>10.3} {:>12.0} {:>8.1}", count / seconds, megabytes / seconds)?;
    }
    writeln!(out, "by the clock: one thread {one_wall:.3} s, two threads {two_wall:.3} s")?;
    writeln!(out, "times CPython {:.1}; two threads over one {:.2}", python_s / one_s, one_s / two_s)?;
    if let [middle, longest] = each[..] {
        writeln!(out, "one message: median {middle:.3} ms, longest {longest:.1} ms")?;
    }
    let mut aim = |name: &str, value: f64, least: f64| {
        if value < least {
            missed.push(format!("{name}: {value:.1}, the aim is at least {least}"));
        }
    };
    aim("messages a second", count / one_s, LEAST_MESSAGES);
    aim("megabytes a second", megabytes / one_s, LEAST_MEGABYTES);
    aim("times CPython", python_s / one_s, LEAST_RATIO);
    aim("two threads over one", one_s / two_s, LEAST_SCALING);
    Ok(())
}

fn bombs(out: &mut Stdout, missed: &mut Vec<String>) -> Result<(), Failure> {
    let names = printed(program()?.arg("bombs"))?;
    writeln!(out, "{:<18} {:>12} {:>8} {:>8} truncated", "bomb", "input bytes", "ms", "MiB")?;
    for name in names.lines() {
        let mut child = program()?.args(["bomb", name]).stdout(Stdio::piped()).spawn()?;
        let mut text = String::new();
        if let Some(mut stdout) = child.stdout.take() {
            std::io::Read::read_to_string(&mut stdout, &mut text)?;
        }
        let usage = child.wait4()?;
        let milliseconds = numbers(&text, "milliseconds").first().copied().unwrap_or(f64::INFINITY);
        let truncated = numbers(&text, "truncated") == [1.0];
        let input = numbers(&text, "input").first().copied().unwrap_or_default();
        // The program builds the bomb first: what that took is counted too, except that building some takes more than reading them.
        let mebibytes = usage.rusage.maxrss >> 20;
        writeln!(out, "{name:<18} {input:>12} {milliseconds:>8.0} {mebibytes:>8} {truncated}")?;
        if !usage.status.success() || milliseconds > BOMB_MILLISECONDS || mebibytes > BOMB_MEBIBYTES || !truncated {
            missed.push(format!("bomb {name}: {milliseconds} ms, {mebibytes} MiB, truncated {truncated}"));
        }
    }
    Ok(())
}
