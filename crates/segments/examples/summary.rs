//! Prints the table of `docs/segments.md`: segments and signals by source. `summary FOLDER…`, one source a folder or mailbox.
#![expect(clippy::print_stdout, reason = "a program that prints")]

#[path = "common/files.rs"]
mod files;
#[path = "common/mbox.rs"]
mod mbox;

use std::collections::BTreeMap;
use std::path::Path;

use wardline_segments::{Extraction, Limits, SegmentKind, extract};

use crate::files::files;
use crate::mbox::mbox;

fn main() {
    println!(
        "| source | messages | with HTML | segments | hidden_css_text | zero_width | homoglyphs | diverge | fragmented_url | ambiguity | unscannable | truncated |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut hiding: BTreeMap<String, usize> = BTreeMap::new();
    for source in std::env::args().skip(1) {
        let paths = files(Path::new(&source));
        let mut found: Vec<Extraction> = Vec::new();
        for path in paths {
            let bytes = std::fs::read(&path).expect("a file");
            let mailbox = path.extension().is_some_and(|e| e == "mbox");
            let parts = if mailbox { mbox(&bytes) } else { vec![bytes.as_slice()] };
            found.extend(parts.into_iter().map(|raw| extract(raw, &Limits::default())));
        }
        let count = |test: &dyn Fn(&Extraction) -> bool| found.iter().filter(|e| test(e)).count();
        let html = |e: &Extraction| {
            e.segments.iter().any(|s| matches!(s.kind, SegmentKind::HtmlVisible | SegmentKind::HtmlHidden))
        };
        for e in &found {
            e.signals.ambiguity.iter().for_each(|k| *kinds.entry(k.clone()).or_default() += 1);
            let mut seen: Vec<&str> = e.signals.unscannable.iter().map(|u| u.reason.as_str()).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.iter().for_each(|r| *reasons.entry((*r).to_owned()).or_default() += 1);
            if let Some(first) = e.evidence.iter().find(|n| n.signal == "hidden_css_text") {
                *hiding.entry(first.detail.clone()).or_default() += 1;
            }
        }
        let name =
            Path::new(&source).components().rev().take(2).map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>();
        println!(
            "| {}/{} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            name[1],
            name[0],
            found.len(),
            count(&html),
            found.iter().map(|e| e.segments.len()).sum::<usize>(),
            count(&|e| e.signals.hidden_css_text),
            count(&|e| e.signals.zero_width > 0),
            count(&|e| e.signals.homoglyph_ratio > 0.0),
            count(&|e| e.signals.plain_html_diverge),
            count(&|e| e.signals.fragmented_url),
            count(&|e| !e.signals.ambiguity.is_empty()),
            count(&|e| !e.signals.unscannable.is_empty()),
            count(&|e| e.signals.truncated),
        );
    }
    for (title, counts) in [("ambiguity", kinds), ("unscannable", reasons), ("hidden_css_text", hiding)] {
        let list: Vec<String> = counts.iter().map(|(k, n)| format!("`{k}` {n}")).collect();
        println!("\nMessages by kind of {title}: {}.", list.join(", "));
    }
}
