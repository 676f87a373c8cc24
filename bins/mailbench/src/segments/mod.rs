//! `mailbench segments`: messages in, canonical segments out.

mod input;

use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use rayon::prelude::*;
use wardline_cli::{Exit, Failure, Stdout};
use wardline_email_corpus::BaseFolder;
use wardline_segments::{Extraction, Fields, Limits, extract, extract_fields, naive_fields, naive_view};

use input::Item;

/// Extract the text segments of messages, one JSON line each
///
/// Reads a manifest (one JSON record a line) from standard input, or messages from the named files, folders and mbox files. The
/// output is in input order. A message that can't be read gives a record with `error`, the run goes on, and the exit code is 1.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Messages, folders of messages, or mailboxes (*.mbox); without any, a manifest is read from standard input
    paths: Vec<PathBuf>,
    /// What to extract: everything, or what a simple gateway reads
    #[arg(long, value_enum, default_value_t = View::Canonical)]
    view: View,
    /// Folder that the manifest's eml_path is relative to, and may not leave
    #[arg(long, value_name = "DIR", default_value = ".")]
    base_dir: PathBuf,
    /// Add where each signal was found and what became of every byte
    #[arg(long)]
    explain: bool,
    /// Threads to use [default: one a core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// The two views of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum View {
    /// Every text a person or a model could read
    Canonical,
    /// Subject, From, and the plain text, or stripped HTML when there is none
    Naive,
}

/// Messages that are worked on at a time: enough to keep the threads busy, few enough to hold in memory.
const BATCH: usize = 64;

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = args.threads {
        if threads == 0 {
            return Err(Failure::usage("--threads must be at least 1"));
        }
        pool = pool.num_threads(threads);
    }
    let pool = pool.build()?;
    let items: Box<dyn Iterator<Item = Result<Item, Failure>>> = if args.paths.is_empty() {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Err(Failure::usage("no messages: name files or folders, or give a manifest on standard input"));
        }
        Box::new(manifest(BufReader::new(stdin), BaseFolder::open(&args.base_dir)?))
    } else {
        Box::new(input::named(&args.paths))
    };
    let mut items = items.peekable();
    let mut failed = 0_usize;
    while items.peek().is_some() {
        let mut batch: Vec<Item> = Vec::with_capacity(BATCH);
        for item in items.by_ref().take(BATCH) {
            batch.push(item?);
        }
        let lines: Vec<(Vec<u8>, bool)> = pool.install(|| batch.par_iter().map(|item| line(item, args)).collect());
        for (line, ok) in lines {
            out.write_all(&line)?;
            failed += usize::from(!ok);
        }
    }
    out.flush()?;
    if failed > 0 {
        return Err(Failure::new(
            Exit::Failed,
            format!("{failed} messages could not be read; their records have an error"),
        ));
    }
    Ok(Exit::Ok)
}

/// Extracts one message and writes its record.
fn line(item: &Item, args: &Args) -> (Vec<u8>, bool) {
    let mut found = match item.read() {
        Ok(input::Message::Raw(raw)) => view(args.view, &raw),
        Ok(input::Message::Fields(fields)) => {
            let limits = Limits::default();
            let fields: Fields<'_> = fields.as_fields();
            if args.view == View::Naive { naive_fields(&fields, &limits) } else { extract_fields(&fields, &limits) }
        }
        Err(error) => Extraction::failed(None, error),
    };
    found.id = item.id().map(str::to_owned);
    if !args.explain {
        found = found.compact();
    }
    let ok = found.error.is_none();
    let mut line = serde_json::to_vec(&found).unwrap_or_default();
    line.push(b'\n');
    (line, ok)
}

fn view(view: View, raw: &[u8]) -> Extraction {
    let limits = Limits::default();
    match view {
        View::Canonical => extract(raw, &limits),
        View::Naive => naive_view(raw, &limits),
    }
}

/// The records of a manifest. A line that is no record becomes an item that fails, with its number.
fn manifest<R: BufRead + 'static>(
    reader: R,
    base: BaseFolder,
) -> impl Iterator<Item = Result<Item, Failure>> + 'static {
    let base = Arc::new(base);
    reader.split(b'\n').enumerate().filter_map(move |(i, line)| match line {
        Ok(line) if line.iter().all(u8::is_ascii_whitespace) => None,
        Ok(line) => Some(Ok(Item::record(&line, i + 1, &base))),
        Err(e) => Some(Err(Failure::usage(format!("standard input: {e}")))),
    })
}
