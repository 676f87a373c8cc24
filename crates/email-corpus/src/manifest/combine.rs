use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{ManifestReader, ManifestWriter};
use crate::CorpusError;

/// How message paths of the parts become paths of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Paths {
    /// Each part's paths are relative to its own folder, which stands in or under the folder of the whole; they are made relative to
    /// that.
    #[default]
    Rebase,
    /// All parts share one base folder; paths stay as they are.
    Keep,
}

/// Merges manifests into one, in the order given, and writes every record's `eval_role`. Gives the number of records.
///
/// Ids are held in memory; records are not.
///
/// # Errors
/// A wrong line, an id that stands twice (both places are named), or, with [`Paths::Rebase`], a part outside the folder of the whole.
/// Nothing is written then.
pub fn combine(parts: &[PathBuf], whole: &Path, paths: Paths) -> Result<u64, CorpusError> {
    let mut seen: HashMap<String, (usize, u64)> = HashMap::new();
    let prefixes = parts
        .iter()
        .map(|part| match paths {
            Paths::Keep => Ok(String::new()),
            Paths::Rebase => prefix(part, whole),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut out = ManifestWriter::create(whole)?;
    for (n, (part, prefix)) in parts.iter().zip(&prefixes).enumerate() {
        let mut reader = ManifestReader::open(part)?;
        while let Some(record) = reader.next() {
            let mut record = record?;
            if let Some((file, line)) = seen.insert(record.id.clone(), (n, reader.line())) {
                return Err(CorpusError::DuplicateId {
                    id: record.id,
                    first: (parts[file].clone(), line),
                    second: (part.clone(), reader.line()),
                });
            }
            record.eval_role = Some(record.role());
            if let Some(path) = &mut record.eml_path {
                path.insert_str(0, prefix);
            }
            out.write(&record)?;
        }
    }
    out.finish()
}

/// The way from the folder of the whole down to the folder of the part, with a slash at its end.
fn prefix(part: &Path, whole: &Path) -> Result<String, CorpusError> {
    let folder = |path: &Path| {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).and_then(|()| folder.canonicalize()).map_err(CorpusError::io(folder))
    };
    let (inner, outer) = (folder(part)?, folder(whole)?);
    let way = inner.strip_prefix(&outer).map_err(|_| CorpusError::Input {
        path: part.to_owned(),
        message: format!("stands outside {}, which message paths of the whole are relative to", outer.display()),
    })?;
    Ok(way.components().map(|c| format!("{}/", c.as_os_str().to_string_lossy())).collect())
}
