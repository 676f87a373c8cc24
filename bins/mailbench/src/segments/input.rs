//! Where messages come from: manifests, files, folders and mailboxes.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use wardline_cli::Failure;
use wardline_email_corpus::BaseFolder;
use wardline_segments::Fields;

/// One message to extract.
pub(super) struct Item {
    id: Option<String>,
    source: Source,
}

enum Source {
    File(PathBuf),
    /// A path that a record gives, inside the base folder.
    Within(Arc<BaseFolder>, String),
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
    /// A line of a manifest. Its `eml_path` leads into `base` and not out of it.
    pub(super) fn record(line: &[u8], number: usize, base: &Arc<BaseFolder>) -> Self {
        let bad = |id, message: String| Self { id, source: Source::Bad(message) };
        match serde_json::from_slice::<Record>(line) {
            Ok(Record { id, eml_path: Some(path), .. }) => {
                Self { id: Some(id), source: Source::Within(Arc::clone(base), path) }
            }
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
            Source::File(path) => read_file(path),
            Source::Within(base, path) => {
                let id = self.id().unwrap_or_default();
                base.find(id, path).map_err(|e| e.to_string()).and_then(|file| read_file(&file))
            }
            Source::Raw(bytes) => Ok(Message::Raw(bytes.as_slice().into())),
            Source::Inline(inline) => Ok(Message::Fields(inline)),
            Source::Bad(message) => Err(message.clone()),
        }
    }
}

fn read_file(path: &Path) -> Result<Message<'static>, String> {
    let bytes = regular(path).and_then(|()| fs::read(path));
    bytes.map(|bytes| Message::Raw(bytes.into())).map_err(|e| format!("{}: {e}", path.display()))
}

/// Refuses what is no file: opening a pipe waits for its writer, and a device may never end.
fn regular(path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.is_file() { Ok(()) } else { Err(io::Error::other("is no regular file")) }
}

/// The messages that paths name: files, folders in sorted order, and mailboxes. A path that can't be read is an item that fails.
///
/// Below one path each folder is read once, however many links lead to it.
pub(super) fn named(paths: &[PathBuf]) -> impl Iterator<Item = Result<Item, Failure>> + use<> {
    // Whether the path was named, rather than found in a folder.
    let mut pending: Vec<(PathBuf, bool)> = paths.iter().rev().map(|p| (p.clone(), true)).collect();
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut mailbox: Option<Mailbox> = None;
    std::iter::from_fn(move || {
        loop {
            if let Some(open) = &mut mailbox {
                match open.next() {
                    Some(item) => return Some(item),
                    None => mailbox = None,
                }
            }
            let (path, named) = pending.pop()?;
            if named {
                seen.clear();
            }
            if path.is_dir() {
                match fs::canonicalize(&path).and_then(|real| Ok((real, sorted(&path)?))) {
                    Ok((real, inside)) => {
                        if seen.insert(real) {
                            pending.extend(inside.into_iter().rev().map(|p| (p, false)));
                        }
                    }
                    Err(e) => return Some(Ok(unreadable(&path, &e))),
                }
            } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mbox") || e.eq_ignore_ascii_case("mbx"))
            {
                match regular(&path).and_then(|()| File::open(&path)) {
                    Ok(file) => mailbox = Some(Mailbox::new(path, file)),
                    Err(e) => return Some(Ok(unreadable(&path, &e))),
                }
            } else {
                return Some(Ok(Item { id: Some(path.display().to_string()), source: Source::File(path) }));
            }
        }
    })
}

fn unreadable(path: &Path, error: &io::Error) -> Item {
    let name = path.display().to_string();
    Item { source: Source::Bad(format!("{name}: {error}")), id: Some(name) }
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
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
        let items: Vec<Item> = named(&[path]).map(|i| i.expect("an item")).collect();
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
        let folder = tempfile::tempdir().expect("a folder");
        let base = &Arc::new(BaseFolder::open(folder.path()).expect("a folder"));
        assert!(Item::record(b"{\"id\":\"a\"}", 3, base).read().is_err_and(|e| e.contains("line 3")));
        assert!(Item::record(b"nonsense", 4, base).read().is_err_and(|e| e.contains("line 4")));
        let inline =
            Item::record(br#"{"id":"a","detector_input":{"subject":"S","body":{"text":"T","html":null}}}"#, 1, base);
        assert!(matches!(inline.read(), Ok(Message::Fields(f)) if f.as_fields().text == "T"));
    }
}
