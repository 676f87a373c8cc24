//! Models that cannot be run are refused by name, each in one line.
#![cfg(feature = "candle")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

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
        ("bert", "id2label", "{\"0\": \"A\", \"1\": \"A\"}", "id2label has the label A twice"),
        (
            "bert",
            "architectures",
            "[\"BertForTokenClassification\"]",
            "architectures [\"BertForTokenClassification\"] is no sequence classification",
        ),
        ("bert", "is_decoder", "true", "a decoder (is_decoder) is not supported"),
        (
            "bert",
            "problem_type",
            "\"multi_label_classification\"",
            "problem_type multi_label_classification is not supported",
        ),
        ("bert", "quantization_config", "{\"bits\": 8}", "(quantization_config) are not supported"),
        ("bert", "pad_token_id", "320", "pad_token_id 320 is outside the model's vocabulary (vocab_size), 0 to 319"),
        ("bert", "pad_token_id", "-1", "pad_token_id -1 is outside"),
        ("modernbert", "global_attn_every_n_layers", "0", "global_attn_every_n_layers is 0, not a size"),
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
    set(&folder, "vocab_size", "200");
    let error = refused(folder.path());
    assert!(
        error.contains("tokenizer.json gives token ids up to 266; the model's vocabulary (vocab_size) ends at 199"),
        "{error}"
    );

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

    let mut endless = options();
    endless.chunking = Some(Chunking::new(usize::MAX, 50, None).unwrap());
    assert!(refused_with(copy("bert").path(), &endless).contains("the model has positions for 160"));

    let mut none = options();
    none.threads = 0;
    assert!(refused_with(folder.path(), &none).contains("threads"));
}

/// A registry whose model `tiny` has these digests of files.
fn registry(folder: &TempDir, files: &str) -> Registry {
    let path = folder.path().join("models.toml");
    let entry = "[models.tiny]\nmodel='ours/tiny'\nrevision='1'\npositive_label='INJECTION'\ngated=false\n";
    fs::write(&path, format!("{entry}[models.tiny.files]\n{files}\n")).unwrap();
    Registry::read(&path).unwrap()
}

/// A head of three layers for a fixture's encoder.
const HEAD: &str =
    r#"{"w_h1": [[HIDDEN]], "b_h1": [0.5], "w_h2": [[1.0]], "b_h2": [0.0], "w_out": [[1.0]], "b_out": [0.0]}"#;

/// Renames the weights as those of an encoder without a head of its own.
fn bare_encoder(folder: &TempDir) {
    let path = folder.path().join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let (length, rest) = bytes.split_at(8);
    let (header, data) = rest.split_at(u64::from_le_bytes(length.try_into().unwrap()).try_into().unwrap());
    let header = std::str::from_utf8(header).unwrap().replace("\"bert.", "\"");
    let length = (header.len() as u64).to_le_bytes();
    fs::write(path, [&length, header.as_bytes(), data].concat()).unwrap();
}

#[test]
fn a_head_has_the_label_of_the_registry_alone() {
    let folder = copy("bert");
    bare_encoder(&folder);
    let hidden = vec!["0.125"; 32].join(", ");
    fs::write(folder.path().join("head.json"), HEAD.replace("HIDDEN", &hidden)).unwrap();
    let registry = registry(&folder, "");
    for entry in [None, Some(registry.get("tiny").unwrap())] {
        let model = Classifier::load(folder.path(), entry, &options()).unwrap();
        assert_eq!(model.labels(), ["INJECTION"]);
        let mut safe = options();
        safe.positive_label = Some("SAFE".to_owned());
        let error = Classifier::load(folder.path(), entry, &safe).err().unwrap().to_string();
        assert!(error.ends_with("has no label SAFE; it has INJECTION"), "{error}");
    }
}

#[test]
fn a_head_that_the_registry_names_must_be_there() {
    let folder = copy("bert");
    let registry = registry(&folder, &format!("\"head.json\"='{}'", "0".repeat(64)));
    let error = Classifier::load(folder.path(), registry.get("tiny").ok(), &options()).err().unwrap().to_string();
    assert!(error.contains("ours/tiny: no head.json in "), "{error}");
}

#[test]
fn a_table_of_another_engine_or_cut_is_not_gone_on_with() {
    let folder = copy("bert");
    let model = Classifier::load(folder.path(), None, &options()).unwrap();
    let mut table = model.table();
    model.check_resumable("t.json", &table).unwrap();
    let ours = table.runtime["engine"].clone();
    for (engine, want) in [
        (Some("ONNX Runtime"), "t.json was begun with ONNX Runtime, not candle"),
        (Some("candle 0.11, CUDA"), "t.json was begun with candle 0.11, CUDA, not candle 0.11"),
        (None, "an engine that it does not name"),
    ] {
        table.runtime.remove("engine");
        table.runtime.extend(engine.map(|e| ("engine".to_owned(), e.into())));
        model.check_same("t.json", &table).unwrap();
        let error = model.check_resumable("t.json", &table).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }
    table.runtime.insert("engine".to_owned(), ours);
    table.chunking = Chunking::new(100, 50, Some(4)).unwrap();
    let error = model.check_resumable("t.json", &table).unwrap_err().to_string();
    let want = "its chunking is windows of 100 tokens, a new one every 50, the first 4 alone, not windows of 100 tokens, a new one every 50";
    assert!(error.ends_with(want), "{error}");
}

#[test]
fn files_that_are_not_the_pinned_ones() {
    let folder = copy("bert");
    let registry = registry(&folder, &format!("\"config.json\"='{}'", "0".repeat(64)));
    let error = Classifier::load(folder.path(), registry.get("tiny").ok(), &options()).err().unwrap().to_string();
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
    // Header and names are there; what the header names is not.
    let mut cut = [b"\x7fELF\x02\x01".as_slice(), &[0; 58], b"OrtGetApiBase\0"].concat();
    cut[42] = 1;
    fs::write(&library, cut).unwrap();
    assert!(refused_with(folder.path(), &options).contains("libonnxruntime.so is cut off"));
    #[expect(clippy::disallowed_methods, reason = "the library is named by the variable that its users know")]
    let Some(whole) = std::env::var_os("ORT_DYLIB_PATH") else {
        println!("skipped: ORT_DYLIB_PATH is not set (shared library of ONNX Runtime)");
        return;
    };
    let whole = fs::read(whole).unwrap();
    for kept in [whole.len() / 2, whole.len() - 1] {
        fs::write(&library, &whole[..kept]).unwrap();
        assert!(refused_with(folder.path(), &options).contains("libonnxruntime.so is cut off"), "{kept}");
    }
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
