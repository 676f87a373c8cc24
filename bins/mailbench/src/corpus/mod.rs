//! `mailbench corpus`: building, checking and reading the benchmark's mail.

mod build;
mod inspect;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use wardline_cli::{Exit, Failure, Stdout};

/// Build, check and read the benchmark's mail
#[derive(Args)]
pub(crate) struct CorpusArgs {
    #[command(subcommand)]
    command: CorpusCommand,
}

#[derive(Subcommand)]
enum CorpusCommand {
    /// Build a profile into the data folder; exit 1 when it is not what the lock says
    Build(build::BuildArgs),
    /// Build a profile anew in memory, and compare every byte with the lock and with what is built; exit 1 when one differs
    Check(build::CheckArgs),
    /// Make a corpus of your own mail: a folder, an mbox, a Maildir, an archive or one message
    Add(build::AddArgs),
    /// Check a manifest and its files: schema, ids, paths, digests; exit 1 when something is wrong
    Verify(inspect::VerifyArgs),
    /// Count a manifest's records
    Stats(inspect::StatsArgs),
    /// Compare two manifests by id; exit 1 when they differ
    Diff {
        /// The manifest to start from
        first: PathBuf,
        /// The manifest to compare with it
        second: PathBuf,
    },
    /// Merge manifests into one, which stands in or above their folders
    Combine {
        /// The manifests
        #[arg(required = true)]
        parts: Vec<PathBuf>,
        /// The manifest to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Keep message paths as they are: all parts share one base folder
        #[arg(long)]
        keep_paths: bool,
    },
    /// Write a manifest's digest file, with the digest of every message
    Freeze {
        /// The manifest
        manifest: PathBuf,
        /// Folder that message paths are relative to [default: the manifest's]
        #[arg(long, value_name = "DIR")]
        base_dir: Option<PathBuf>,
    },
    /// List the data sets that the full profile is built from, and where their files go
    Sources,
}

pub(crate) fn run(args: &CorpusArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    match &args.command {
        CorpusCommand::Build(args) => build::build(args, out),
        CorpusCommand::Check(args) => build::check(args, out),
        CorpusCommand::Add(args) => build::add(args, out),
        CorpusCommand::Verify(args) => inspect::verify(args, out),
        CorpusCommand::Stats(args) => inspect::stats(args, out),
        CorpusCommand::Diff { first, second } => inspect::diff(first, second, out),
        CorpusCommand::Combine { parts, out: whole, keep_paths } => inspect::combine(parts, whole, *keep_paths, out),
        CorpusCommand::Freeze { manifest, base_dir } => inspect::freeze(manifest, base_dir.as_deref(), out),
        CorpusCommand::Sources => inspect::sources(out),
    }
}
