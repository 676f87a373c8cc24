use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};
use wardline_classifier::Classifier;

use crate::{Detector, ErrorClass, Failure, Input, Needs, Task, Verdict};

/// A classifier that runs on this machine as a detector: the flattened text's score, the highest over its windows. The empty text
/// scores 0.
pub struct ClassifierDetector {
    name: String,
    identity: Map<String, Value>,
    // The model's own threads share a batch; a second caller waits.
    model: Mutex<Classifier>,
}

impl ClassifierDetector {
    /// A detector of this name.
    pub fn new(name: impl Into<String>, model: Classifier) -> Self {
        let table = model.table();
        let chunking = table.chunking;
        let mut identity = Map::new();
        for (key, text) in
            [("model", table.model), ("revision", table.revision), ("positive_label", table.positive_label)]
        {
            identity.insert(key.to_owned(), text.into());
        }
        identity.insert("window_tokens".to_owned(), chunking.window_tokens.into());
        identity.insert("stride_tokens".to_owned(), chunking.stride_tokens.into());
        if let Some(most) = chunking.max_windows {
            identity.insert("max_windows".to_owned(), most.into());
        }
        identity.extend(table.runtime);
        Self { name: name.into(), identity, model: Mutex::new(model) }
    }
}

impl Detector for ClassifierDetector {
    fn name(&self) -> &str {
        &self.name
    }

    fn task(&self) -> Task {
        Task::Injection
    }

    fn needs(&self) -> Needs {
        Needs::TEXT
    }

    fn identity(&self) -> Map<String, Value> {
        self.identity.clone()
    }

    /// Enough for even batches of windows, and few enough that a run that is stopped loses little.
    fn batch_size(&self) -> usize {
        32
    }

    fn max_concurrency(&self) -> usize {
        1
    }

    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
        let texts: Vec<Result<&str, Failure>> = inputs.iter().map(Input::text).collect();
        let readable: Vec<&str> = texts.iter().filter_map(|t| t.as_ref().ok().copied()).collect();
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        match model.score(&readable) {
            Ok(scores) => {
                let mut scores = scores.into_iter();
                let verdict = |text: Result<&str, Failure>| {
                    text?;
                    let score =
                        scores.next().ok_or_else(|| Failure::new(ErrorClass::Program, "the model gave no score"))?;
                    Verdict::from_score(score.into())
                };
                texts.into_iter().map(verdict).collect()
            }
            Err(error) => {
                let failure = Failure::new(ErrorClass::Program, error.to_string());
                texts.into_iter().map(|text| text.and(Err(failure.clone()))).collect()
            }
        }
    }
}
