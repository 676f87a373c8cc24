//! `cargo xtask page-check FILE`: opens pages in headless Chromium, narrow and wide, light and dark, and runs axe-core on them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use wardline_cli::{Exit, Failure, Stdout};

use crate::features;
use crate::shell::{built, cargo, root, step};

/// What npm is asked for: the rules, and the driver of the browser.
const PACKAGES: [&str; 2] = ["axe-core@4.14.1", "puppeteer-core@24.43.1"];
const DRIVER: &str = include_str!("page_check.mjs");
/// What a page promises.
const MOST_BYTES: u64 = 3_000_000;
const MOST_MILLISECONDS: f64 = 1000.0;
/// Of the large page.
const DETECTORS: usize = 20;

/// Check pages in headless Chromium: console, requests, axe-core, size and time; screenshots in target/page-check
///
/// Needs Chromium ($CHROMIUM, else /usr/bin/chromium), Node 18 or later, and npm.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pages to check
    #[arg(required_unless_present = "large")]
    pages: Vec<PathBuf>,
    /// Also make and check the page of an analysis of 20 detectors on 6,333 records
    #[arg(long)]
    large: bool,
}

/// One page at one width in one scheme.
#[derive(Deserialize)]
struct Found {
    name: String,
    width: u32,
    scheme: String,
    /// Milliseconds until the page is painted, the median of five loads.
    rendered: f64,
    rules: u64,
    wrong: Vec<String>,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let folder = root().join("target/page-check");
    fs::create_dir_all(&folder)?;
    install(&folder, out)?;
    let mut pages = Vec::new();
    for page in &args.pages {
        pages.push(fs::canonicalize(page).map_err(|e| Failure::usage(format!("{}: {e}", page.display())))?);
    }
    if args.large {
        pages.push(large(&folder, out)?);
    }
    let mut wrong = Vec::new();
    for page in &pages {
        let bytes = fs::metadata(page)?.len();
        writeln!(out, "{}: {bytes} bytes", page.display())?;
        if bytes > MOST_BYTES {
            wrong.push(format!("{}: more than {MOST_BYTES} bytes", page.display()));
        }
    }
    out.flush()?;
    for found in browse(&folder, &pages)? {
        let place = format!("{}, {} px, {}", found.name, found.width, found.scheme);
        writeln!(
            out,
            "{place}: rendered in {:.0} ms (median of 5), {} rules of axe-core pass, {} findings",
            found.rendered,
            found.rules,
            found.wrong.len()
        )?;
        if found.rendered > MOST_MILLISECONDS {
            wrong.push(format!("{place}: rendered in more than {MOST_MILLISECONDS} ms"));
        }
        wrong.extend(found.wrong.iter().map(|w| format!("{place}: {w}")));
    }
    writeln!(out, "screenshots in {}", folder.display())?;
    for line in &wrong {
        writeln!(out, "{line}")?;
    }
    if wrong.is_empty() { Ok(Exit::Ok) } else { Err(Failure::new(Exit::Failed, format!("{} findings", wrong.len()))) }
}

/// The packages from npm, and the script that uses them.
fn install(folder: &Path, out: &mut Stdout) -> Result<(), Failure> {
    let wanted = PACKAGES.join("\n");
    let stamp = folder.join("packages");
    if fs::read_to_string(&stamp).is_ok_and(|have| have == wanted) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--prefix"]);
    step(out, "axe-core and puppeteer-core from npm", npm.arg(folder).args(PACKAGES))?;
    Ok(fs::write(stamp, wanted)?)
}

/// The page of a run of the published shape with as many detectors as a page has to bear.
fn large(folder: &Path, out: &mut Stdout) -> Result<PathBuf, Failure> {
    // With the features of the tests, so that both share what they compile.
    let features = features::all()?;
    let mut build = cargo(&["build", "--workspace", "--bins", "--example", "synthetic_run", "--locked"]);
    step(out, "build mailbench", build.args(["--features", &features]))?;
    let written = folder.join("large");
    if written.exists() {
        fs::remove_dir_all(&written)?;
    }
    let program = |name: &str| built("debug", name).map(Command::new);
    step(out, "write a synthetic run", program("examples/synthetic_run")?.arg(&written))?;
    let run = written.join("run");
    let originals: Vec<PathBuf> = fs::read_dir(&run)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    let mut names: Vec<PathBuf> = originals.into_iter().filter(|p| !p.ends_with("manifest_used.jsonl")).collect();
    names.sort();
    let mut wanted = DETECTORS.saturating_sub(names.len());
    for original in names {
        let text = fs::read_to_string(&original)?;
        // Judges' rows name a model; a copy would be the same detector again.
        let copy = text.replace(r#""detector":""#, r#""detector":"copy of "#);
        if wanted > 0 && copy != text {
            let name = original.file_name().unwrap_or_default().to_string_lossy().into_owned();
            fs::write(run.join(format!("copy-{name}")), copy)?;
            wanted -= 1;
        }
    }
    let mut analyze = program("mailbench")?;
    analyze.args(["analyze", "--baseline", "judge:small", "--group-by", "base_scenario_id", "--replicates", "100"]);
    // The judges and the copies are not on the naive view.
    analyze.arg("--allow-missing-predictions").arg(&run);
    analyze.arg("--naive").arg(written.join("naive")).arg("--output-dir").arg(&written);
    let analyzed = analyze.output()?;
    if !analyzed.status.success() {
        let said = String::from_utf8_lossy(&analyzed.stderr);
        return Err(Failure::new(Exit::Failed, format!("mailbench analyze: {}", said.trim())));
    }
    let page = folder.join("large.html");
    fs::rename(written.join("index.html"), &page)?;
    Ok(page)
}

fn browse(folder: &Path, pages: &[PathBuf]) -> Result<Vec<Found>, Failure> {
    let script = folder.join("page_check.mjs");
    fs::write(&script, DRIVER)?;
    let output = Command::new("node")
        .arg(&script)
        .arg(folder)
        .args(pages)
        .output()
        .map_err(|e| Failure::usage(format!("node: {e}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(Exit::Failed, format!("{}: {}", script.display(), said.trim())));
    }
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}
