use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::Corpus;
use crate::manifest::write_atomically;
use crate::paths::relative;
use crate::{BaseFolder, CorpusError, ManifestWriter, freeze};

/// The manifest's name in a built folder.
const MANIFEST: &str = "manifest.jsonl";

/// Writes a corpus to a folder: `manifest.jsonl`, its `.sha256`, the messages under `eml/`, and the data card as `card.md` and
/// `card.json`. Gives the path of the manifest.
///
/// All of it is written beside the folder and moved into place at the end; a corpus that stood there is replaced whole.
///
/// # Errors
/// The folder holds something that is no built corpus, or cannot be written.
pub fn write_corpus(corpus: &Corpus, folder: &Path) -> Result<PathBuf, CorpusError> {
    let occupied = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && !folder.join(MANIFEST).is_file() {
        let message = "holds files, but no manifest.jsonl of an earlier build; it is left as it is".to_owned();
        return Err(CorpusError::Input { path: folder.to_owned(), message });
    }
    let (partial, old) = (beside(folder, ".partial"), beside(folder, ".old"));
    remove(&partial)?;
    remove(&old)?;
    let written = write_to(corpus, &partial);
    if let Err(e) = written {
        remove(&partial)?;
        return Err(e);
    }
    if folder.exists() {
        fs::rename(folder, &old).map_err(CorpusError::io(folder))?;
    }
    fs::rename(&partial, folder).map_err(CorpusError::io(folder))?;
    remove(&old)?;
    Ok(folder.join(MANIFEST))
}

fn beside(folder: &Path, end: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(end);
    folder.with_file_name(name)
}

fn remove(folder: &Path) -> Result<(), CorpusError> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(CorpusError::io(folder)(e)),
        _ => Ok(()),
    }
}

fn write_to(corpus: &Corpus, folder: &Path) -> Result<(), CorpusError> {
    let paths = || corpus.items.iter().filter_map(|item| item.record.eml_path.as_deref());
    let folders: BTreeSet<PathBuf> =
        paths().filter_map(|path| folder.join(path).parent().map(Path::to_owned)).collect();
    for path in paths() {
        relative(path).map_err(|reason| CorpusError::Input { path: path.into(), message: reason })?;
    }
    fs::create_dir_all(folder).map_err(CorpusError::io(folder))?;
    for part in folders {
        fs::create_dir_all(&part).map_err(CorpusError::io(&part))?;
    }
    corpus.items.par_iter().try_for_each(|item| match (&item.eml, &item.record.eml_path) {
        (Some(eml), Some(path)) => {
            let file = folder.join(path);
            fs::write(&file, eml).map_err(CorpusError::io(&file))
        }
        _ => Ok(()),
    })?;
    let manifest = folder.join(MANIFEST);
    let mut writer = ManifestWriter::create(&manifest)?;
    for item in &corpus.items {
        writer.write(&item.record)?;
    }
    writer.finish()?;
    freeze(&manifest, &BaseFolder::open(folder)?)?;
    let stats = corpus.stats();
    write_atomically(&folder.join("card.md"), card(corpus).as_bytes())?;
    let json = serde_json::json!({
        "schema": 1,
        "name": corpus.name,
        "notes": corpus.notes,
        "inputs": corpus.inputs.iter().map(|i| serde_json::json!({"name": i.name, "sha256": i.sha256})).collect::<Vec<_>>(),
        "stats": stats,
    });
    let mut json = serde_json::to_vec_pretty(&json)
        .map_err(|e| CorpusError::Input { path: folder.join("card.json"), message: e.to_string() })?;
    json.push(b'\n');
    write_atomically(&folder.join("card.json"), &json)
}

fn card(corpus: &Corpus) -> String {
    let mut card = format!("# Mail corpus {}\n\n", corpus.name);
    for note in &corpus.notes {
        card.push_str(&format!("* {note}\n"));
    }
    if !corpus.notes.is_empty() {
        card.push('\n');
    }
    card.push_str(&corpus.stats().to_markdown());
    card.push_str("\n| input | SHA-256 |\n| --- | --- |\n");
    for input in &corpus.inputs {
        card.push_str(&format!("| {} | {} |\n", input.name, input.sha256));
    }
    card
}

/// A way in which a built folder is not what the build gives now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuiltDifference {
    /// The record, or the manifest's name.
    pub id: String,
    /// What differs, with the first differing bytes.
    pub message: String,
}

/// Compares a built folder byte for byte with the corpus.
///
/// # Errors
/// The folder has no manifest, or it cannot be read.
pub fn compare_with_built(corpus: &Corpus, folder: &Path) -> Result<Vec<BuiltDifference>, CorpusError> {
    let manifest = folder.join(MANIFEST);
    let built = fs::read(&manifest).map_err(CorpusError::io(&manifest))?;
    let mut lines = built.split_inclusive(|b| *b == b'\n');
    let mut differences = Vec::new();
    for item in &corpus.items {
        let id = &item.record.id;
        let mut expected =
            item.record.to_line().map_err(|e| CorpusError::Render { id: id.clone(), message: e.to_string() })?;
        expected.push('\n');
        if let Some(message) = first_difference(expected.as_bytes(), lines.next().unwrap_or_default()) {
            differences.push(BuiltDifference { id: id.clone(), message: format!("record: {message}") });
        }
        if let (Some(eml), Some(path)) = (&item.eml, &item.record.eml_path) {
            match fs::read(folder.join(path)) {
                Ok(found) => {
                    if let Some(message) = first_difference(eml, &found) {
                        differences.push(BuiltDifference { id: id.clone(), message: format!("{path}: {message}") });
                    }
                }
                Err(e) => differences.push(BuiltDifference { id: id.clone(), message: format!("{path}: {e}") }),
            }
        }
    }
    let more = lines.count();
    if more > 0 {
        let message = format!("{more} lines more than the build gives");
        differences.push(BuiltDifference { id: MANIFEST.into(), message });
    }
    Ok(differences)
}

/// Where two byte strings part, with some bytes of each.
pub(super) fn first_difference(expected: &[u8], found: &[u8]) -> Option<String> {
    if expected == found {
        return None;
    }
    let at = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    let show = |bytes: &[u8]| {
        let some = &bytes[at.min(bytes.len())..bytes.len().min(at + 24)];
        if some.is_empty() { "the end".to_owned() } else { format!("\"{}\"", some.escape_ascii()) }
    };
    Some(format!("differs at byte {at}: expected {}, found {}", show(expected), show(found)))
}
