use std::fs;
use std::path::{Path, PathBuf};

use hf_hub::api::sync::{ApiBuilder, ApiRepo};
use hf_hub::{Cache, Repo, RepoType};

use crate::file::{io, read, write_beside};
use crate::model::check_digest;
use crate::{ClassifierError, ModelEntry};

/// How a hub is reached.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HubOptions {
    /// The hub's address; `None` for the Hugging Face hub.
    pub endpoint: Option<String>,
    /// Access token, which gated models need.
    pub token: Option<String>,
    /// Folder of the hub client's cache; `None` for the client's own default.
    pub cache: Option<PathBuf>,
    /// Take files from the cache alone.
    pub offline: bool,
}

/// What a model needs. A pickle is never asked for.
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// Fetches a model's files at the pinned revision into a folder, and returns the commit.
///
/// # Errors
/// A hub that cannot be reached, a model that it gives to others only, a file that is missing or not the pinned one.
pub fn fetch_hub(entry: &ModelEntry, folder: &Path, options: &HubOptions) -> Result<String, ClassifierError> {
    let failed = |message: String| ClassifierError::Fetch { what: entry.model.clone(), message };
    let cache = options.cache.clone().map_or_else(Cache::default, Cache::new);
    let repo = Repo::with_revision(entry.model.clone(), RepoType::Model, entry.revision.clone());
    let mut commit = entry.revision.clone();
    let paths: Vec<PathBuf> = if options.offline {
        let cached = cache.repo(repo);
        let path = |file: &&str| {
            cached.get(file).ok_or_else(|| {
                let at = &entry.revision;
                failed(format!("offline, and {file} at revision {at} is not in the cache {}", cache.path().display()))
            })
        };
        FILES.iter().map(path).collect::<Result<_, _>>()?
    } else {
        let mut builder = ApiBuilder::from_cache(cache).with_progress(false);
        if let Some(endpoint) = &options.endpoint {
            builder = builder.with_endpoint(endpoint.clone());
        }
        if options.token.is_some() {
            builder = builder.with_token(options.token.clone());
        }
        let hub = builder.build().map_err(|e| failed(line(&e)))?.repo(repo);
        commit = hub.info().map_err(|e| failed(unreachable(entry, &e)))?.sha;
        let path = |file: &&str| get(&hub, file).map_err(|e| failed(format!("{file}: {}", unreachable(entry, &e))));
        FILES.iter().map(path).collect::<Result<_, _>>()?
    };
    for (file, path) in FILES.iter().zip(&paths) {
        let bytes = read(path)?;
        if let Some(expected) = entry.files.get(*file) {
            check_digest(path, &bytes, expected)?;
        }
        write_beside(&folder.join(file), &bytes)?;
    }
    fs::write(folder.join("revision"), &commit).map_err(io(folder))?;
    Ok(commit)
}

fn get(hub: &ApiRepo, file: &str) -> Result<PathBuf, hf_hub::api::sync::ApiError> {
    hub.get(file)
}

fn unreachable(entry: &ModelEntry, error: &hf_hub::api::sync::ApiError) -> String {
    let said = line(error);
    if entry.gated && (said.contains("401") || said.contains("403")) {
        return format!("the hub gives it only to those who accepted its terms; accept them and give a token ({said})");
    }
    format!("{said}; give --model-dir with the files, or --offline to take them from the hub's cache")
}

fn line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
