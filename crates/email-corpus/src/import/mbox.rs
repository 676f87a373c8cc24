use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::MailFile;
use crate::CorpusError;

/// The largest message that is read, in bytes.
const MAX_MESSAGE: usize = 256 << 20;

/// Streams the messages of a mailbox file.
///
/// A message begins at a line `From `, a sender and a time of day, at the file's start or after an empty line; other lines that begin
/// with `From ` are text. One `>` is taken away from lines that begin with `>From ` after any number of `>`. The line itself and the
/// empty line before the next are no part of the message; everything else is given byte for byte.
///
/// ```
/// use std::path::Path;
/// use wardline_email_corpus::Mbox;
///
/// let text = "From a@b Mon Nov 15 11:01:01 2004\nSubject: one\n\n>From here\nFrom there\n\nFrom - Tue Nov 16 11:01:01 2004\nSubject: two\n\n";
/// let messages: Vec<_> = Mbox::new(text.as_bytes(), Path::new("m.mbox")).collect::<Result<_, _>>()?;
/// assert_eq!(messages, [b"Subject: one\n\nFrom here\nFrom there\n".to_vec(), b"Subject: two\n".to_vec()]);
/// # Ok::<(), wardline_email_corpus::CorpusError>(())
/// ```
pub struct Mbox<R> {
    input: R,
    path: PathBuf,
    line: u64,
    started: bool,
    ended: bool,
}

impl<R: BufRead> Mbox<R> {
    /// Reads a mailbox from any reader; `path` stands for the file in error messages.
    pub fn new(input: R, path: &Path) -> Self {
        Self { input, path: path.to_owned(), line: 0, started: false, ended: false }
    }

    fn wrong(&self, message: &str) -> CorpusError {
        CorpusError::Line { file: self.path.clone(), line: self.line, field: String::new(), message: message.into() }
    }

    fn read_message(&mut self) -> Result<Option<Vec<u8>>, CorpusError> {
        let mut message = Vec::new();
        let mut after_empty = true;
        loop {
            let start = message.len();
            let limit = (MAX_MESSAGE + 1 - start) as u64;
            let n =
                self.input.by_ref().take(limit).read_until(b'\n', &mut message).map_err(CorpusError::io(&self.path))?;
            if n == 0 || message.len() > MAX_MESSAGE {
                self.ended = true;
                if n > 0 {
                    return Err(self.wrong("the message is larger than 256 MiB"));
                }
                if !self.started && self.line > 0 {
                    return Err(self.wrong("holds no `From ` line: this is no mailbox file"));
                }
                break;
            }
            self.line += 1;
            let line = &message[start..];
            if after_empty && is_separator(line) {
                message.truncate(start);
                if self.started {
                    break;
                }
                self.started = true;
                after_empty = false;
                continue;
            }
            let empty = matches!(line, b"\n" | b"\r\n");
            if !self.started {
                if !empty {
                    self.ended = true;
                    return Err(self.wrong("does not begin with a `From ` line: this is no mailbox file"));
                }
                message.truncate(start);
                continue;
            }
            let arrows = line.iter().take_while(|b| **b == b'>').count();
            if arrows > 0 && line[arrows..].starts_with(b"From ") {
                message.remove(start);
            }
            after_empty = empty;
        }
        if message.ends_with(b"\n\r\n") {
            message.truncate(message.len() - 2);
        } else if message.ends_with(b"\n\n") {
            message.truncate(message.len() - 1);
        }
        Ok(self.started.then_some(message))
    }
}

impl<R: BufRead> Iterator for Mbox<R> {
    type Item = Result<Vec<u8>, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let message = self.read_message();
        if message.is_err() {
            self.ended = true;
        }
        message.transpose()
    }
}

/// `From ` and something, and a time such as `11:01` in what follows.
fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else { return false };
    let rest = &rest[..rest.len().min(1000)];
    rest.windows(5).any(|w| {
        w[0].is_ascii_digit() && w[1].is_ascii_digit() && w[2] == b':' && w[3].is_ascii_digit() && w[4].is_ascii_digit()
    })
}

/// All messages of a mailbox file, named by the file and their number, counted from 1.
///
/// # Errors
/// The file cannot be read, or is no mailbox file.
pub fn read_mbox(path: &Path) -> Result<Vec<MailFile>, CorpusError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = File::open(path).map_err(CorpusError::io(path))?;
    Mbox::new(BufReader::new(file), path)
        .enumerate()
        .map(|(n, bytes)| Ok(MailFile { name: format!("{name}#{:05}", n + 1), bytes: bytes? }))
        .collect()
}
