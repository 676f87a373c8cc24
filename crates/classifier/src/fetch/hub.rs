use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hf_hub::api::sync::{ApiBuilder, ApiError, ApiRepo};
use hf_hub::{Cache, Repo, RepoType};

use crate::fetched::{Fetched, sha256};
use crate::file::{read, write_beside};
use crate::{ClassifierError, ModelEntry};

/// How a hub is reached.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HubOptions {
    /// Commit or branch to take instead of the pinned commit; needed where none is pinned.
    pub revision: Option<String>,
    /// The hub's address; `None` for the Hugging Face hub.
    pub endpoint: Option<String>,
    /// Access token, which gated models need; `None` for the one that the hub client keeps beside its cache, if any.
    pub token: Option<String>,
    /// Folder of the hub client's cache; `None` for the client's own default.
    pub cache: Option<PathBuf>,
    /// Take files from the cache alone.
    pub offline: bool,
}

/// What a model needs. A pickle is never asked for.
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// Fetches a model's files into a folder, and returns what they are: the commit, and the digest of each.
///
/// The files are those of one commit, also where a branch is asked for. `fetched.json` beside them keeps commit and digests, against
/// which they are checked whenever the model is loaded.
///
/// # Errors
/// No revision where none is pinned; a hub that cannot be reached, a model that it gives to others only, a file that is missing or
/// not the pinned one.
pub fn fetch_hub(entry: &ModelEntry, folder: &Path, options: &HubOptions) -> Result<Fetched, ClassifierError> {
    let failed = |message: String| ClassifierError::Fetch { what: entry.model.clone(), message };
    let revision = options.revision.as_ref().or(entry.revision.as_ref()).ok_or_else(|| {
        failed(
            "no commit of it is pinned; give --revision with a commit, or with a branch, whose commit is then kept"
                .to_owned(),
        )
    })?;
    check_revision(revision).map_err(failed)?;
    let pinned = entry.revision.as_ref() == Some(revision);
    let cache = options.cache.clone().map_or_else(Cache::default, Cache::new);
    let repo = |revision: &str| Repo::with_revision(entry.model.clone(), RepoType::Model, revision.to_owned());
    let (commit, paths) = if options.offline {
        let cached = cache.repo(repo(revision));
        let path = |file: &&str| {
            cached.get(file).ok_or_else(|| {
                let place = cache.path().display();
                failed(format!("offline, and {file} at revision {revision} is not in the cache {place}"))
            })
        };
        let paths = FILES.iter().map(path).collect::<Result<Vec<_>, _>>()?;
        // A snapshot's folder is named by its commit.
        let commit = paths[0].parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        (commit, paths)
    } else {
        let mut builder = ApiBuilder::from_cache(cache.clone()).with_progress(false);
        if let Some(endpoint) = &options.endpoint {
            builder = builder.with_endpoint(endpoint.trim_end_matches('/').to_owned());
        }
        if options.token.is_some() {
            builder = builder.with_token(options.token.clone());
        }
        let hub = builder.build().map_err(|e| failed(line(&e)))?;
        let commit = hub.repo(repo(revision)).info().map_err(|e| failed(unreachable(entry, &e)))?.sha;
        if !is_commit(&commit) {
            return Err(failed(format!("the hub names no commit for revision {revision}, but {commit:?}")));
        }
        let at_commit = hub.repo(repo(&commit));
        let path =
            |file: &&str| get(&at_commit, file).map_err(|e| failed(format!("{file}: {}", unreachable(entry, &e))));
        let paths = FILES.iter().map(path).collect::<Result<Vec<_>, _>>()?;
        // So that the revision is found offline, too.
        cache.repo(repo(revision)).create_ref(&commit).map_err(crate::file::io(cache.path()))?;
        (commit, paths)
    };
    if is_commit(revision) && *revision != commit {
        return Err(failed(format!("the hub gives commit {commit} for {revision}")));
    }
    let mut fetched = Fetched {
        model: entry.model.clone(),
        revision: commit,
        requested_revision: if pinned { String::new() } else { revision.clone() },
        files: BTreeMap::new(),
    };
    let mut contents = Vec::new();
    for (file, path) in FILES.iter().zip(&paths) {
        let bytes = read(path)?;
        let digest = sha256(&bytes);
        if let Some(expected) = entry.files.get(*file).filter(|e| pinned && **e != digest) {
            return Err(ClassifierError::Digest { path: path.clone(), found: digest, expected: expected.clone() });
        }
        fetched.files.insert((*file).to_owned(), digest);
        contents.push((*file, bytes));
    }
    for (file, bytes) in contents {
        write_beside(&folder.join(file), &bytes)?;
    }
    fetched.write(folder)?;
    Ok(fetched)
}

fn is_commit(revision: &str) -> bool {
    revision.len() == 40 && revision.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// A revision becomes part of addresses and of paths in the cache.
fn check_revision(revision: &str) -> Result<(), String> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-_./".contains(&b);
    if revision.bytes().all(fits)
        && !revision.starts_with('/')
        && revision.split('/').all(|p| !matches!(p, "" | "." | ".."))
    {
        return Ok(());
    }
    Err(format!("{revision:?} is no revision"))
}

fn get(hub: &ApiRepo, file: &str) -> Result<PathBuf, ApiError> {
    hub.get(file)
}

fn unreachable(entry: &ModelEntry, error: &ApiError) -> String {
    let said = line(error);
    if said.contains("401") || said.contains("403") {
        let terms = if entry.gated { "accept its terms there, and " } else { "" };
        return format!("the hub does not give it to everyone; {terms}give a token ({said})");
    }
    if said.contains("404") {
        return format!("the hub does not have it ({said})");
    }
    format!("{said}; give --model-dir with the files, or --offline to take them from the hub client's cache")
}

fn line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
