//! Classifier defenses from published score tables: every published figure, and what is refused.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and says why it is skipped")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

/// The folders of built corpora and of published score tables.
struct Folders {
    data: PathBuf,
    scores: PathBuf,
}

fn folders() -> Option<Folders> {
    #[expect(clippy::disallowed_methods, reason = "folders of test data are named by variables")]
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let found = variable("WARDLINE_DATA_TEST").zip(variable("WARDLINE_SCORES"));
    if found.is_none() {
        println!("skipped: WARDLINE_DATA_TEST and WARDLINE_SCORES are not set (built corpora, published score tables)");
    }
    found.map(|(data, scores)| Folders { data, scores })
}

impl Folders {
    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_deveval")).args(args).env("WARDLINE_DATA", &self.data).output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--format", "json"]].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn table(&self, name: &str) -> String {
        self.scores.join(name).with_extension("json").to_str().unwrap().to_owned()
    }
}

fn row<'a>(rows: &'a Value, defense: &str) -> &'a Value {
    rows.as_array().unwrap().iter().find(|r| r["defense"] == defense).unwrap()
}

fn counts(row: &Value) -> [u64; 3] {
    ["blocked", "attributable", "kept"].map(|name| row[name].as_u64().unwrap())
}

#[test]
fn figures_on_pairs() {
    let Some(folders) = folders() else { return };
    let result = folders.json(&["--corpus", "pairs", "--scores", &folders.table("pairs/protectai")]);
    let classifier = &result["classifiers"][0];
    assert_eq!(classifier["benign_outputs_flagged"], 32);
    assert_eq!(classifier["benign_outputs_read"], 100);
    assert_eq!(classifier["injected_outputs_detected"], 332);
    assert_eq!(classifier["carrying_outputs_read"], 434);
    for (defense, want) in [
        ("classifier-context@0.5", [575, 272, 46]),
        ("classifier-args@0.5", [245, 167, 84]),
        ("classifier-both@0.5", [581, 272, 45]),
    ] {
        assert_eq!(counts(row(&result["results"], defense)), want, "{defense}");
    }
    for (defense, want) in [
        ("classifier-both@0.5", [581, 272, 45]),
        ("classifier-both@0.8", [577, 307, 51]),
        ("classifier-both@0.9", [565, 313, 53]),
        ("classifier-both@0.95", [548, 310, 58]),
        ("classifier-both@0.99", [501, 348, 72]),
    ] {
        assert_eq!(counts(row(&classifier["threshold_sweep"], defense)), want, "{defense}");
    }
    assert!(result["by_suite"]["slack"].as_array().unwrap().iter().any(|r| r["defense"] == "classifier-both@0.5"));
}

