//! Fetching from a hub: a server on this machine that speaks the hub's layout gives a tiny model.
#![cfg(all(feature = "candle", feature = "hub"))]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use tempfile::TempDir;
use wardline_classifier::{
    Chunking, Classifier, ClassifierError, Engine, Fetched, HubOptions, LoadOptions, Registry, ScoreTable, fetch_hub,
};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const OTHER: &str = "fedcba9876543210fedcba9876543210fedcba98";
const DIGITS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A hub with the repository `ours/tiny`: `main` and [`COMMIT`] are one commit.
struct Hub {
    address: String,
    token: Option<&'static str>,
    commit: &'static str,
    files: BTreeMap<&'static str, Vec<u8>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Hub {
    fn new() -> Self {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
        let files =
            ["config.json", "tokenizer.json", "model.safetensors"].map(|f| (f, fs::read(model.join(f)).unwrap()));
        Self { address: String::new(), token: None, commit: COMMIT, files: files.into(), asked: Arc::default() }
    }

    fn start(mut self) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        self.address = format!("http://{}", listener.local_addr().unwrap());
        let hub = Arc::new(self);
        let served = Arc::clone(&hub);
        // Ends with the test's process.
        thread::spawn(move || listener.incoming().for_each(|stream| served.answer(stream.unwrap())));
        hub
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut request, mut range, mut token) = (String::new(), None, None);
        reader.read_line(&mut request).unwrap();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "range" => range = Some(value.to_owned()),
                "authorization" => token = Some(value.to_owned()),
                _ => {}
            }
        }
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        self.asked.lock().unwrap().push(path.clone());
        let (status, headers, body) = self.reply(&path, range.as_deref(), token.as_deref());
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n", body.len());
        // A client that has seen enough may hang up.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
    }

    fn reply(&self, path: &str, range: Option<&str>, token: Option<&str>) -> (&'static str, String, Vec<u8>) {
        let missing = ("404 Not Found", String::new(), Vec::new());
        if self.token.is_some_and(|t| token != Some(&format!("Bearer {t}"))) {
            return ("401 Unauthorized", String::new(), Vec::new());
        }
        let known = |revision: &str| ["main", self.commit].contains(&revision);
        if let Some(revision) = path.strip_prefix("/api/models/ours/tiny/revision/") {
            let info = format!("{{\"sha\": \"{}\", \"siblings\": []}}", self.commit);
            return if known(revision) { ("200 OK", String::new(), info.into_bytes()) } else { missing };
        }
        let Some((revision, file)) = path.strip_prefix("/ours/tiny/resolve/").and_then(|p| p.split_once('/')) else {
            return missing;
        };
        let Some(bytes) = self.files.get(file).filter(|_| known(revision)) else { return missing };
        let (first, last) = range.and_then(|r| r.strip_prefix("bytes=")?.split_once('-')).unwrap_or(("0", ""));
        let (first, end) = (first.parse().unwrap_or(0), last.parse().map_or(bytes.len(), |last: usize| last + 1));
        let part = bytes[first..end].to_vec();
        let headers = format!(
            "ETag: \"{file}\"\r\nX-Repo-Commit: {}\r\nContent-Range: bytes {first}-{}/{}\r\n",
            self.commit,
            end - 1,
            bytes.len()
        );
        ("206 Partial Content", headers, part)
    }
}

/// A registry's entry and a place to fetch to.
struct Place {
    folder: TempDir,
    registry: Registry,
    options: HubOptions,
}

impl Place {
    fn new(hub: &Hub, entry: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("models.toml");
        let rest =
            "model='ours/tiny'\npositive_label='INJECTION'\narchitecture='bert'\nwindow_tokens=100\nstride_tokens=50\n";
        fs::write(&file, format!("[models.tiny]\n{rest}{entry}\n")).unwrap();
        let mut options = HubOptions::default();
        options.endpoint = Some(hub.address.clone());
        options.cache = Some(folder.path().join("cache/hub"));
        Self { registry: Registry::read(&file).unwrap(), folder, options }
    }

