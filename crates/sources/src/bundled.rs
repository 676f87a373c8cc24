use std::path::Path;
use std::sync::LazyLock;

use crate::Corpus;

/// The name of the corpus that [`bundled`] gives.
pub const BUNDLED: &str = "bundled";

const LINES: &str = include_str!("bundled.jsonl");

/// Ten scenarios of our own that show the trade-off between defenses, and need nothing else.
///
/// Some injections are caught only by what they say, some only by where they send what, and one by neither; some benign tasks
/// say what a content filter looks for.
pub fn bundled() -> &'static Corpus {
    static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
        Corpus::parse(Path::new("bundled.jsonl"), LINES.as_bytes()).expect("the bundled corpus parses")
    });
    &CORPUS
}

#[cfg(test)]
mod tests;
