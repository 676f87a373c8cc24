//! Corpora by name, and `deveval corpora`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use wardline_cli::{Exit, Failure, Stdout, data_dir, progress_bar, set_length};
use wardline_report::{Column, Table};
use wardline_sources::agentdojo::{self, Builder, CorpusName, Progress, Status};
use wardline_sources::{Corpus, bundled};

/// The ground-truth corpus by the reach of an egress defense.
pub(crate) const EGRESS_REACH: &str = "egress-reach";
/// The scenarios of our own that every binary carries.
pub(crate) const BUNDLED: &str = "bundled";
/// The ground-truth corpus.
pub(crate) const GROUND: &str = "agentdojo";

/// Loads a corpus by its name on the command line.
pub(crate) fn load(name: &str, data: Option<&Path>) -> Result<Corpus, Failure> {
    if name == BUNDLED {
        return Ok(bundled().clone());
    }
    let file = built(name).ok_or_else(|| {
        let names = scenario_corpora().map(CorpusName::as_str).collect::<Vec<_>>().join(", ");
        Failure::usage(format!("unknown corpus {name}; there are {BUNDLED}, {names} and {EGRESS_REACH}"))
    })?;
    agentdojo::load(&data_dir(data)?.path, file).map_err(|e| match data {
        // The commands that the message names act on the same folder only with the same flag.
        Some(folder) => Failure::usage(format!("{} (with --data-dir {})", Failure::from(e), folder.display())),
        None => e.into(),
    })
}

/// Every name that `--corpus` takes.
pub(crate) fn names() -> PossibleValuesParser {
    let built = scenario_corpora().map(CorpusName::as_str);
    PossibleValuesParser::new([BUNDLED].into_iter().chain(built).chain([EGRESS_REACH]))
}

/// The corpora that hold scenarios: what can be scored here.
fn scenario_corpora() -> impl Iterator<Item = CorpusName> {
    CorpusName::ALL.into_iter().filter(|&c| c != CorpusName::Inbox)
}

fn built(name: &str) -> Option<CorpusName> {
    match name {
        EGRESS_REACH => Some(CorpusName::Ground),
        _ => scenario_corpora().find(|c| c.as_str() == name),
    }
}

#[derive(Args)]
pub(crate) struct CorporaArgs {
    #[command(subcommand)]
    command: CorporaCommand,
}

#[derive(Subcommand)]
enum CorporaCommand {
    /// List the corpora and say which are built
    List(Folder),
    /// Build corpora from AgentDojo 0.1.35: fetches it from PyPI into a virtual environment of its own
    Build {
        /// Corpora to build [default: all]
        names: Vec<String>,
        /// Build anew what is built already
        #[arg(long)]
        rebuild: bool,
        #[command(flatten)]
        python: Python,
        #[command(flatten)]
        folder: Folder,
    },
    /// Compare built corpora with the lock, byte for byte; exit 1 when one differs
    Check {
        /// Corpora to check [default: all]
        names: Vec<String>,
        /// Also build them anew, beside what is built, and compare that too
        #[arg(long)]
        regenerate: bool,
        #[command(flatten)]
        python: Python,
        #[command(flatten)]
        folder: Folder,
    },
}

#[derive(Args)]
struct Folder {
    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Args)]
struct Python {
    /// Python for the exporter, 3.10 or later [default: the newest found]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
}

impl Python {
    fn builder(&self, data: &Path) -> Builder {
        let builder = Builder::new(data);
        match &self.python {
            Some(python) => builder.python(python),
            None => builder,
        }
    }
}

