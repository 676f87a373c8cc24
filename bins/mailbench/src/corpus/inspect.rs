use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use wardline_cli::{Exit, Failure, Stdout, data_dir};
use wardline_email_corpus::{self as corpus, BaseFolder, ManifestReader, Paths, Stats};

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// The manifest [default: mail/full, else mail/core, in the data folder]
    manifest: Option<PathBuf>,
    /// Folder that message paths are relative to [default: the manifest's]
    #[arg(long, value_name = "DIR")]
    base_dir: Option<PathBuf>,
    /// Accept a manifest without a digest file
    #[arg(long)]
    allow_unfrozen: bool,
    /// Data folder [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct StatsArgs {
    /// The manifest [default: mail/full, else mail/core, in the data folder]
    manifest: Option<PathBuf>,
    /// How to print the counts
    #[arg(long, default_value = "text")]
    format: Format,
    /// Data folder [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Columns
    Text,
    /// Tables
    Markdown,
    /// One JSON object
    Json,
}

fn manifest(given: Option<&Path>, data: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let mail = data_dir(data)?.path.join("mail");
    ["full", "core"]
        .map(|profile| mail.join(profile).join("manifest.jsonl"))
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| {
            Failure::usage(format!(
                "no corpus is built in {}; run `mailbench corpus build`, or name a manifest",
                mail.display()
            ))
        })
}

fn base_of(manifest: &Path, given: Option<&Path>) -> Result<BaseFolder, Failure> {
    let parent = manifest.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(BaseFolder::open(given.unwrap_or(parent))?)
}

pub(crate) fn verify(args: &VerifyArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    let manifest = manifest(args.manifest.as_deref(), args.data_dir.as_deref())?;
    let found = corpus::verify(&manifest, &base_of(&manifest, args.base_dir.as_deref())?)?;
    for problem in &found.problems {
        writeln!(out, "{}: {problem}", manifest.display())?;
    }
    let kept = found.problems.len() as u64;
    if found.problem_count > kept {
        writeln!(out, "{}: and {} more", manifest.display(), found.problem_count - kept)?;
    }
    let unfrozen = !found.frozen && !args.allow_unfrozen;
    if unfrozen {
        writeln!(out, "{}: no digest file stands beside it", manifest.display())?;
    }
    let stats = &found.stats;
    writeln!(
        out,
        "{} records, {} with a message ({} bytes), {} message digests compared",
        stats.records, stats.with_message, stats.message_bytes, found.digests_compared
    )?;
    for (name, table) in [
        ("role", &stats.role),
        ("source", &stats.source),
        ("surface", &stats.surface),
        ("threat type", &stats.threat_type),
    ] {
        let rows: Vec<String> = table.iter().map(|(key, n)| format!("{key} {n}")).collect();
        writeln!(out, "{name}: {}", rows.join(", "))?;
    }
    if found.is_ok() && !unfrozen {
        return Ok(Exit::Ok);
    }
    out.flush()?;
    let problems = found.problem_count + u64::from(unfrozen);
    Err(Failure::new(Exit::Failed, format!("{}: {problems} problems", manifest.display())))
}

pub(crate) fn stats(args: &StatsArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    let manifest = manifest(args.manifest.as_deref(), args.data_dir.as_deref())?;
    let mut stats = Stats::default();
    for record in ManifestReader::open(&manifest)? {
        stats.add(&record?, None);
    }
    stats.close();
    match args.format {
        Format::Text => out.write_all(stats.to_text().as_bytes())?,
        Format::Markdown => out.write_all(stats.to_markdown().as_bytes())?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &stats)?;
            writeln!(out)?;
        }
    }
    Ok(Exit::Ok)
}

pub(crate) fn diff(first: &Path, second: &Path, out: &mut Stdout) -> Result<Exit, Failure> {
    let diff = corpus::diff(first, second)?;
    for id in &diff.removed {
        writeln!(out, "- {id}")?;
    }
    for id in &diff.added {
        writeln!(out, "+ {id}")?;
    }
    for (id, fields) in &diff.changed {
        writeln!(out, "~ {id}: {}", fields.join(", "))?;
    }
    writeln!(
        out,
        "{} removed, {} added, {} changed, {} the same",
        diff.removed.len(),
        diff.added.len(),
        diff.changed.len(),
        diff.same
    )?;
    Ok(if diff.is_empty() { Exit::Ok } else { Exit::Failed })
}

pub(crate) fn combine(parts: &[PathBuf], whole: &Path, keep_paths: bool, out: &mut Stdout) -> Result<Exit, Failure> {
    let paths = if keep_paths { Paths::Keep } else { Paths::Rebase };
    let records = corpus::combine(parts, whole, paths)?;
    writeln!(out, "{}: {records} records", whole.display())?;
    Ok(Exit::Ok)
}

pub(crate) fn freeze(manifest: &Path, base: Option<&Path>, out: &mut Stdout) -> Result<Exit, Failure> {
    corpus::freeze(manifest, &base_of(manifest, base)?)?;
    writeln!(out, "{}", corpus::digest_path(manifest).display())?;
    Ok(Exit::Ok)
}

pub(crate) fn sources(out: &mut Stdout) -> Result<Exit, Failure> {
    for source in corpus::sources()? {
        writeln!(out, "{} ({})", source.title, source.name)?;
        writeln!(out, "  address   {}", source.address)?;
        let pass_on = if source.redistributable { "may be passed on" } else { "not to be passed on" };
        writeln!(out, "  licence   {}; {pass_on}", source.licence)?;
        writeln!(out, "  note      {}", source.note)?;
        for input in &source.inputs {
            let items = input.items.map_or_else(|| "number not known".to_owned(), |n| format!("{n} items"));
            let pinned = if input.sha256.is_some() { "pinned" } else { "trusted on first use" };
            writeln!(out, "  read from {} ({items}, {pinned})", input.paths.join(" or "))?;
        }
    }
    Ok(Exit::Ok)
}
