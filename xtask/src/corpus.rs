//! `cargo xtask corpus`: building, checking and locking the corpora that are made from AgentDojo.

use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::path::PathBuf;

use clap::Subcommand;
use wardline_cli::{Exit, Failure, Stdout, data_dir, progress_bar};
use wardline_sources::Error;
use wardline_sources::agentdojo::{Builder, CorpusName, Lock, Progress, check};

use crate::models;
use crate::shell::root;

/// Build, check and lock the corpora that are made from AgentDojo
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build corpora into the data folder, and compare them with the lock
    Build(Options),
    /// Regenerate corpora, and compare the bytes with the lock and with what is built
    Check {
        #[command(flatten)]
        options: Options,
        /// Compare what is built only; needs no Python
        #[arg(long)]
        built_only: bool,
        /// Instead compare the committed score tables with what the model gives: forty texts of each, or all
        #[arg(long, value_name = "HOW")]
        scores: Option<Scores>,
    },
    /// Regenerate corpora, and write their lock files anew
    Lock(Options),
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Scores {
    Sampled,
    Full,
}

#[derive(clap::Args)]
struct Options {
    /// Corpora [default: all]
    #[arg(value_name = "NAME", value_parser = |name: &str| name.parse::<CorpusName>())]
    names: Vec<CorpusName>,
    /// Data folder
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Python, 3.10 or later; `check` takes several, and regenerates under each
    #[arg(long, value_name = "PROGRAM")]
    python: Vec<PathBuf>,
    /// Processes [default: one a processor, at most 8]
    #[arg(long, value_name = "N")]
    workers: Option<NonZero<usize>>,
}

impl Options {
    fn names(&self) -> Vec<CorpusName> {
        if self.names.is_empty() { CorpusName::ALL.to_vec() } else { self.names.clone() }
    }

    fn data_dir(&self) -> Result<PathBuf, Failure> {
        Ok(data_dir(self.data_dir.as_deref())?.path)
    }

    /// One builder for each Python that is named, or one that looks for a Python.
    fn builders(&self) -> Result<Vec<Builder>, Failure> {
        let mut builder = Builder::new(self.data_dir()?);
        if let Some(workers) = self.workers {
            builder = builder.workers(workers);
        }
        if self.python.is_empty() {
            return Ok(vec![builder]);
        }
        Ok(self.python.iter().map(|python| builder.clone().python(python)).collect())
    }

    fn builder(&self) -> Result<Builder, Failure> {
        let mut builders = self.builders()?;
        match (builders.pop(), builders.is_empty()) {
            (Some(builder), true) => Ok(builder),
            _ => Err(Failure::usage("--python is given more than once; only `corpus check` takes several")),
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    match &args.command {
        Command::Build(options) => build(options, out),
        Command::Check { options, scores: Some(how), .. } => {
            models::check(&options.data_dir()?, *how == Scores::Full, out)
        }
        Command::Check { options, built_only, .. } => check_corpora(options, *built_only, out),
        Command::Lock(options) => lock(options, out),
    }
}

/// Runs a long job of the builder with a progress bar.
fn with_bar<T>(job: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<T, Error>) -> Result<T, Error> {
    let bar = progress_bar(0, "looking for Python");
    let result = job(&mut |progress| match progress {
        Progress::Installing => bar.set_message("installing the exporter's packages"),
        Progress::Exporting { done, total } => bar.set_message(format!("replaying tasks, {done} of {total}")),
        Progress::Checking => bar.set_message("comparing with the lock"),
        _ => {}
    });
    bar.finish_and_clear();
    result
}

fn build(options: &Options, out: &mut Stdout) -> Result<Exit, Failure> {
    let builder = options.builder()?;
    match with_bar(|progress| builder.build(&options.names(), progress)) {
        Ok(built) => {
            for corpus in built {
                writeln!(out, "{}  {}  {} bytes", corpus.sha256, corpus.path.display(), corpus.bytes)?;
            }
            Ok(Exit::Ok)
        }
        Err(Error::Mismatch(report)) => {
            write!(out, "{report}")?;
            out.flush()?;
            Err(Failure::new(Exit::Failed, Error::Mismatch(report).to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

fn check_corpora(options: &Options, built_only: bool, out: &mut Stdout) -> Result<Exit, Failure> {
    let names = options.names();
    let reports = if built_only {
        vec![check(&options.data_dir()?, &names, None)?]
    } else {
        let builders = options.builders()?;
        builders.iter().map(|b| with_bar(|progress| b.check(&names, progress))).collect::<Result<_, _>>()?
    };
    for report in &reports {
        write!(out, "{report}")?;
    }
    out.flush()?;
    match reports.iter().find(|r| !r.is_ok()) {
        None => Ok(Exit::Ok),
        Some(report) => Err(Failure::new(Exit::Failed, format!("corpora differ from the lock: {}", report.summary()))),
    }
}

fn lock(options: &Options, out: &mut Stdout) -> Result<Exit, Failure> {
    let builder = options.builder()?;
    let names = options.names();
    let made = with_bar(|progress| builder.regenerate(&names, progress))?;
    for name in names {
        let lock = Lock::of(&fs::read(made.folder().join(format!("{name}.jsonl")))?);
        let path = root().join(format!("crates/sources/agentdojo/lock/{name}.lock"));
        let beside = path.with_extension("lock.new");
        fs::write(&beside, lock.to_string())?;
        fs::rename(&beside, &path)?;
        writeln!(out, "{}  {}  {} records", lock.sha256(), path.display(), lock.records().len())?;
    }
    Ok(Exit::Ok)
}