#[test]
fn the_page_draws_thresholds() {
    let Some(folders) = folders() else { return };
    let folder = tempfile::TempDir::new().unwrap();
    let page = folder.path().join("page.html");
    let table = folders.table("pairs/protectai");
    let output = folders.run(&["--corpus", "pairs", "--scores", &table, "--html", page.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let html = std::fs::read_to_string(&page).unwrap();
    for needed in
        ["Injections blocked by threshold", "Benign tasks kept by threshold", "classifier-both@0.95", "332 of 434"]
    {
        assert!(html.contains(needed), "{needed}");
    }
    assert!(html.contains("Suite slack") && html.contains("two-way bootstrap variance"));
}

#[test]
fn figures_under_attacks() {
    let Some(folders) = folders() else { return };
    let result = folders.json(&["--corpus", "attacks", "--scores", &folders.table("attacks/protectai")]);
    for (attack, detected, attributable) in [
        ("direct", 209, 223),
        ("ignore_previous", 405, 306),
        ("injecagent", 401, 306),
        ("system_message", 296, 261),
        ("tool_knowledge", 206, 226),
    ] {
        assert_eq!(result["classifiers_by_attack"][attack][0]["injected_outputs_detected"], detected, "{attack}");
        let both = row(&result["by_attack"][attack], "classifier-both@0.5");
        assert_eq!(both["attributable"], attributable, "{attack}");
    }
}

#[test]
fn figures_under_transforms() {
    let Some(folders) = folders() else { return };
    for (transform, n, mean, evaded) in
        [("framing", 1520, -0.043, 2), ("field_split", 1510, 0.066, 103), ("leet", 1510, -0.104, 19)]
    {
        let result = folders.json(&[
            "--corpus",
            &format!("attacks-{transform}"),
            "--scores",
            &folders.table(&format!("transformed/protectai-{transform}")),
            "--baseline-scores",
            &folders.table("attacks/protectai"),
        ]);
        assert_eq!(result["transform"], transform);
        assert_eq!(result["threshold"], json!(0.5));
        let model = &result["models"][0];
        assert_eq!((model["n"].as_u64(), model["evaded"].as_u64()), (Some(n), Some(evaded)), "{transform}");
        assert!((model["mean"].as_f64().unwrap() - mean).abs() < 0.0005, "{transform}");
        for field in ["min", "max"] {
            assert!(model[field].is_f64(), "{field}");
        }
        assert!(model["quantiles"]["0.5"].is_f64());
    }
    let (after, before) = (folders.table("transformed/protectai-leet"), folders.table("attacks/protectai"));
    let args = ["--corpus", "attacks-leet", "--suite", "casino", "--scores", &after, "--baseline-scores", &before];
    let output = folders.run(&args);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("has no suite casino"));
}

#[test]
fn tables_cover_the_corpora_without_a_key_too_many() {
    let Some(folders) = folders() else { return };
    for (corpus, table, count) in [
        ("pairs", "pairs/protectai", 788),
        ("attacks", "attacks/protectai", 2644),
        ("attacks-framing", "transformed/protectai-framing", 2644),
        ("attacks-field_split", "transformed/protectai-field_split", 2634),
        ("attacks-leet", "transformed/protectai-leet", 2634),
    ] {
        let output = folders.run(&["texts", "--corpus", corpus]);
        let listed: BTreeSet<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
        let table: Value = serde_json::from_slice(&std::fs::read(folders.table(table)).unwrap()).unwrap();
        let keys: BTreeSet<String> = table["scores"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(listed.len(), count, "{corpus}");
        assert!(listed == keys, "{corpus}");
    }
}

#[test]
fn a_table_that_lacks_a_key_is_refused() {
    let Some(folders) = folders() else { return };
    let mut table: Value = serde_json::from_slice(&std::fs::read(folders.table("pairs/protectai")).unwrap()).unwrap();
    let scores = table["scores"].as_object_mut().unwrap();
    let key = scores.keys().nth(7).unwrap().clone();
    scores.remove(&key);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.json");
    std::fs::write(&path, table.to_string()).unwrap();
    let output = folders.run(&["--corpus", "pairs", "--scores", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("short.json lacks 1 texts") && said.contains(&key), "{said}");
}

#[test]
fn names_and_combinations() {
    let Some(folders) = folders() else { return };
    let scores = format!("mine={}", folders.table("pairs/protectai"));
    let combined = "all:flow-guard,mine-both@0.9";
    let args =
        ["--corpus", "pairs", "--scores", &scores, "--scope", "args", "--threshold", "0.9", "--defense", combined];
    let rows = folders.json(&args)["results"].clone();
    assert!(row(&rows, "mine-args@0.9")["blocked"].is_u64());
    assert!(rows.as_array().unwrap().iter().all(|r| r["defense"] != "mine-context@0.9"));
    assert!(counts(row(&rows, combined))[0] <= 547, "no more than flow-guard alone");
}

fn error(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_deveval")).args(args).env_remove("WARDLINE_DATA").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().filter(|l| l.starts_with("error: ")).count(), 1, "{said}");
    said
}

#[test]
fn wrong_uses_end_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, "{}").unwrap();
    let table = path.to_str().unwrap();
    assert!(error(&["--scores", "nowhere.json"]).contains("nowhere.json"));
    assert!(error(&["--scores", ""]).contains("--scores \"\" names no table"));
    assert!(error(&["--scores", table]).contains("t.json is no score table"));
    assert!(error(&["--corpus", "pairs", "--baseline-scores", table]).contains("transformed corpus"));
    assert!(error(&["--corpus", "attacks-leet", "--baseline-scores", table]).contains("needs --scores"));
    assert!(error(&["--scores", table, "--threshold", "1.5"]).contains("threshold"));
    assert!(error(&["--scores", table, "--scope", "everything"]).contains("no scope everything"));
}

#[test]
fn flags_without_effect_are_refused() {
    for (args, want) in [
        (&["--threshold", "0.5"][..], "--threshold goes with --scores"),
        (&["--scope", "args"], "--scope goes with --scores"),
        (
            &["score", "--model", "m", "--corpus", "pairs", "--sample", "3", "--out", "t.json"],
            "'--sample <N>' cannot be used",
        ),
        (&["models", "fetch", "protectai", "--from", "."], "protectai comes from a hub; --from is for models"),
        (&["models", "fetch", "protectai", "--python", "p"], "protectai comes from a hub; --python is for models"),
        (
            &["models", "fetch", "jailguard", "--offline"],
            "jailguard comes from packages of fixed versions; --offline is",
        ),
        (&["models", "fetch", "jailguard", "--revision", "r"], "fixed versions; --revision is for hub models"),
        (&["models", "fetch", "jailguard", "--token-file", "t"], "fixed versions; --token-file is for hub models"),
    ] {
        assert!(error(args).contains(want), "{args:?}: {}", error(args));
    }
    let drop = ["--corpus", "attacks-leet", "--scores", "a.json", "--baseline-scores", "b.json"];
    for (flag, value) in [
        ("--scope", "args"),
        ("--defense", "flow-guard"),
        ("--versus", "allow-all"),
        ("--allow-destination", "x"),
        ("--html", "x.html"),
        ("--on-error", "deny"),
        ("--exec-timeout", "5"),
    ] {
        let said = error(&[&drop[..], &[flag, value]].concat());
        assert!(said.contains(&format!("{flag} does not go with --baseline-scores")), "{said}");
    }
}

#[cfg(feature = "inference")]
#[test]
fn a_library_that_no_engine_opens_is_refused() {
    let said = error(&["score", "--model-dir", ".", "--corpus", "bundled", "--timing", "--onnxruntime", "x.so"]);
    assert!(said.contains("--onnxruntime goes with --engine onnxruntime"), "{said}");
}

#[cfg(feature = "inference")]
#[test]
fn a_library_may_be_given_by_its_bare_name() {
    #[expect(clippy::disallowed_methods, reason = "the library is named by the variable that its users know")]
    let Some(library) = std::env::var_os("ORT_DYLIB_PATH") else {
        println!("skipped: ORT_DYLIB_PATH is not set (shared library of ONNX Runtime)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(library, folder.path().join("runtime.so")).unwrap();
    let model = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../crates/classifier/tests/fixtures/bert");
    let mut command = Command::new(env!("CARGO_BIN_EXE_deveval"));
    command.current_dir(folder.path()).args([
        "score",
        "--corpus",
        "bundled",
        "--timing",
        "--window",
        "100",
        "--model-dir",
    ]);
    command.arg(model).args(["--engine", "onnxruntime", "--onnxruntime", "runtime.so"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(feature = "inference")]
#[test]
fn a_file_without_texts_gives_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let (texts, out) = (folder.path().join("texts.jsonl"), folder.path().join("t.json"));
    for lines in ["", "\n\n", "{\"text\": \"\"}\n"] {
        std::fs::write(&texts, lines).unwrap();
        let files = ["--texts", texts.to_str().unwrap(), "--out", out.to_str().unwrap()];
        let said = error(&[&["score", "--model", "jailguard"], &files[..]].concat());
        assert!(said.contains("texts.jsonl holds no text to score"), "{said}");
        assert!(!out.exists());
    }
}

#[cfg(feature = "inference")]
#[test]
fn a_fetched_model_that_lacks_a_file_is_named_and_not_exported() {
    let data = tempfile::tempdir().unwrap();
    let (model, out) = (data.path().join("models/jailguard"), data.path().join("model.onnx"));
    std::fs::create_dir_all(&model).unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::write(model.join(file), "{}").unwrap();
    }
    let folder = ["--data-dir", data.path().to_str().unwrap()];
    let said = error(&[&["models", "export", "jailguard", out.to_str().unwrap()], &folder[..]].concat());
    assert!(said.contains("jailguard: no head.json in ") && !out.exists(), "{said}");
}

#[test]
fn a_score_table_of_the_bundled_scenarios_works_offline() {
    let texts = |extra: &[&str]| {
        let args = [&["texts", "--corpus", "bundled"], extra].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_deveval")).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let scores: serde_json::Map<String, Value> = texts(&[]).lines().map(|key| (key.to_owned(), json!(0.25))).collect();
    assert_eq!(texts(&["--with-text"]).lines().count(), scores.len());
    let table = json!({
        "model": "ours/flat", "revision": "1", "positive_label": "X",
        "chunking": {"window_tokens": 510, "stride_tokens": 256}, "scores": scores,
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flat.json");
    std::fs::write(&path, table.to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_deveval"))
        .args(["--scores", path.to_str().unwrap(), "--threshold", "0.25", "--format", "json"])
        .output()
        .unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    // Every text is at the threshold: whatever carries a text is denied.
    let (flat, all) = (row(&result["results"], "classifier-both@0.25"), row(&result["results"], "deny-all"));
    assert_eq!(flat["blocked"], all["blocked"]);
}

#[test]
fn the_registry_is_listed() {
    let output = Command::new(env!("CARGO_BIN_EXE_deveval")).args(["models", "list"]).output().unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    for needed in ["jailguard", "protectai/deberta-v3-base-prompt-injection-v2", "gated", "90c9989b1a34"] {
        assert!(listed.contains(needed), "{needed}: {listed}");
    }
}

#[cfg(not(feature = "inference"))]
#[test]
fn a_build_without_models_says_so() {
    assert!(error(&["models", "fetch", "jailguard"]).contains("--features inference"));
    assert!(error(&["score", "--model", "jailguard", "--corpus", "pairs"]).contains("--features inference"));
}
