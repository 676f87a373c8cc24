//! The model that packages carry agrees with an independent computation in numpy (`fixtures/jailguard.py`).
#![cfg(feature = "candle")]

use std::path::Path;

use serde::Deserialize;
use wardline_classifier::{Classifier, Engine, LoadOptions, Registry};

#[derive(Deserialize)]
struct Row {
    text: String,
    score: f32,
}

#[test]
fn scores_of_our_own_texts_agree_with_numpy() {
    #[expect(clippy::disallowed_methods, reason = "the folder of built data is named by a variable")]
    let Some(data) = std::env::var_os("WARDLINE_DATA_TEST") else {
        println!("skipped: WARDLINE_DATA_TEST is not set (data folder with the fetched model)");
        return;
    };
    let folder = Path::new(&data).join("models/jailguard");
    if !folder.is_dir() {
        println!("skipped: {} is not there (deveval models fetch jailguard)", folder.display());
        return;
    }
    let rows: Vec<Row> = serde_json::from_str(include_str!("fixtures/jailguard.json")).unwrap();
    assert_eq!(rows.len(), 50);
    let registry = Registry::built_in().unwrap();
    let options = LoadOptions::new(Engine::Candle, 2);
    let mut model = Classifier::load(&folder, Some(registry.get("jailguard").unwrap()), &options).unwrap();
    let texts: Vec<&str> = rows.iter().map(|r| r.text.as_str()).collect();
    for (row, score) in rows.iter().zip(model.score(&texts).unwrap()) {
        assert!((row.score - score).abs() < 1e-4, "{score} is not {} for {:?}", row.score, row.text);
    }
}
