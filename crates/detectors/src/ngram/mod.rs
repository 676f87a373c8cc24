//! Logistic regression over hashed n-grams: a baseline that is trained on one half of a corpus and read on the other.

mod features;
mod model;
mod train;

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::{Detector, DetectorError, ErrorClass, Failure, Input, Needs, Task, Verdict};

pub use model::NgramModel;
pub use train::{Example, TrainOptions, train_ngram};

use features::features;

/// A trained model as a detector.
///
/// It refuses to score the records that it was trained on, since such scores say nothing, unless told otherwise.
pub struct NgramDetector {
    name: String,
    model: NgramModel,
    allow_trained_on: bool,
}

impl NgramDetector {
    /// A model under a name of one's own.
    #[must_use]
    pub fn new(name: impl Into<String>, model: NgramModel, allow_trained_on: bool) -> Self {
        Self { name: name.into(), model, allow_trained_on }
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// The file cannot be read or is no model.
    pub fn open(name: impl Into<String>, path: &Path, allow_trained_on: bool) -> Result<Self, DetectorError> {
        Ok(Self::new(name, NgramModel::read(path)?, allow_trained_on))
    }

    fn predict(&self, input: &Input) -> Result<Verdict, Failure> {
        if !self.allow_trained_on && self.model.was_trained_on(input.id()) {
            return Err(Failure::new(ErrorClass::TrainedOn, "the model was trained on this record"));
        }
        Verdict::from_score(self.model.probability(&features(input.text()?)))
    }
}

impl Detector for NgramDetector {
    fn name(&self) -> &str {
        &self.name
    }

    fn task(&self) -> Task {
        self.model.task
    }

    fn needs(&self) -> Needs {
        Needs::TEXT
    }

    fn identity(&self) -> Map<String, Value> {
        Map::from_iter([
            ("model_sha256".to_owned(), json!(self.model.sha256())),
            ("training_manifest_sha256".to_owned(), json!(self.model.manifest_sha256)),
            ("allow_trained_on".to_owned(), json!(self.allow_trained_on)),
        ])
    }

    fn batch_size(&self) -> usize {
        16
    }

    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
        inputs.iter().map(|input| self.predict(input)).collect()
    }
}

#[cfg(test)]
mod tests;
