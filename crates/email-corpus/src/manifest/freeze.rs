use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{ManifestReader, write_atomically};
use crate::{BaseFolder, CorpusError};

/// The name of the digest file beside a manifest: the manifest's name and `.sha256`.
#[must_use]
pub fn digest_path(manifest: &Path) -> PathBuf {
    let mut name = manifest.file_name().unwrap_or_default().to_owned();
    name.push(".sha256");
    manifest.with_file_name(name)
}

/// Freezes a manifest: writes the SHA-256 of the manifest and of each message file beside it, in the form that `sha256sum -c` reads.
/// The manifest's own line comes first, the messages follow in manifest order.
///
/// # Errors
/// The manifest has a wrong line, a message path is refused or missing, or the digest file cannot be written.
pub fn freeze(manifest: &Path, base: &BaseFolder) -> Result<(), CorpusError> {
    let mut lines = String::new();
    for record in ManifestReader::open(manifest)? {
        let record = record?;
        if let (Some(bytes), Some(path)) = (base.read(&record)?, &record.eml_path) {
            lines.push_str(&format!("{}  {path}\n", hex(&Sha256::digest(&bytes))));
        }
    }
    let name = manifest.file_name().unwrap_or_default().to_string_lossy();
    let text = format!("{}  {name}\n{lines}", hex(&file_digest(manifest)?));
    write_atomically(&digest_path(manifest), text.as_bytes())
}

/// One line of a digest file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDigest {
    /// Lower-case hexadecimal SHA-256.
    pub sha256: String,
    /// The file's name; empty when the line has only a digest.
    pub file: String,
}

/// Streams the lines of a digest file.
pub struct Digests<R> {
    input: R,
    path: PathBuf,
    line: u64,
}

impl Digests<BufReader<File>> {
    /// Opens a digest file; `None` when there is none.
    ///
    /// # Errors
    /// It exists and cannot be opened.
    pub fn open(path: &Path) -> Result<Option<Self>, CorpusError> {
        match File::open(path) {
            Ok(file) => Ok(Some(Self { input: BufReader::new(file), path: path.to_owned(), line: 0 })),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(CorpusError::io(path)(e)),
        }
    }
}

impl<R: BufRead> Iterator for Digests<R> {
    type Item = Result<FileDigest, CorpusError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = String::new();
        self.line += 1;
        match self.input.by_ref().take(1 << 16).read_line(&mut text) {
            Ok(0) => None,
            Ok(_) => {
                let line = text.trim_end_matches(['\n', '\r']);
                let (digest, file) = line.split_once(' ').unwrap_or((line, ""));
                if digest.len() != 64 || !digest.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Some(Err(CorpusError::Line {
                        file: self.path.clone(),
                        line: self.line,
                        field: String::new(),
                        message: "does not begin with a SHA-256 in hexadecimal".into(),
                    }));
                }
                let file = file.strip_prefix([' ', '*']).unwrap_or(file);
                Some(Ok(FileDigest { sha256: digest.to_ascii_lowercase(), file: file.to_owned() }))
            }
            Err(e) => Some(Err(CorpusError::io(&self.path)(e))),
        }
    }
}

/// SHA-256 of a file, read in pieces.
pub(crate) fn file_digest(path: &Path) -> Result<[u8; 32], CorpusError> {
    let mut file = File::open(path).map_err(CorpusError::io(path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut buffer).map_err(CorpusError::io(path))?;
        if n == 0 {
            return Ok(hasher.finalize().into());
        }
        hasher.update(&buffer[..n]);
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, b| {
        let _ = write!(text, "{b:02x}");
        text
    })
}
