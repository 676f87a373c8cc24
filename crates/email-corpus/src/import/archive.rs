use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use bzip2::read::MultiBzDecoder;
use tar::{Archive, EntryType};

use super::MailFile;
use crate::CorpusError;

/// What an archive may hold in all, in bytes.
const MAX_TOTAL: u64 = 1 << 30;

/// Reads the messages of a `.tar.bz2` archive, in the order of their paths, without writing anything to disk. Names are given without
/// the archive's top folder; names that begin with a dot and the index file `cmds` are left out.
///
/// # Errors
/// The archive cannot be read, holds a path that is absolute or has `..`, a link or a device, or more than 1 GiB.
pub fn read_archive(path: &Path) -> Result<Vec<MailFile>, CorpusError> {
    let wrong = |message: String| CorpusError::Input { path: path.to_owned(), message };
    let file = File::open(path).map_err(CorpusError::io(path))?;
    let mut archive = Archive::new(MultiBzDecoder::new(file));
    let mut total = 0;
    let mut found = Vec::new();
    for entry in archive.entries().map_err(CorpusError::io(path))? {
        let mut entry = entry.map_err(CorpusError::io(path))?;
        let name = entry.path().map_err(CorpusError::io(path))?.into_owned();
        let shown = name.display().to_string();
        let mut parts = Vec::new();
        for part in name.components() {
            match part {
                Component::Normal(part) => {
                    let part = part.to_str().ok_or_else(|| wrong(format!("{shown:?} is not UTF-8")))?;
                    parts.push(part.to_owned());
                }
                Component::CurDir => {}
                _ => return Err(wrong(format!("holds the path {shown:?}, which leaves the archive"))),
            }
        }
        match entry.header().entry_type() {
            EntryType::Directory | EntryType::XGlobalHeader => continue,
            EntryType::Regular | EntryType::Continuous => {}
            other => return Err(wrong(format!("{shown:?} is no file but {other:?}"))),
        }
        let name = if parts.len() > 1 { parts[1..].join("/") } else { parts.join("/") };
        if name.is_empty() || name == "cmds" || name.split('/').any(|part| part.starts_with('.')) {
            continue;
        }
        total += entry.size();
        if total > MAX_TOTAL {
            return Err(wrong("holds more than 1 GiB".into()));
        }
        let mut bytes = Vec::new();
        entry.by_ref().take(MAX_TOTAL).read_to_end(&mut bytes).map_err(CorpusError::io(path))?;
        found.push(MailFile::from_file(name, bytes));
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}
