use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::AnalysisError;

/// The longest line that is read, in bytes, so that memory stays bounded.
const MAX_LINE: u64 = 64 << 20;

/// Streams the lines of a file and takes the file's digest on the way.
pub(crate) struct Lines {
    input: Box<dyn BufRead + Send>,
    path: PathBuf,
    line: u64,
    buffer: Vec<u8>,
    digest: Option<Sha256>,
}

impl Lines {
    pub(crate) fn open(path: &Path, with_digest: bool) -> Result<Self, AnalysisError> {
        let file = File::open(path).map_err(AnalysisError::io(path))?;
        if file.metadata().is_ok_and(|m| m.is_dir()) {
            return Err(AnalysisError::input(path, "is a folder"));
        }
        Ok(Self::new(Box::new(BufReader::with_capacity(1 << 17, file)), path, with_digest))
    }

    /// Lines of any reader; `path` stands for it in messages.
    pub(crate) fn new(input: Box<dyn BufRead + Send>, path: &Path, with_digest: bool) -> Self {
        let digest = with_digest.then(Sha256::new);
        Self { input, path: path.to_owned(), line: 0, buffer: Vec::new(), digest }
    }

    /// Goes to the next line; `false` at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, AnalysisError> {
        self.buffer.clear();
        let read = self
            .input
            .as_mut()
            .take(MAX_LINE)
            .read_until(b'\n', &mut self.buffer)
            .map_err(AnalysisError::io(&self.path))?;
        if read == 0 {
            return Ok(false);
        }
        self.line += 1;
        if let Some(digest) = &mut self.digest {
            digest.update(&self.buffer);
        }
        if self.buffer.len() as u64 == MAX_LINE && !self.ended() {
            return Err(self.wrong(format!("is longer than {MAX_LINE} bytes")));
        }
        if self.bytes().iter().all(u8::is_ascii_whitespace) {
            return Err(self.wrong("is empty"));
        }
        Ok(true)
    }

    /// The line without its line break.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer)
    }

    pub(crate) fn wrong(&self, message: impl Into<String>) -> AnalysisError {
        AnalysisError::Line { file: self.path.clone(), line: self.line, message: message.into() }
    }

    /// An error of JSON, which tells a line that is cut from one that is wrong.
    pub(crate) fn not_json(&self, field: &str, error: &serde_json::Error) -> AnalysisError {
        let field = if field.is_empty() || field == "." { String::new() } else { format!("field `{field}`: ") };
        let cut = if error.is_eof() && !self.ended() { "the file is cut in this line: " } else { "" };
        let text = error.to_string().replace(" at line 1 column ", " at column ");
        self.wrong(format!("{cut}{field}{text}"))
    }

    /// Lower-case hexadecimal SHA-256 of what was read, when it was asked for.
    pub(crate) fn digest(self) -> String {
        self.digest.map_or(String::new(), |d| hex(&d.finalize()))
    }

    fn ended(&self) -> bool {
        self.buffer.ends_with(b"\n")
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, b| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{b:02x}");
        text
    })
}