pub(crate) fn run(args: &CorporaArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    match &args.command {
        CorporaCommand::List(folder) => list(folder, out),
        CorporaCommand::Build { names, rebuild, python, folder } => {
            let data = data_dir(folder.data_dir.as_deref())?.path;
            let mut wanted = Vec::new();
            for name in parse(names)? {
                if !rebuild && agentdojo::status(&data, name)? == Status::Built {
                    writeln!(out, "{} is built and is what the lock says", name)?;
                } else {
                    wanted.push(name);
                }
            }
            if wanted.is_empty() {
                return Ok(Exit::Ok);
            }
            let built = with_progress(|progress| python.builder(&data).build(&wanted, progress).map_err(failure))?;
            for b in built {
                writeln!(out, "{} {} ({} bytes)", b.sha256, b.path.display(), b.bytes)?;
            }
            Ok(Exit::Ok)
        }
        CorporaCommand::Check { names, regenerate, python, folder } => {
            let data = data_dir(folder.data_dir.as_deref())?.path;
            let names = parse(names)?;
            let report = if *regenerate {
                with_progress(|progress| python.builder(&data).check(&names, progress).map_err(failure))?
            } else {
                agentdojo::check(&data, &names, None)?
            };
            let printed = write!(out, "{report}");
            if report.is_ok() {
                printed?;
                return Ok(Exit::Ok);
            }
            // The verdict stands even when nobody reads the details.
            Err(Failure::new(Exit::Failed, format!("corpora differ from the lock: {}", report.summary())))
        }
    }
}

/// A build that made something else than the lock says is a failed check; everything else is wrong input.
fn failure(error: wardline_sources::Error) -> Failure {
    let failed = error.is_failed_check();
    let failure = Failure::from(error);
    if failed { Failure::new(Exit::Failed, failure.to_string()) } else { failure }
}

fn parse(names: &[String]) -> Result<Vec<CorpusName>, Failure> {
    if names.is_empty() {
        return Ok(CorpusName::ALL.to_vec());
    }
    let mut corpora = names.iter().map(|n| n.parse().map_err(Failure::from)).collect::<Result<Vec<_>, _>>()?;
    corpora.sort_unstable();
    corpora.dedup();
    Ok(corpora)
}

fn list(folder: &Folder, out: &mut Stdout) -> Result<Exit, Failure> {
    let data = data_dir(folder.data_dir.as_deref())?;
    let mut table = Table::new([Column::text("corpus"), Column::text("state"), Column::text("what")]);
    table.row([BUNDLED, "built in", "ten scenarios of our own that show the trade-off"]);
    let mut missing = false;
    for corpus in CorpusName::ALL {
        let status = agentdojo::status(&data.path, corpus);
        missing |= !matches!(status, Ok(Status::Built));
        // One bad file is no reason to hide the others.
        let state = status.map_or_else(|e| format!("unreadable: {e}"), |s| s.as_str().to_owned());
        table.row([corpus.as_str(), &state, corpus.about()]);
    }
    write!(out, "{}", table.to_text())?;
    writeln!(out, "\nData folder: {} ({})", data.path.display(), data.chosen_by)?;
    if missing {
        writeln!(out, "deveval corpora build builds what is missing, stale or changed.")?;
    }
    Ok(Exit::Ok)
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Shows a build's progress: a bar on a terminal, a line a stage elsewhere.
fn with_progress<T>(work: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<T, Failure>) -> Result<T, Failure> {
    // Python has the signal too and ends; this process stays to clean up. A second handler cannot be set, and need not.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    let bar = progress_bar(0, "looking for Python");
    let stage = |text: String| {
        if bar.is_hidden() {
            // A log that nobody reads is no reason to stop.
            let _ = writeln!(std::io::stderr(), "{text}");
        } else {
            bar.set_message(text);
        }
    };
    let mut exporting = false;
    let result = work(&mut |progress| match progress {
        Progress::Python { program, version } => stage(format!("Python {version} ({program})")),
        Progress::Installing => stage("installing the exporter's packages from PyPI".to_owned()),
        Progress::Exporting { done, total } => {
            set_length(&bar, total);
            bar.set_position(done);
            if !exporting {
                exporting = true;
                stage("replaying AgentDojo's tasks".to_owned());
            }
        }
        Progress::Checking => stage("comparing with the lock".to_owned()),
        _ => {}
    });
    bar.finish_and_clear();
    if result.is_err() && INTERRUPTED.load(Ordering::Relaxed) {
        return Err(Failure::new(Exit::Incomplete, "interrupted; the corpora are as they were before"));
    }
    result
}
