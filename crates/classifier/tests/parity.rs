//! Tiny models of every architecture give the logits of the reference implementation, in every engine and batch.
#![cfg(any(feature = "candle", feature = "ort"))]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use wardline_classifier::{Chunking, Classifier, Engine, LoadOptions, TokenBatch};

const FIXTURES: [&str; 8] =
    ["bert", "deberta-v2", "deberta-v3", "distilbert", "modernbert", "modernbert-mean", "roberta", "xlm-roberta"];

#[derive(Deserialize)]
struct Expected {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    text: String,
    ids: Vec<u32>,
    logits: Vec<f32>,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn options(engine: Engine) -> LoadOptions {
    let mut options = LoadOptions::new(engine, 2);
    options.chunking = Some(Chunking::new(148, 148, None).unwrap());
    options
}

fn worst(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
}

fn agrees(engine: &Engine) {
    for name in FIXTURES {
        let mut model = Classifier::load(&folder(name), None, &options(engine.clone())).unwrap();
        let expected: Expected =
            serde_json::from_slice(&fs::read(folder(name).join("expected.json")).unwrap()).unwrap();
        let mut alone = Vec::new();
        for row in &expected.rows {
            let logits = model.backend().logits(&TokenBatch::padded([row.ids.as_slice()], 0)).unwrap();
            let apart = worst(&logits, &row.logits);
            assert!(apart < 1e-4, "{name}: {logits:?} is not {:?}", row.logits);
            alone.extend(logits);
        }
        let together = TokenBatch::padded(expected.rows.iter().map(|r| r.ids.as_slice()), 0);
        let apart = worst(&model.backend().logits(&together).unwrap(), &alone);
        assert!(apart < 1e-5, "{name}: a batch changes logits by {apart}");

        // From text to probability, with windows where a text is longer than one.
        let texts: Vec<&str> = expected.rows.iter().map(|r| r.text.as_str()).collect();
        let scores = model.score(&texts).unwrap();
        for (row, score) in expected.rows.iter().zip(scores) {
            let want = if row.text.is_empty() { 0.0 } else { 1.0 / (1.0 + (row.logits[0] - row.logits[1]).exp()) };
            if row.ids.len() < 150 {
                assert!((score - want).abs() < 1e-4, "{name}: {score} is not {want} for {:?}", row.text);
            }
        }
    }
}

#[cfg(feature = "candle")]
#[test]
fn candle_agrees_with_the_reference_implementation() {
    agrees(&Engine::Candle);
}

#[cfg(feature = "ort")]
#[test]
fn onnx_runtime_agrees_with_the_reference_implementation() {
    #[expect(clippy::disallowed_methods, reason = "the library is named by the variable that its users know")]
    let Some(library) = std::env::var_os("ORT_DYLIB_PATH") else {
        println!("skipped: ORT_DYLIB_PATH is not set (shared library of ONNX Runtime)");
        return;
    };
    agrees(&Engine::OnnxRuntime(library.into()));
}
