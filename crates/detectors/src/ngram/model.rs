use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wardline_email_corpus::write_atomically;

use super::features::BITS;
use crate::runner::hex;
use crate::{DetectorError, Task};

const SCHEMA: &str = "wardline-ngram/1";

/// Weights, and what they were trained on. One JSON file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NgramModel {
    schema: String,
    /// What the model looks for.
    pub task: Task,
    /// SHA-256 of the manifest that the training records were taken from.
    pub manifest_sha256: String,
    /// Records with and without what it looks for.
    pub examples: (usize, usize),
    bits: u32,
    bias: f32,
    /// Sorted first eight bytes of the SHA-256 of each training record's id, in hexadecimal.
    trained_on: Vec<String>,
    /// Little-endian `f32`s in base64.
    weights: String,
    #[serde(skip)]
    values: Vec<f32>,
}

impl NgramModel {
    pub(super) fn new(
        task: Task,
        manifest_sha256: String,
        examples: (usize, usize),
        bias: f32,
        values: Vec<f32>,
        ids: &[&str],
    ) -> Self {
        let mut trained_on: Vec<String> = ids.iter().map(|id| short(id)).collect();
        trained_on.sort();
        let bytes: Vec<u8> = values.iter().flat_map(|w| w.to_le_bytes()).collect();
        let weights = STANDARD.encode(bytes);
        Self { schema: SCHEMA.into(), task, manifest_sha256, examples, bits: BITS, bias, trained_on, weights, values }
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// The file cannot be read, is no model, or is one of another kind.
    pub fn read(path: &Path) -> Result<Self, DetectorError> {
        let wrong = |message: String| DetectorError::file(path, message);
        let bytes = fs::read(path).map_err(DetectorError::io(path))?;
        let mut model: Self = serde_json::from_slice(&bytes).map_err(|e| wrong(format!("is no model: {e}")))?;
        if model.schema != SCHEMA || model.bits != BITS {
            return Err(wrong(format!(
                "has schema {:?} with {} bits, not {SCHEMA:?} with {BITS}",
                model.schema, model.bits
            )));
        }
        let weights =
            STANDARD.decode(&model.weights).map_err(|e| wrong(format!("has weights that are no base64: {e}")))?;
        let (numbers, rest) = weights.as_chunks::<4>();
        model.values = numbers.iter().map(|b| f32::from_le_bytes(*b)).collect();
        if !rest.is_empty() || model.values.len() != 1 << BITS || model.values.iter().any(|w| !w.is_finite()) {
            return Err(wrong("has weights of the wrong number or kind".into()));
        }
        Ok(model)
    }

    /// Writes a model file, beside its name first.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), DetectorError> {
        Ok(write_atomically(path, self.to_json().as_bytes())?)
    }

    /// The SHA-256 of the model's file.
    #[must_use]
    pub fn sha256(&self) -> String {
        hex(&Sha256::digest(self.to_json().as_bytes()))
    }

    /// Whether the record was an example.
    #[must_use]
    pub fn was_trained_on(&self, id: &str) -> bool {
        self.trained_on.binary_search(&short(id)).is_ok()
    }

    pub(super) fn probability(&self, features: &[(u32, f32)]) -> f64 {
        let sum = features.iter().map(|(i, v)| f64::from(self.values[*i as usize]) * f64::from(*v)).sum::<f64>();
        let probability = 1.0 / (1.0 + (-(sum + f64::from(self.bias))).exp());
        // The exponential of two machines may differ in its last bits.
        (probability * 1e6).round() / 1e6
    }

    fn to_json(&self) -> String {
        // Maps with other keys than text cannot be written; there are none.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

fn short(id: &str) -> String {
    hex(&Sha256::digest(id.as_bytes())[..8])
}
