//! Models that cannot be run are refused by name, each in one line.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(feature = "candle")]

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use wardline_classifier::{Chunking, Classifier, Engine, LoadOptions, Registry, ScoreTable};

/// A copy of a fixture to spoil.
fn copy(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::copy(from.join(file), folder.path().join(file)).unwrap();
    }
    folder
}

fn options() -> LoadOptions {
    let mut options = LoadOptions::new(Engine::Candle, 1);
    options.chunking = Some(Chunking::new(100, 50, None).unwrap());
    options
}

fn refused(folder: &Path) -> String {
    refused_with(folder, &options())
}

fn refused_with(folder: &Path, options: &LoadOptions) -> String {
    let error = Classifier::load(folder, None, options).err().expect("the model is refused").to_string();
    assert!(!error.contains('\n') && error.contains(&folder.display().to_string()), "{error}");
    error
}

/// Sets a value of the config, written as JSON.
fn set(folder: &TempDir, key: &str, value: &str) {
    let path = folder.path().join("config.json");
    let mut config: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    config[key] = serde_json::from_str(value).unwrap();
    fs::write(path, config.to_string()).unwrap();
}

#[test]
fn files_that_are_missing_or_broken() {
    let folder = copy("bert");
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    assert!(refused(folder.path()).contains("no tokenizer.json in"));

    let folder = copy("bert");
    fs::write(folder.path().join("tokenizer.json"), "{}").unwrap();
    assert!(refused(folder.path()).contains("tokenizer.json cannot be read"));

    let folder = copy("bert");
    let weights = folder.path().join("model.safetensors");
    let bytes = fs::read(&weights).unwrap();
    for length in [0, 7, 1000, bytes.len() - 1] {
        fs::write(&weights, &bytes[..length]).unwrap();
        assert!(refused(folder.path()).contains("model.safetensors cannot be read"), "{length}");
    }
    fs::rename(&weights, folder.path().join("pytorch_model.bin")).unwrap();
    let error = refused(folder.path());
    assert!(error.contains("only pytorch_model.bin, a pickle"), "{error}");

    let folder = copy("bert");
    for config in ["", "[]", "{\"model_type\": \"bert\"}"] {
        fs::write(folder.path().join("config.json"), config).unwrap();
        assert!(refused(folder.path()).contains("config.json"));
    }
}

#[test]
fn configs_that_no_engine_here_runs() {
    for (fixture, key, value, want) in [
        ("deberta-v3", "conv_kernel_size", "3", "conv layers (conv_kernel_size) are not supported"),
        ("deberta-v3", "pos_att_type", "\"c2p|p2p\"", "pos_att_type p2p is not supported"),
        ("bert", "model_type", "\"t5\"", "model_type t5 is not supported"),
        ("bert", "hidden_act", "\"mish\"", "activation mish is not supported"),
        ("bert", "position_embedding_type", "\"relative_key\"", "position_embedding_type relative_key"),
        ("bert", "num_attention_heads", "5", "no multiple of 5 heads"),
        ("bert", "num_hidden_layers", "-1", "num_hidden_layers is -1"),
        ("bert", "id2label", "{\"0\": \"A\", \"2\": \"B\"}", "id2label"),
        ("modernbert", "classifier_pooling", "\"max\"", "classifier_pooling max is not supported"),
    ] {
        let folder = copy(fixture);
        set(&folder, key, value);
        let error = refused(folder.path());
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn weights_that_do_not_fit_the_config() {
    let folder = copy("bert");
    set(&folder, "vocab_size", "321");
    let error = refused(folder.path());
    assert!(error.contains("embeddings.word_embeddings.weight has shape [320, 32], not [321, 32]"), "{error}");

    let folder = copy("bert");
    set(&folder, "num_hidden_layers", "4");
    let error = refused(folder.path());
    assert!(error.contains("has no tensor bert.encoder.layer.3.attention.self.query.weight"), "{error}");
}

#[test]
fn labels_and_windows_that_the_model_lacks() {
    let folder = copy("bert");
    let mut unknown = options();
    unknown.positive_label = Some("JAILBREAK".to_owned());
    let error = refused_with(folder.path(), &unknown);
    assert!(error.ends_with("has no label JAILBREAK; it has SAFE, INJECTION"), "{error}");

    let error = refused_with(folder.path(), &LoadOptions::new(Engine::Candle, 1));
    assert!(error.contains("windows of 512 tokens with special ones; the model has positions for 160"), "{error}");

    let mut none = options();
    none.threads = 0;
    assert!(refused_with(folder.path(), &none).contains("threads"));
}

#[test]
fn files_that_are_not_the_pinned_ones() {
    let folder = copy("bert");
    let registry = folder.path().join("models.toml");
    let entry = "[models.tiny]\nmodel='ours/tiny'\nrevision='1'\npositive_label='INJECTION'\ngated=false\n";
    fs::write(&registry, format!("{entry}[models.tiny.files]\n\"config.json\"='{}'\n", "0".repeat(64))).unwrap();
    let entry = Registry::read(&registry).unwrap();
    let error =
        Classifier::load(folder.path(), Some(entry.get("tiny").unwrap()), &options()).err().unwrap().to_string();
    assert!(error.contains("config.json: its SHA-256 is ") && error.contains(", not 0000"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_half_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    // The part that is written first stands on a device without space.
    std::os::unix::fs::symlink("/dev/full", folder.path().join("t.json.part")).unwrap();
    let error = ScoreTable::new("a/b", "r", "L", Chunking::PUBLISHED).write(&path).unwrap_err().to_string();
    assert!(error.contains("t.json: No space left on device"), "{error}");
    assert!(!path.exists());
}

#[cfg(unix)]
#[test]
fn a_device_is_not_replaced_by_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    let error = ScoreTable::new("a/b", "r", "L", Chunking::PUBLISHED).write(&path).unwrap_err().to_string();
    assert!(error.contains("t.json: is there and is no file"), "{error}");
    assert!(path.is_symlink());
}

#[cfg(feature = "ort")]
#[test]
fn a_runtime_that_is_none() {
    let folder = copy("bert");
    let library = folder.path().join("libonnxruntime.so");
    let mut options = options();
    options.engine = Engine::OnnxRuntime(library.clone());
    assert!(refused_with(folder.path(), &options).contains("no ONNX Runtime library"));
    fs::write(&library, "a text").unwrap();
    assert!(refused_with(folder.path(), &options).contains("is no library of ONNX Runtime"));
}

#[cfg(feature = "hub")]
#[test]
fn a_hub_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::built_in().unwrap();
    let mut options = wardline_classifier::HubOptions::default();
    options.endpoint = Some("http://127.0.0.1:9".to_owned());
    options.cache = Some(folder.path().join("cache"));
    let entry = registry.get("protectai").unwrap();
    let fetch = |options: &wardline_classifier::HubOptions| {
        wardline_classifier::fetch_hub(entry, &folder.path().join("m"), options).unwrap_err().to_string()
    };
    let error = fetch(&options);
    assert!(!error.contains('\n') && error.contains("protectai/") && error.contains("--model-dir"), "{error}");
    options.offline = true;
    let error = fetch(&options);
    assert!(error.contains("offline, and config.json at revision 90c9989b1a34"), "{error}");
    assert!(!folder.path().join("m").exists());
}
