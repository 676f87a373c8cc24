//! Scores texts of one's own: JSON lines with `text` on standard input, a score table on standard output.
//!
//! ```text
//! cargo run --release --example score --features candle -- MODEL-FOLDER REGISTRY-KEY THREADS < texts.jsonl > table.json
//! ```
//! A fourth argument names a shared library of ONNX Runtime, which is then used instead (feature `ort`).

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use wardline_classifier::{Classifier, Engine, LoadOptions, Registry};
use wardline_defense::Text;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, key, threads, library @ ..] = args.as_slice() else {
        return Err("give MODEL-FOLDER REGISTRY-KEY THREADS [ONNX-RUNTIME-LIBRARY]".into());
    };
    let engine = match library.first() {
        #[cfg(feature = "ort")]
        Some(library) => Engine::OnnxRuntime(library.into()),
        _ => Engine::Candle,
    };
    let registry = Registry::built_in()?;
    let options = LoadOptions::new(engine, threads.parse()?);
    let mut model = Classifier::load(Path::new(folder), Some(registry.get(key)?), &options)?;

    let mut texts = Vec::new();
    for line in io::read_to_string(io::stdin())?.lines() {
        let value: serde_json::Value = serde_json::from_str(line)?;
        texts.push(Text::new(value["text"].as_str().ok_or("a line without text")?));
    }
    let plain: Vec<&str> = texts.iter().map(Text::as_str).collect();
    let scores = model.score(&plain)?;
    let mut table = model.table();
    for (text, score) in texts.iter().zip(scores) {
        table.insert(*text.sha256(), score.to_string().parse()?)?;
    }
    io::stdout().write_all(table.to_json().as_bytes())?;
    Ok(())
}
