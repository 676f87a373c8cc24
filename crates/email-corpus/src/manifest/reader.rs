use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::{CorpusError, EmailRecord};

/// The longest line that is read, in bytes; a longer one is an error, so that memory stays bounded.
const MAX_LINE: u64 = 64 << 20;

/// Streams the records of a manifest in constant memory.
///
/// A byte-order mark, a carriage return at a line's end, an empty line and a line that is cut short are errors that name the line.
/// The reader yields nothing after an error in reading; after a wrong record it goes on with the next line.
///
/// ```
/// use wardline_email_corpus::ManifestReader;
///
/// let text = r#"{"id":"a","label":{"is_malicious":false,"threat_type":"benign"},"provenance":{"source":"handcrafted","synthetic":true},"sender_auth_condition":"verified"}
/// {"id":"b","label":{"is_malicious":true,"threat_type":"hoax"}}
/// "#;
/// let mut reader = ManifestReader::new(text.as_bytes(), "mail.jsonl");
/// assert_eq!(reader.next().unwrap().unwrap().id, "a");
/// let error = reader.next().unwrap().unwrap_err().to_string();
/// assert!(error.starts_with("mail.jsonl: line 2: field `label.threat_type`: unknown variant"), "{error}");
/// assert!(reader.next().is_none());
/// ```
pub struct ManifestReader<R> {
    input: R,
    name: PathBuf,
    line: u64,
    buffer: Vec<u8>,
    line_ended: bool,
    ended: bool,
}

impl ManifestReader<BufReader<File>> {
    /// Opens a manifest file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, CorpusError> {
        let file = File::open(path).map_err(CorpusError::io(path))?;
        Ok(Self::new(BufReader::with_capacity(1 << 16, file), path))
    }
}

impl<R: BufRead> ManifestReader<R> {
    /// Reads a manifest from any reader; `name` stands for the file in error messages.
    pub fn new(input: R, name: impl Into<PathBuf>) -> Self {
        Self { input, name: name.into(), line: 0, buffer: Vec::new(), line_ended: false, ended: false }
    }

    /// The number of the line read last, counted from 1; 0 before the first.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The bytes of the line read last, without its line break.
    #[must_use]
    pub fn raw_line(&self) -> &[u8] {
        self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer)
    }

    /// Whether the line read last ends in a line break, as every line of a whole manifest does.
    #[must_use]
    pub fn line_ended(&self) -> bool {
        self.line_ended
    }

    /// The reader underneath.
    pub fn into_inner(self) -> R {
        self.input
    }

    fn wrong(&self, field: String, message: impl Into<String>) -> CorpusError {
        CorpusError::Line { file: self.name.clone(), line: self.line, field, message: message.into() }
    }

    fn parse(&self) -> Result<EmailRecord, CorpusError> {
        let line = self.raw_line();
        if self.line == 1 && line.starts_with(b"\xef\xbb\xbf") {
            return Err(self.wrong(String::new(), "begins with a byte-order mark"));
        }
        if line.ends_with(b"\r") {
            return Err(self.wrong(String::new(), "ends in CR LF; lines of a manifest end in LF alone"));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return Err(self.wrong(String::new(), "is empty"));
        }
        let mut json = serde_json::Deserializer::from_slice(line);
        let record: EmailRecord = serde_path_to_error::deserialize(&mut json).map_err(|e| {
            let field = if e.path().iter().next().is_none() { String::new() } else { e.path().to_string() };
            let cut = e.inner().is_eof() && !self.line_ended();
            let message = strip_position(&e.into_inner().to_string());
            self.wrong(field, if cut { format!("the file is cut in this line: {message}") } else { message })
        })?;
        json.end().map_err(|e| self.wrong(String::new(), strip_position(&e.to_string())))?;
        if record.id.is_empty() {
            return Err(self.wrong("id".into(), "is empty"));
        }
        Ok(record)
    }
}

/// `serde_json` counts lines within the text it is given; a record is one line, and the column stays.
fn strip_position(message: &str) -> String {
    message.replace(" at line 1 column ", " at column ")
}

impl<R: BufRead> Iterator for ManifestReader<R> {
    type Item = Result<EmailRecord, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        self.buffer.clear();
        match self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.buffer) {
            Ok(0) => {
                self.ended = true;
                return None;
            }
            Ok(_) => {}
            Err(source) => {
                self.ended = true;
                return Some(Err(CorpusError::Io { path: self.name.clone(), source }));
            }
        }
        self.line += 1;
        self.line_ended = self.buffer.ends_with(b"\n");
        if self.buffer.len() as u64 == MAX_LINE && !self.line_ended() {
            self.ended = true;
            return Some(Err(self.wrong(String::new(), format!("is longer than {MAX_LINE} bytes"))));
        }
        Some(self.parse())
    }
}

/// Reads a whole manifest into memory.
///
/// # Errors
/// The first error of the reader.
pub fn read_manifest(path: &Path) -> Result<Vec<EmailRecord>, CorpusError> {
    ManifestReader::open(path)?.collect()
}
