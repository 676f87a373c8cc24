//! `cargo xtask fuzz-smoke`: each fuzz target for a minute, from the structure table as seeds.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use wardline_cli::{Exit, Failure, Stdout};

use crate::shell::{cargo, root, step};

/// Run each fuzz target for a while, from the structure table as seeds
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Targets to run [default: all]
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
}

const TARGETS: [&str; 3] = ["extract", "html", "attachment"];

/// What `cargo fuzz` passes without a sanitizer: coverage counters and compare tracing, which a stable compiler knows too.
const FLAGS: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "--cfg=fuzzing",
];

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let fuzz = root().join("fuzz");
    let host = host()?;
    let mut build = cargo(&["build", "--release", "--locked", "--target", &host]);
    build.current_dir(&fuzz).env("RUSTFLAGS", FLAGS.join(" "));
    step(out, "build the fuzz targets", &mut build)?;
    let names: Vec<&str> =
        if args.targets.is_empty() { TARGETS.to_vec() } else { args.targets.iter().map(String::as_str).collect() };
    for name in names {
        if !TARGETS.contains(&name) {
            return Err(Failure::usage(format!("no target {name}: there are {}", TARGETS.join(", "))));
        }
        let corpus = fuzz.join("corpus").join(name);
        let artifacts = fuzz.join("artifacts").join(name);
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&artifacts)?;
        let seeds = seed(name, &corpus)?;
        writeln!(out, "{name}: {seeds} seeds")?;
        let mut run = Command::new(fuzz.join("target").join(&host).join("release").join(name));
        run.arg(&corpus).args(["-timeout=10", "-rss_limit_mb=512", "-max_len=65536", "-print_final_stats=1"]);
        run.arg(format!("-max_total_time={}", args.seconds)).arg(format!("-artifact_prefix={}/", artifacts.display()));
        step(out, name, &mut run)?;
    }
    Ok(Exit::Ok)
}

/// The triple of this machine: flags for coverage must not reach build scripts, which only a named target keeps them from.
fn host() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|l| l.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| Failure::new(Exit::Failed, "rustc does not name its host"))
}

/// Writes a target's seeds: whole messages, bodies of the HTML rows, and the files of the attachment rows.
fn seed(name: &str, corpus: &Path) -> Result<usize, Failure> {
    let mut count = 0;
    for entry in fs::read_dir(root().join("dataset/structure"))? {
        let path = entry?.path();
        if path.extension().is_none_or(|e| e != "eml") {
            continue;
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let raw = fs::read(&path)?;
        let bytes = match name {
            "html" if stem.starts_with("html-") => {
                raw.windows(2).position(|w| w == b"\n\n").map(|at| raw[at + 2..].to_vec())
            }
            "attachment" => last_base64(&raw).map(|file| [&[0], file.as_slice()].concat()),
            "extract" => Some(raw),
            _ => None,
        };
        if let Some(bytes) = bytes {
            fs::write(corpus.join(&stem), bytes)?;
            count += 1;
        }
    }
    Ok(count)
}

/// The file of the last base64 part of a message in the table.
fn last_base64(raw: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(raw);
    let (_, part) = text.rsplit_once("Content-Transfer-Encoding: base64\n")?;
    let (_, body) = part.split_once("\n\n")?;
    let digits = body.lines().take_while(|l| !l.starts_with("--")).flat_map(str::bytes);
    let value =
        |b: u8| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".iter().position(|d| *d == b);
    let mut out = Vec::new();
    let (mut bits, mut have) = (0_u32, 0);
    for digit in digits.filter_map(value) {
        bits = bits << 6 | digit as u32;
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    Some(out)
}
