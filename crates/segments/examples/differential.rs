//! Compares the extractor with two other readers: CPython's `email` (through `benches/leaves.py`) and the crate `mailparse`.
//!
//! `differential FOLDER…` prints, for each text that another reader finds and the extractor does not, the kind of difference and
//! the file, and then the counts by kind. Texts are compared without white space; HTML by what the split makes of it.
#![expect(clippy::print_stdout, reason = "a program that prints")]

#[path = "common/files.rs"]
mod files;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wardline_segments::{Extraction, Limits, extract};

use crate::files::files;

/// A text as another reader has it: its content type, and the text.
type Leaf = (String, String);

#[derive(serde::Deserialize)]
struct Python {
    subject: String,
    parts: Vec<Leaf>,
}

fn main() {
    let paths: Vec<PathBuf> = std::env::args().skip(1).flat_map(|f| files(Path::new(&f))).collect();
    let python = python(&paths);
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (path, python) in paths.iter().zip(&python) {
        let raw = std::fs::read(path).expect("a file");
        let ours = extract(&raw, &Limits::default());
        let mut leaves: Vec<(&str, Leaf)> = vec![("cpython", ("subject".into(), python.subject.clone()))];
        leaves.extend(python.parts.iter().map(|l| ("cpython", l.clone())));
        if let Ok(parsed) = mailparse::parse_mail(&raw) {
            collect(&parsed, &mut leaves);
        }
        for (reader, (kind, text)) in leaves {
            let verdict = compare(&ours, &kind, &text);
            *counts.entry((reader, verdict)).or_default() += 1;
            if !matches!(verdict, "same" | "empty") {
                println!("{verdict}\t{reader}\t{kind}\t{}", path.display());
            }
        }
    }
    for ((reader, verdict), count) in counts {
        println!("= {reader} {verdict} {count}");
    }
}

fn python(paths: &[PathBuf]) -> Vec<Python> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/leaves.py");
    let mut child = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("python3");
    let list: String = paths.iter().map(|p| format!("{}\n", p.display())).collect();
    child.stdin.take().expect("a pipe").write_all(list.as_bytes()).expect("written");
    let out = child.wait_with_output().expect("its output").stdout;
    out.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| serde_json::from_slice(l).expect("JSON")).collect()
}

fn collect(part: &mailparse::ParsedMail<'_>, out: &mut Vec<(&'static str, Leaf)>) {
    use mailparse::MailHeaderMap;
    if out.iter().filter(|(r, _)| *r == "mailparse").count() == 0 {
        let subject = part.headers.get_first_value("Subject").unwrap_or_default();
        out.push(("mailparse", ("subject".into(), subject)));
    }
    if part.ctype.mimetype.starts_with("text/")
        && part.subparts.is_empty()
        && let Ok(body) = part.get_body()
    {
        out.push(("mailparse", (part.ctype.mimetype.clone(), body)));
    }
    part.subparts.iter().for_each(|p| collect(p, out));
}

/// Letters and digits only: readers differ over white space, line ends, quotes and replacement characters.
fn squeeze(text: &str, ascii: bool) -> String {
    text.chars().filter(|c| if ascii { c.is_ascii_alphanumeric() } else { c.is_alphanumeric() }).collect()
}

fn compare(ours: &Extraction, kind: &str, text: &str) -> &'static str {
    let mut texts = vec![text.to_owned()];
    if kind == "text/html" {
        let message = [b"Content-Type: text/html; charset=utf-8\n\n", text.as_bytes()].concat();
        let split = extract(&message, &Limits::default());
        texts = split.segments.into_iter().map(|s| s.content).collect();
    }
    if texts.iter().all(|t| squeeze(t, false).is_empty()) {
        return "empty";
    }
    let found = |ascii: bool| {
        let all: Vec<String> = ours.segments.iter().map(|s| squeeze(&s.content, ascii)).collect();
        texts.iter().all(|t| {
            let t = squeeze(t, ascii);
            all.iter().any(|o| o.contains(&t))
        })
    };
    if found(false) {
        "same"
    } else if ours.signals.truncated {
        "truncated"
    } else if found(true) {
        "charset"
    } else if texts.iter().any(|t| t.contains("begin ") || t.contains("=ybegin")) {
        "inline-file"
    } else if matches!(
        kind,
        "text/calendar" | "text/vcard" | "text/x-vcard" | "text/directory" | "text/rtf" | "text/richtext"
    ) {
        "decoded-format"
    } else if !ours.signals.ambiguity.is_empty() {
        "ambiguous"
    } else {
        "other"
    }
}
