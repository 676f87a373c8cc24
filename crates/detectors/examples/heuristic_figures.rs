//! The figures of `docs/detectors.md`: what the built-in rules catch, at which cost in false alarms, and what each of them adds.
//!
//! ```text
//! cargo run --release -p wardline-detectors --example heuristic_figures -- HALF MANIFEST [HAM-FOLDER…]
//! ```
//!
//! HALF is `dev`, `test` or `all`: the halves of the benchmark's grouped split. Ham folders hold one raw message a file; their files
//! take turns between the halves in the order of their names. `dev-misses` also lists what the rules get wrong in the dev half, which is
//! how they were tuned; the test half is only counted. `--rules DIR` in front reads the two rule files from a folder.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use wardline_detectors::{Bands, Detector, Heuristics, Input, Needs, Preparer, Task, Verdict, View};
use wardline_email_corpus::{BaseFolder, EmailRecord, EvalRole, ManifestReader};
use wardline_metrics::{Half, grouped_split};

/// A message and what the rules say of it.
struct Row {
    group: &'static str,
    source: String,
    surface: String,
    id: String,
    verdict: Verdict,
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut rules = None;
    if arguments.first().is_some_and(|a| a == "--rules") && arguments.len() > 1 {
        rules = arguments.drain(..2).nth(1);
    }
    let [half, manifest, ham @ ..] = &arguments[..] else {
        return Err("usage: heuristic_figures dev|test|all|dev-misses MANIFEST [HAM-FOLDER…]".into());
    };
    let misses = half == "dev-misses";
    let wanted = match half.as_str() {
        "dev" | "dev-misses" => Some(Half::Dev),
        "test" => Some(Half::Test),
        "all" => None,
        other => return Err(format!("half {other:?} is none of dev, test, all").into()),
    };
    let heuristics = match &rules {
        None => Heuristics::new("heuristics")?,
        Some(folder) => {
            let read = |name: &str| fs::read_to_string(Path::new(folder).join(name));
            let files = [("injection.toml", &*read("injection.toml")?), ("phishing.toml", &*read("phishing.toml")?)];
            Heuristics::from_rules("heuristics", &files)?
        }
    };
    let mut rows = benchmark(&heuristics, Path::new(manifest), wanted)?;
    for folder in ham {
        rows.extend(raw_ham(&heuristics, Path::new(folder), wanted)?);
    }
    by_source(&rows);
    by_surface(&rows);
    by_rule(&heuristics, &rows);
    if misses {
        list_misses(&rows);
    }
    Ok(())
}

fn benchmark(heuristics: &Heuristics, manifest: &Path, wanted: Option<Half>) -> Result<Vec<Row>, Box<dyn Error>> {
    let records: Vec<EmailRecord> = ManifestReader::open(manifest)?.collect::<Result<_, _>>()?;
    let group = |r: &EmailRecord| match r.role() {
        EvalRole::PiPositive => "pi",
        EvalRole::Phishing => "phish",
        EvalRole::Negative => "benign",
    };
    let strata: Vec<(&str, &str)> = records.iter().map(|r| (group(r), r.provenance.source.as_str())).collect();
    let groups: Vec<&str> = records.iter().map(EmailRecord::group).collect();
    let halves = grouped_split(&strata, &groups)?;
    let preparer = Preparer::new(BaseFolder::open(manifest.parent().unwrap_or(Path::new(".")))?, View::Canonical);
    let mut rows = Vec::new();
    for (record, _) in records.iter().zip(halves).filter(|(_, h)| wanted.is_none_or(|w| w == *h)) {
        let mut needs = Needs::MAIL;
        needs.text = true;
        let input = preparer.prepare(record.clone(), needs, None)?;
        // The benchmark's surface is the structure that the payload sits in, which is the end of the record's id.
        let surface = match (group(record), record.id.splitn(3, '_').nth(2)) {
            ("pi", Some(surface)) => surface.to_owned(),
            _ => String::new(),
        };
        // Our own benign material has kinds, which its ids begin with.
        let kind = ["hard", "control", "modern"].into_iter().find(|k| record.id.starts_with(&format!("{k}_")));
        let source = match kind {
            Some(kind) => format!("{}: {kind}", record.provenance.source),
            None => record.provenance.source.clone(),
        };
        rows.push(row(heuristics, &input, group(record), source, surface)?);
    }
    Ok(rows)
}

fn raw_ham(heuristics: &Heuristics, folder: &Path, wanted: Option<Half>) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.retain(|f| f.is_file() && f.file_name().is_some_and(|n| n != "cmds"));
    files.sort();
    let source = format!("ham: {}", folder.file_name().unwrap_or_default().to_string_lossy());
    let mut rows = Vec::new();
    for (i, file) in files.iter().enumerate() {
        let half = if i % 2 == 0 { Half::Dev } else { Half::Test };
        if wanted.is_none_or(|w| w == half) {
            let input = Input::from_message(file.file_name().unwrap_or_default().to_string_lossy(), fs::read(file)?);
            rows.push(row(heuristics, &input, "ham", source.clone(), String::new())?);
        }
    }
    Ok(rows)
}

