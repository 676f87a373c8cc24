//! Times the analysis of a run folder, or the grading of many predictions, for `cargo xtask bench analyze`.
//!
//! `analysis_speed analyze FOLDER NAIVE OUT.json` reads the run, analyses both tasks with 1,000 replicates in the mode that checks
//! published intervals and in the usual one, and prints milliseconds. `analysis_speed write FOLDER N DISTINCT` writes N sorted records
//! and predictions; `analysis_speed grade FOLDER` grades them and prints milliseconds and the largest resident memory in KiB.
#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use wardline_analysis::{IntervalMethod, Prepared, Run, RunRequest, Settings, grade};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["analyze", folder, naive, out] => analyze(folder, naive, out),
        ["write", folder, n, distinct] => write(Path::new(folder), n.parse()?, distinct.parse()?),
        ["grade", folder] => {
            let begin = now();
            let grade = grade(&RunRequest::new(folder), 0.35)?;
            println!("grade {}", milliseconds(begin));
            let scored: u64 =
                grade.detectors.iter().flat_map(|d| d.tasks.values().last()).map(|t| t.coverage.scored).sum();
            println!("scored {scored}");
            println!("memory {}", memory());
            Ok(())
        }
        _ => Err("usage: analysis_speed analyze FOLDER NAIVE OUT.json | write FOLDER N DISTINCT | grade FOLDER".into()),
    }
}

#[expect(clippy::disallowed_methods, reason = "timing is what this program is for")]
fn now() -> Instant {
    Instant::now()
}

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1000.0
}

fn analyze(folder: &str, naive: &str, out: &str) -> Result<(), Box<dyn Error>> {
    let manifest = Some(Path::new(folder).join("manifest_used.jsonl"));
    for (name, interval) in [("numpy", IntervalMethod::Numpy), ("usual", IntervalMethod::Percentile)] {
        let begin = now();
        let (run, naive) = rayon::join(
            || Run::read(&RunRequest::new(folder)),
            || Run::read(&RunRequest { manifest: manifest.clone(), ..RunRequest::new(naive) }),
        );
        let (run, naive) = (run?, naive?);
        let settings = Settings { interval, ..Settings::default() };
        let analysis = Prepared::new(&run, &settings)?.analyze(Some(&naive))?;
        fs::write(out, serde_json::to_vec(&analysis)?)?;
        println!("{name} {}", milliseconds(begin));
    }
    Ok(())
}

fn write(folder: &Path, n: u64, distinct: u64) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let mut manifest = BufWriter::new(File::create(folder.join("manifest_used.jsonl"))?);
    let mut predictions = BufWriter::new(File::create(folder.join("detector.jsonl"))?);
    for i in 0..n {
        let threat = ["benign", "prompt_injection_direct", "phishing", "benign"][(i % 4) as usize];
        let auth = ["verified", "spoofed", "unauthenticated"][(i % 3) as usize];
        writeln!(
            manifest,
            r#"{{"id":"r{i:08}","eml_path":"eml/r{i:08}.eml","label":{{"is_malicious":{},"threat_type":"{threat}"}},"surface":["plaintext_body"],"detector_input":{{"from":"Alex Partner <alex@external-vendor.example>","subject":"Re: Project update"}},"provenance":{{"source":"synthetic","synthetic":true}},"sender_auth_condition":"{auth}","split":"synthetic"}}"#,
            threat != "benign"
        )?;
        // A multiplier without common factors spreads the scores.
        let score = (i.wrapping_mul(2_654_435_761) % distinct) as f64 / distinct as f64;
        writeln!(
            predictions,
            r#"{{"id":"r{i:08}","detector":"detector","flagged":{},"score":{score},"action":"allow","categories":[],"latency_ms":{}}}"#,
            score >= 0.35,
            i % 997
        )?;
    }
    manifest.flush()?;
    predictions.flush()?;
    Ok(())
}

/// The largest resident memory in KiB, where the system says it.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
