//! Where messages come from: manifests, files, folders and mailboxes.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use wardline_cli::Failure;
use wardline_segments::Fields;

/// One message to extract.
pub(super) struct Item {
    id: Option<String>,
    source: Source,
}

enum Source {
    File(PathBuf),
    Raw(Vec<u8>),
    Inline(Box<Inline>),
    Bad(String),
}

/// A message as it was read.
pub(super) enum Message<'a> {
    Raw(std::borrow::Cow<'a, [u8]>),
    Fields(&'a Inline),
}

/// The part of a manifest record that names its message.
#[derive(Deserialize)]
struct Record {
    id: String,
    #[serde(default)]
    eml_path: Option<String>,
    #[serde(default)]
    detector_input: Option<Inline>,
}

/// A message that stands in its record.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Inline {
    subject: Option<String>,
    from: Option<String>,
    reply_to: Option<String>,
    to: Option<Names>,
    body: Option<Body>,
}

/// One address field, or a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Body {
    Text(String),
    Parts { text: Option<String>, html: Option<String> },
}

impl Inline {
    pub(super) fn as_fields(&self) -> Fields<'_> {
        let mut fields = Fields::default();
        fields.subject = self.subject.as_deref().unwrap_or_default();
        fields.from = self.from.as_deref().unwrap_or_default();
        fields.reply_to = self.reply_to.as_deref().unwrap_or_default();
        fields.to = match &self.to {
            Some(Names::One(one)) => vec![one],
            Some(Names::Many(many)) => many.iter().map(String::as_str).collect(),
            None => Vec::new(),
        };
        match &self.body {
            Some(Body::Text(text)) => fields.text = text,
            Some(Body::Parts { text, html }) => {
                fields.text = text.as_deref().unwrap_or_default();
                fields.html = html.as_deref().unwrap_or_default();
            }
            None => {}
        }
        fields
    }
}

impl Item {
    /// A line of a manifest. A relative `eml_path` is taken from `base`.
    pub(super) fn record(line: &[u8], number: usize, base: &Path) -> Self {
        let bad = |id, message: String| Self { id, source: Source::Bad(message) };
        match serde_json::from_slice::<Record>(line) {
            Ok(Record { id, eml_path: Some(path), .. }) => Self { id: Some(id), source: Source::File(base.join(path)) },
            Ok(Record { id, detector_input: Some(inline), .. }) => {
                Self { id: Some(id), source: Source::Inline(Box::new(inline)) }
            }
            Ok(Record { id, .. }) => bad(Some(id), format!("line {number}: neither eml_path nor detector_input")),
            Err(e) => bad(None, format!("line {number}: {e}")),
        }
    }

    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    pub(super) fn read(&self) -> Result<Message<'_>, String> {
        match &self.source {
            Source::File(path) => match fs::read(path) {
                Ok(bytes) => Ok(Message::Raw(bytes.into())),
                Err(e) => Err(format!("{}: {e}", path.display())),
            },
            Source::Raw(bytes) => Ok(Message::Raw(bytes.as_slice().into())),
            Source::Inline(inline) => Ok(Message::Fields(inline)),
            Source::Bad(message) => Err(message.clone()),
        }
    }
}

/// The messages that paths name: files, folders in sorted order, and mailboxes. A path that does not exist is an error at once.
pub(super) fn named(paths: &[PathBuf]) -> Result<impl Iterator<Item = Result<Item, Failure>> + use<>, Failure> {
    for path in paths {
        fs::metadata(path).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))?;
    }
    let mut pending: Vec<PathBuf> = paths.iter().rev().cloned().collect();
    let mut mailbox: Option<Mailbox> = None;
    Ok(std::iter::from_fn(move || {
        loop {
            if let Some(open) = &mut mailbox {
                match open.next() {
                    Some(item) => return Some(item),
                    None => mailbox = None,
                }
            }
            let path = pending.pop()?;
            if path.is_dir() {
                match sorted(&path) {
                    Ok(inside) => pending.extend(inside.into_iter().rev()),
                    Err(e) => return Some(Ok(unreadable(&path, &e))),
                }
            } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mbox") || e.eq_ignore_ascii_case("mbx"))
            {
                match File::open(&path) {
                    Ok(file) => mailbox = Some(Mailbox::new(path, file)),
                    Err(e) => return Some(Ok(unreadable(&path, &e))),
                }
            } else {
                return Some(Ok(Item { id: Some(path.display().to_string()), source: Source::File(path) }));
            }
        }
    }))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Item {
    let name = path.display().to_string();
    Item { source: Source::Bad(format!("{name}: {error}")), id: Some(name) }
}

fn sorted(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut inside: Vec<PathBuf> = fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    inside.retain(|p| !p.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b".")));
    inside.sort();
    Ok(inside)
}

/// An mbox file, one message at a time. Ids are the path, `#` and the number.
struct Mailbox {
    path: PathBuf,
    reader: BufReader<File>,
    number: usize,
    /// The `From ` line of the message to come.
    first: Vec<u8>,
    ended: bool,
}

impl Mailbox {
    fn new(path: PathBuf, file: File) -> Self {
        Self { path, reader: BufReader::with_capacity(1 << 16, file), number: 0, first: Vec::new(), ended: false }
    }

    fn next(&mut self) -> Option<Result<Item, Failure>> {
        if self.ended {
            return None;
        }
        let mut message = std::mem::take(&mut self.first);
        let mut blank = message.is_empty();
        let mut line = Vec::new();
        loop {
            line.clear();
            match self.reader.read_until(b'\n', &mut line) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(_) => {}
                Err(e) => {
                    self.ended = true;
                    return Some(Ok(unreadable(&self.path, &e)));
                }
            }
            if blank && line.starts_with(b"From ") && !message.iter().all(u8::is_ascii_whitespace) {
                self.first = line;
                break;
            }
            blank = matches!(line.as_slice(), b"\n" | b"\r\n");
            message.extend_from_slice(&line);
        }
        if message.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        self.number += 1;
        let id = Some(format!("{}#{}", self.path.display(), self.number));
        Some(Ok(Item { id, source: Source::Raw(message) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mailbox_gives_its_messages_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.mbox");
        fs::write(&path, "From a\nSubject: 1\n\none\nFrom here on\n\nFrom b\nSubject: 2\n\ntwo\n").expect("a file");
        let items: Vec<Item> = named(&[path]).expect("paths").map(|i| i.expect("an item")).collect();
        let texts: Vec<String> = items
            .iter()
            .map(|i| match i.read() {
                Ok(Message::Raw(raw)) => String::from_utf8_lossy(&raw).into_owned(),
                _ => String::new(),
            })
            .collect();
        assert_eq!(texts, ["From a\nSubject: 1\n\none\nFrom here on\n\n", "From b\nSubject: 2\n\ntwo\n"]);
        assert!(items[1].id().is_some_and(|id| id.ends_with("a.mbox#2")));
    }

    #[test]
    fn records_that_name_no_message_fail_alone() {
        let base = Path::new("/base");
        assert!(Item::record(b"{\"id\":\"a\"}", 3, base).read().is_err_and(|e| e.contains("line 3")));
        assert!(Item::record(b"nonsense", 4, base).read().is_err_and(|e| e.contains("line 4")));
        let inline =
            Item::record(br#"{"id":"a","detector_input":{"subject":"S","body":{"text":"T","html":null}}}"#, 1, base);
        assert!(matches!(inline.read(), Ok(Message::Fields(f)) if f.as_fields().text == "T"));
    }
}
