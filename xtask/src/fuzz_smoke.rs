//! `cargo xtask fuzz-smoke`: each fuzz target for a minute, from the structure table as seeds.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use mail_parser::{Message, MessageParser, MimeHeaders, PartType};
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
    let mut build = cargo(&["build", "--release", "--locked", "--target", &host, "--target-dir", "target"]);
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
        // The same first mutations in every run, so that a failure is likely to be seen again.
        run.arg(&corpus).args([
            "-seed=1",
            "-timeout=60",
            "-rss_limit_mb=512",
            "-max_len=65536",
            "-verbosity=0",
            "-print_final_stats=1",
        ]);
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

/// Writes a target's seeds: whole messages, every HTML part, or every other part behind its type, as the structure table has them.
fn seed(name: &str, corpus: &Path) -> Result<usize, Failure> {
    let mut count = 0;
    for entry in fs::read_dir(root().join("dataset/structure"))? {
        let path = entry?.path();
        if path.extension().is_none_or(|e| e != "eml") {
            continue;
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let raw = fs::read(&path)?;
        let seeds = match name {
            "html" => {
                let html = |(kind, body): &(String, Vec<u8>)| kind.contains("html") || markup(body);
                leaves(&raw).into_iter().filter(html).map(|(_, body)| body).collect()
            }
            "attachment" => {
                let other = |(kind, body): &(String, Vec<u8>)| kind != "text/plain" && !body.is_empty();
                let seed = |(kind, body): (String, Vec<u8>)| [kind.as_bytes(), b"\n", &body].concat();
                leaves(&raw).into_iter().filter(other).map(seed).collect()
            }
            _ => vec![raw],
        };
        for (i, bytes) in seeds.iter().enumerate() {
            fs::write(corpus.join(format!("{stem}-{i}")), bytes)?;
            count += 1;
        }
    }
    Ok(count)
}

fn markup(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    body.starts_with(b"<") && !body.starts_with(b"<?xml")
}

/// The decoded parts that have no parts of their own, nested messages' too, and their types.
fn leaves(raw: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    if let Some(message) = MessageParser::default().parse(raw) {
        gather(&message, &mut found);
    }
    found
}

fn gather(message: &Message<'_>, found: &mut Vec<(String, Vec<u8>)>) {
    for part in &message.parts {
        match &part.body {
            PartType::Multipart(_) => {}
            PartType::Message(nested) => gather(nested, found),
            _ => {
                let kind = part.content_type().map_or("text/plain".to_owned(), |t| {
                    format!("{}/{}", t.c_type, t.c_subtype.as_deref().unwrap_or_default()).to_ascii_lowercase()
                });
                found.push((kind, part.contents().to_vec()));
            }
        }
    }
}
