//! `deveval texts`: what a score table must hold.

use std::io::Write;
use std::path::PathBuf;

use wardline_classifier::CorpusTexts;
use wardline_cli::{Exit, Failure, Stdout};
use wardline_defense::Source;

use crate::corpora;

#[derive(clap::Args)]
pub(crate) struct TextsArgs {
    /// Corpus whose calls are read; of attacks, the benign tasks' too
    #[arg(long, value_name = "NAME")]
    corpus: String,

    /// Also print the texts: a JSON object a line, with sha256 and text
    #[arg(long)]
    with_text: bool,

    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

pub(crate) fn run(args: &TextsArgs, out: &mut Stdout) -> Result<Exit, Failure> {
    let corpus = corpora::load(&args.corpus, args.data_dir.as_deref())?;
    for text in CorpusTexts::of(corpus.scenarios()).iter() {
        let key: String = text.sha256().iter().map(|b| format!("{b:02x}")).collect();
        if args.with_text {
            let line = serde_json::json!({"sha256": key, "text": text.as_str()});
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{key}")?;
        }
    }
    Ok(Exit::Ok)
}
