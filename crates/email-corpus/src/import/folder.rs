use std::fs;
use std::path::{Path, PathBuf};

use super::{read_archive, read_mbox};
use crate::CorpusError;

/// The deepest folder that is looked into.
const MAX_DEPTH: usize = 32;
/// The largest file that is taken for a message, in bytes.
const MAX_MESSAGE: u64 = 256 << 20;

/// A message as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailFile {
    /// The path in its folder or archive with `/` between the parts, or the mailbox file and a number.
    pub name: String,
    /// The message without an mbox separator line.
    pub bytes: Vec<u8>,
}

impl MailFile {
    /// A message from a file's bytes: an mbox separator line at the start is taken away.
    pub(crate) fn from_file(name: String, mut bytes: Vec<u8>) -> Self {
        if bytes.starts_with(b"From ") {
            let end = bytes.iter().position(|b| *b == b'\n').map_or(bytes.len(), |at| at + 1);
            bytes.drain(..end);
        }
        Self { name, bytes }
    }
}

/// Reads mail from a path: a folder ([`read_mail_folder`]), an archive `.tar.bz2`, an mbox file, or one `.eml` file.
///
/// # Errors
/// Those of the reader that the path calls for.
pub fn read_mail(path: &Path) -> Result<Vec<MailFile>, CorpusError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let kind = fs::metadata(path).map_err(CorpusError::io(path))?;
    if kind.is_dir() {
        read_mail_folder(path)
    } else if name.ends_with(".tar.bz2") {
        read_archive(path)
    } else if name.ends_with(".eml") {
        Ok(vec![MailFile::from_file(name, read_file(path)?)])
    } else {
        read_mbox(path)
    }
}

/// Reads every file of a folder and the folders in it as a message, in the order of their paths; names that begin with a dot, and the
/// index file `cmds` of the SpamAssassin archives, are left out. A folder with `cur` and `new` is a Maildir: only these two are read.
///
/// # Errors
/// A symlink, a name that is not UTF-8, something that is neither file nor folder, folders nested deeper than 32, a file over 256 MiB,
/// or a file that cannot be read. Each names the path.
pub fn read_mail_folder(folder: &Path) -> Result<Vec<MailFile>, CorpusError> {
    let mut paths = Vec::new();
    if folder.join("cur").is_dir() && folder.join("new").is_dir() {
        for part in ["cur", "new"] {
            walk(&folder.join(part), part, 1, &mut paths)?;
        }
    } else {
        walk(folder, "", 0, &mut paths)?;
    }
    paths.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    paths.into_iter().map(|(name, path)| Ok(MailFile::from_file(name, read_file(&path)?))).collect()
}

fn wrong(path: &Path, message: &str) -> CorpusError {
    CorpusError::Input { path: path.to_owned(), message: message.to_owned() }
}

fn walk(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<(String, PathBuf)>) -> Result<(), CorpusError> {
    if depth > MAX_DEPTH {
        return Err(wrong(folder, "is nested deeper than 32 folders"));
    }
    for entry in fs::read_dir(folder).map_err(CorpusError::io(folder))? {
        let entry = entry.map_err(CorpusError::io(folder))?;
        let path = entry.path();
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
            return Err(wrong(&path, "has a name that is not UTF-8"));
        };
        if name.starts_with('.') || name == "cmds" {
            continue;
        }
        let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        let kind = entry.file_type().map_err(CorpusError::io(&path))?;
        if kind.is_symlink() {
            return Err(wrong(&path, "is a symlink, which is not followed"));
        } else if kind.is_dir() {
            walk(&path, &name, depth + 1, found)?;
        } else if kind.is_file() {
            found.push((name, path));
        } else {
            return Err(wrong(&path, "is neither a file nor a folder"));
        }
    }
    Ok(())
}

fn read_file(path: &Path) -> Result<Vec<u8>, CorpusError> {
    let size = fs::metadata(path).map_err(CorpusError::io(path))?.len();
    if size > MAX_MESSAGE {
        return Err(wrong(path, "is larger than 256 MiB"));
    }
    fs::read(path).map_err(CorpusError::io(path))
}