    fn fetch(&self) -> Result<Fetched, ClassifierError> {
        fetch_hub(self.registry.get("tiny").unwrap(), &self.folder.path().join("tiny"), &self.options)
    }

    fn refused(&self) -> String {
        let error = self.fetch().unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
        assert!(!self.folder.path().join("tiny").exists(), "nothing is half written: {error}");
        error
    }

    fn load(&self) -> Result<Classifier, ClassifierError> {
        let folder = self.folder.path().join("tiny");
        Classifier::load(&folder, Some(self.registry.get("tiny").unwrap()), &LoadOptions::new(Engine::Candle, 1))
    }
}

#[test]
fn a_pinned_commit_is_fetched_and_kept() {
    let hub = Hub::new().start();
    let place = Place::new(&hub, &format!("revision='{COMMIT}'\ngated=false"));
    let fetched = place.fetch().unwrap();
    assert_eq!((fetched.revision.as_str(), fetched.requested_revision.as_str()), (COMMIT, ""));
    assert_eq!(fetched.files.len(), 3);
    let table = place.load().unwrap().table();
    assert_eq!((table.revision.as_str(), table.requested_revision.as_str()), (COMMIT, ""));
    assert_eq!(table.runtime["files"]["model.safetensors"], *fetched.files["model.safetensors"]);

    // What is in the cache is not asked for again, and no file but the three was.
    let asked = || hub.asked.lock().unwrap().iter().filter(|p| p.contains("/resolve/")).cloned().collect::<Vec<_>>();
    let before = asked();
    place.fetch().unwrap();
    assert_eq!(asked(), before);
    assert!(before.iter().all(|p| p.starts_with(&format!("/ours/tiny/resolve/{COMMIT}/")) && !p.ends_with(".bin")));
}

#[test]
fn a_model_without_a_pinned_commit_asks_for_one() {
    let hub = Hub::new().start();
    let mut place = Place::new(&hub, "gated=false");
    let error = place.refused();
    assert!(error.contains("ours/tiny") && error.contains("no commit of it is pinned; give --revision"), "{error}");
    assert!(hub.asked.lock().unwrap().is_empty());

    place.options.revision = Some("main".to_owned());
    let fetched = place.fetch().unwrap();
    assert_eq!((fetched.revision.as_str(), fetched.requested_revision.as_str()), (COMMIT, "main"));
    let table = place.load().unwrap().table();
    assert_eq!((table.revision.as_str(), table.requested_revision.as_str()), (COMMIT, "main"));
    // The header survives the file.
    let back = ScoreTable::parse("t", table.to_json().as_bytes()).unwrap();
    assert_eq!(back.runtime["files"].as_object().unwrap().len(), 3);

    // Offline, the branch is the commit that it was.
    place.options.offline = true;
    place.options.endpoint = None;
    assert_eq!(place.fetch().unwrap(), fetched);
    place.options.revision = Some(COMMIT.to_owned());
    assert_eq!(place.fetch().unwrap().revision, COMMIT);
    place.options.revision = Some("dev".to_owned());
    let error = place.fetch().unwrap_err().to_string();
    assert!(error.contains("offline, and config.json at revision dev is not in the cache"), "{error}");
}

#[test]
fn a_gated_model_needs_a_token() {
    let mut hub = Hub::new();
    hub.token = Some("secret-token");
    let hub = hub.start();
    let mut place = Place::new(&hub, &format!("revision='{COMMIT}'\ngated=true"));
    let error = place.refused();
    assert!(error.contains("accept its terms") && error.contains("give a token"), "{error}");
    place.options.token = Some("wrong".to_owned());
    let error = place.refused();
    assert!(error.contains("give a token") && !error.contains("wrong"), "{error}");
    place.options.token = Some("secret-token".to_owned());
    place.fetch().unwrap();
    // The hub client's own token lies beside its cache.
    let mut place = Place::new(&hub, &format!("revision='{COMMIT}'\ngated=true"));
    fs::create_dir_all(place.folder.path().join("cache")).unwrap();
    fs::write(place.folder.path().join("cache/token"), "secret-token\n").unwrap();
    place.options.token = None;
    place.fetch().unwrap();
}

