//! `cargo xtask dataset`: building, checking and locking the mail benchmark, and its JSON Schema.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use wardline_cli::{Exit, Failure, Stdout, data_dir};
use wardline_email_corpus::{BuildInputs, Corpus, Lock, Profile, assemble, json_schema, write_atomically};
use wardline_sources::agentdojo::{self, Builder, CorpusName, Status};

use crate::shell::{cargo, root, step};

/// Build, check and lock the mail benchmark
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build profiles into the data folder
    Build(Options),
    /// Build profiles anew, and compare every byte with the lock and with what is built
    Check(Options),
    /// Build profiles in memory, and write their lock files anew
    Lock(Options),
    /// Write the JSON Schema of the records anew
    Schema,
}

#[derive(clap::Args)]
struct Options {
    /// Profiles [default: core, and full when the upstream data sets are there]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<Name>,
    /// Folder of the upstream data sets [default: ../shared/upstream]
    #[arg(long, value_name = "DIR")]
    upstream: Option<PathBuf>,
    /// Data folder
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    Core,
    Full,
}

impl Options {
    fn upstream(&self) -> PathBuf {
        self.upstream.clone().unwrap_or_else(|| root().join("../shared/upstream"))
    }

    fn profiles(&self) -> Vec<Profile> {
        let named = |name: &Name| match name {
            Name::Core => Profile::Core,
            Name::Full => Profile::Full,
        };
        match (self.profiles.is_empty(), self.upstream().is_dir()) {
            (false, _) => self.profiles.iter().map(named).collect(),
            (true, true) => vec![Profile::Core, Profile::Full],
            (true, false) => vec![Profile::Core],
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    match &args.command {
        Command::Build(options) => mailbench("build", options, out),
        Command::Check(options) => mailbench("check", options, out),
        Command::Lock(options) => lock(options, out),
        Command::Schema => schema(out),
    }
}

/// The user's own command, on every profile.
fn mailbench(verb: &str, options: &Options, out: &mut Stdout) -> Result<Exit, Failure> {
    for profile in options.profiles() {
        let mut command = cargo(&["run", "--quiet", "--package", "mailbench", "--", "corpus", verb]);
        command.args(["--profile", profile.as_str()]);
        if profile == Profile::Full {
            command.arg("--upstream").arg(std::path::absolute(options.upstream())?);
        }
        if let Some(data) = &options.data_dir {
            command.arg("--data-dir").arg(std::path::absolute(data)?);
        }
        step(out, &format!("mailbench corpus {verb} --profile {}", profile.as_str()), &mut command)?;
    }
    Ok(Exit::Ok)
}

fn lock(options: &Options, out: &mut Stdout) -> Result<Exit, Failure> {
    let data = data_dir(options.data_dir.as_deref())?.path;
    if agentdojo::status(&data, CorpusName::Inbox)? != Status::Built {
        Builder::new(&data).build(&[CorpusName::Inbox], &mut |_| {})?;
    }
    for profile in options.profiles() {
        let inputs = BuildInputs {
            agentdojo_inbox: Some(agentdojo::file(&data, CorpusName::Inbox)),
            upstream: Some(options.upstream()),
            ..BuildInputs::default()
        };
        let corpus = assemble(profile, &inputs)?;
        let (header, records) = Lock::of(&corpus)?.to_texts()?;
        let folder = root().join("dataset/locks");
        write_atomically(&folder.join(format!("{}.records", profile.as_str())), records.as_bytes())?;
        write_atomically(&folder.join(format!("{}.toml", profile.as_str())), header.as_bytes())?;
        write_card(profile, &corpus)?;
        writeln!(out, "{}: {} records", profile.as_str(), corpus.items.len())?;
    }
    Ok(Exit::Ok)
}

/// Puts the counts of a build between the marks of the data card; a test of the corpus crate holds them to a new build.
fn write_card(profile: Profile, corpus: &Corpus) -> Result<(), Failure> {
    let path = root().join("docs/dataset.md");
    let text = fs::read_to_string(&path)?;
    let mark = format!("<!-- card:{} -->\n", profile.as_str());
    let card = text.split_once(&mark).and_then(|(before, rest)| Some((before, rest.split_once("<!-- /card -->")?.1)));
    let (before, after) = card.ok_or_else(|| Failure::usage(format!("{}: no marks {mark:?}", path.display())))?;
    let text = format!("{before}{mark}\n{}\n<!-- /card -->{after}", corpus.stats().to_markdown());
    write_atomically(&path, text.as_bytes())?;
    Ok(())
}

fn schema(out: &mut Stdout) -> Result<Exit, Failure> {
    let path = root().join("dataset/schema/email-record.json");
    let mut text = serde_json::to_string_pretty(&json_schema())?;
    text.push('\n');
    fs::create_dir_all(root().join("dataset/schema"))?;
    write_atomically(&path, text.as_bytes())?;
    writeln!(out, "{}", path.display())?;
    Ok(Exit::Ok)
}