fn row(
    heuristics: &Heuristics,
    input: &Input,
    group: &'static str,
    source: String,
    surface: String,
) -> Result<Row, Box<dyn Error>> {
    let verdict = heuristics.predict_batch(std::slice::from_ref(input)).remove(0)?;
    let text = input.text()?.chars().take(300).map(|c| if c.is_control() { ' ' } else { c }).collect();
    Ok(Row { group, source, surface, id: input.id().to_owned(), verdict, text })
}

fn pi(verdict: &Verdict) -> f64 {
    verdict.pi_score.unwrap_or_default()
}

fn phi(verdict: &Verdict) -> f64 {
    verdict.phi_score.unwrap_or_default()
}

fn percent(count: usize, of: usize) -> String {
    if of == 0 { "–".into() } else { format!("{:.2} %", 100.0 * count as f64 / of as f64) }
}

fn by_source(rows: &[Row]) {
    let Bands { review, block } = Bands::default();
    let mut groups = BTreeMap::<(&str, &str), Vec<&Verdict>>::new();
    for row in rows {
        groups.entry((row.group, &row.source)).or_default().push(&row.verdict);
        groups.entry((row.group, "all")).or_default().push(&row.verdict);
    }
    println!(
        "| what | source | messages | injection, review | injection, block | phishing, review | phishing, block | either, review |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for ((group, source), verdicts) in groups {
        let n = verdicts.len();
        let count = |test: &dyn Fn(&Verdict) -> bool| percent(verdicts.iter().filter(|v| test(v)).count(), n);
        println!(
            "| {group} | {source} | {n} | {} | {} | {} | {} | {} |",
            count(&|v| pi(v) >= review),
            count(&|v| pi(v) >= block),
            count(&|v| phi(v) >= review),
            count(&|v| phi(v) >= block),
            count(&|v| v.score >= review),
        );
    }
    println!();
}

fn by_surface(rows: &[Row]) {
    let Bands { review, block } = Bands::default();
    let mut surfaces = BTreeMap::<(&str, &str), Vec<f64>>::new();
    for row in rows.iter().filter(|r| r.group == "pi") {
        surfaces.entry((&row.surface, &row.source)).or_default().push(pi(&row.verdict));
        surfaces.entry((&row.surface, "all")).or_default().push(pi(&row.verdict));
    }
    println!("| surface | source | messages | review | block |\n| --- | --- | ---: | ---: | ---: |");
    for ((surface, source), scores) in surfaces {
        let over = |t: f64| percent(scores.iter().filter(|s| **s >= t).count(), scores.len());
        println!("| {surface} | {source} | {} | {} | {} |", scores.len(), over(review), over(block));
    }
    println!();
}

/// What each rule fires on, and what would be lost and gained without it.
fn by_rule(heuristics: &Heuristics, rows: &[Row]) {
    let review = Bands::default().review;
    let least = (review / (1.0 - review)).ln();
    let total = |group: &str| rows.iter().filter(|r| r.group == group).count();
    println!(
        "| rule | weight | fires on positives | on benign | on ham | positives lost without it | false alarms saved |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for rule in heuristics.rules() {
        let positive = if rule.task == Task::Injection { "pi" } else { "phish" };
        let of_task = |id: &str| heuristics.rules().iter().any(|r| r.id == id && r.task == rule.task);
        let (mut fires, mut lost, mut saved) = (BTreeMap::<&str, usize>::new(), 0, 0);
        for row in rows.iter().filter(|r| r.verdict.hits.iter().any(|h| h.rule == rule.id)) {
            *fires.entry(row.group).or_default() += 1;
            let sum: f64 = row.verdict.hits.iter().filter(|h| of_task(&h.rule)).map(|h| h.weight).sum();
            let sum = sum + heuristics.bias(rule.task);
            let changes = sum >= least && sum - rule.weight < least;
            lost += usize::from(changes && row.group == positive);
            saved += usize::from(changes && ["benign", "ham"].contains(&row.group));
        }
        let of = |group: &str| percent(fires.get(group).copied().unwrap_or(0), total(group));
        let lost = percent(lost, total(positive));
        println!(
            "| {} | {} | {} | {} | {} | {lost} | {saved} |",
            rule.id,
            rule.weight,
            of(positive),
            of("benign"),
            of("ham")
        );
    }
    println!();
}

fn list_misses(rows: &[Row]) {
    let review = Bands::default().review;
    for row in rows {
        let v = &row.verdict;
        let wrong = match row.group {
            "pi" => pi(v) < review && (row.surface == "plaintext" || row.surface == "html_visible"),
            "phish" => phi(v) < review,
            _ => v.score >= review,
        };
        if wrong {
            let hits: Vec<&str> = v.hits.iter().map(|h| h.rule.as_str()).collect();
            println!(
                "{} {} {} {:.2} {:.2} {} | {}",
                row.group,
                row.source,
                row.id,
                pi(v),
                phi(v),
                hits.join(","),
                row.text
            );
        }
    }
}