#[test]
fn what_a_hub_lacks_or_gives_otherwise_is_refused() {
    let mut hub = Hub::new();
    hub.files.remove("model.safetensors");
    hub.files.insert("pytorch_model.bin", b"a pickle".to_vec());
    let hub = hub.start();
    let mut place = Place::new(&hub, &format!("revision='{COMMIT}'\ngated=false"));
    let error = place.refused();
    assert!(error.contains("model.safetensors: the hub does not have it"), "{error}");
    assert!(!hub.asked.lock().unwrap().iter().any(|p| p.contains("pytorch_model.bin")));
    for revision in ["nowhere", OTHER] {
        place.options.revision = Some(revision.to_owned());
        assert!(place.refused().contains("the hub does not have it"), "{revision}");
    }
    for revision in ["", "../../x", "a//b", "a b", "/main"] {
        place.options.revision = Some(revision.to_owned());
        assert!(place.refused().contains("is no revision"), "{revision}");
    }

    let mut hub = Hub::new();
    hub.commit = "not-a-commit";
    let mut place = Place::new(&hub.start(), "gated=false");
    place.options.revision = Some("main".to_owned());
    assert!(place.refused().contains("the hub names no commit for revision main"));

    let hub = Hub::new().start();
    let pinned = format!("revision='{COMMIT}'\ngated=false\n[models.tiny.files]\n\"model.safetensors\"='{DIGITS}'");
    let error = Place::new(&hub, &pinned).refused();
    assert!(error.contains("its SHA-256 is ") && error.contains(DIGITS), "{error}");
}

#[test]
fn a_file_that_changed_after_it_was_fetched_is_refused() {
    let hub = Hub::new().start();
    let place = Place::new(&hub, &format!("revision='{COMMIT}'\ngated=false"));
    place.fetch().unwrap();
    let config = place.folder.path().join("tiny/config.json");
    let changed = fs::read_to_string(&config).unwrap().replace("\"INJECTION\"", "\"SAFE2\"");
    fs::write(&config, changed).unwrap();
    let error = place.load().err().unwrap().to_string();
    assert!(error.contains("config.json: its SHA-256 is "), "{error}");

    // A folder that holds another model is not taken for this one.
    place.fetch().unwrap();
    let fetched = place.folder.path().join("tiny/fetched.json");
    fs::write(&fetched, fs::read_to_string(&fetched).unwrap().replace("ours/tiny", "ours/other")).unwrap();
    let error = place.load().err().unwrap().to_string();
    assert!(error.contains("ours/tiny: ") && error.contains(" holds ours/other"), "{error}");
    fs::write(&fetched, "{").unwrap();
    assert!(place.load().err().unwrap().to_string().contains("fetched.json cannot be read"));
}

#[test]
fn a_run_does_not_go_on_with_other_files() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut options = LoadOptions::new(Engine::Candle, 1);
    options.chunking = Some(Chunking::new(100, 50, None).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let load = |fixture: &str| {
        for file in ["config.json", "tokenizer.json", "model.safetensors"] {
            fs::copy(fixtures.join(fixture).join(file), folder.path().join(file)).unwrap();
        }
        Classifier::load(folder.path(), None, &options).unwrap()
    };
    let table = load("bert").table();
    assert_eq!(table.revision, "", "a folder's revision is not known");
    load("bert").check_same("t.json", &table).unwrap();
    let error = load("roberta").check_same("t.json", &table).unwrap_err().to_string();
    assert!(error.starts_with("t.json") && error.contains("its files is"), "{error}");
}
