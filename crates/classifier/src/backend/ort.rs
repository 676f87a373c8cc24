use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::ort::session::Session;
use ::ort::session::builder::GraphOptimizationLevel;
use ::ort::value::{DynValue, Tensor};

use super::onnx;
use crate::arch::{Architecture, Table};
use crate::weights::Weights;
use crate::{Backend, ClassifierError, TokenBatch};

/// Batches that are run at once where there are threads enough: one thread a batch does not wait for another as threads that share
/// one do. Each has the weights once more, so there are few.
const SESSIONS: usize = 2;

/// ONNX Runtime, from a shared library.
pub(crate) struct OnnxRuntime {
    model: String,
    architecture: Architecture,
    sessions: Vec<Mutex<Session>>,
}

impl OnnxRuntime {
    /// Opens the shared library once a process and builds the model's graph.
    pub(crate) fn new(
        model: &str,
        architecture: Architecture,
        weights: Weights,
        threads: usize,
        library: &Path,
    ) -> Result<Self, ClassifierError> {
        let refused = |message: String| ClassifierError::Model { model: model.to_owned(), message };
        let failed = |e: &dyn std::fmt::Display| {
            refused(format!("ONNX Runtime: {}", e.to_string().lines().next().unwrap_or_default()))
        };
        if !library.is_file() {
            return Err(refused(format!("no ONNX Runtime library {}", library.display())));
        }
        ::ort::init_from(library).map_err(|e| failed(&e))?.with_telemetry(false).commit();
        let graph = onnx::graph(&architecture, weights).map_err(refused)?;
        let count = threads.clamp(1, SESSIONS);
        let session = || {
            Session::builder()
                .map_err(|e| failed(&e))?
                .with_optimization_level(GraphOptimizationLevel::All)
                .map_err(|e| failed(&e))?
                .with_intra_threads(threads / count)
                .map_err(|e| failed(&e))?
                .with_memory_pattern(false)
                .map_err(|e| failed(&e))?
                .commit_from_memory(&graph)
                .map(Mutex::new)
                .map_err(|e| failed(&e))
        };
        let sessions = (0..count).map(|_| session()).collect::<Result<_, _>>()?;
        Ok(Self { model: model.to_owned(), architecture, sessions })
    }

    /// A session that nobody uses, else the first when it is free.
    fn session(&self) -> MutexGuard<'_, Session> {
        let free = self.sessions.iter().find_map(|s| s.try_lock().ok());
        free.unwrap_or_else(|| self.sessions[0].lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn run(&self, batch: &TokenBatch) -> ::ort::Result<Vec<f32>> {
        let (rows, tokens) = (batch.lengths.len(), batch.tokens);
        let ids: Vec<i64> = batch.ids.iter().map(|&i| i64::from(i)).collect();
        let mut inputs: Vec<(&str, DynValue)> = vec![
            ("ids", Tensor::from_array(([rows, tokens], ids))?.into_dyn()),
            ("kept", Tensor::from_array(([rows, tokens, 1], batch.kept()))?.into_dyn()),
        ];
        for (name, table) in self.architecture.tables(tokens) {
            let value = match table {
                Table::Ints(numbers, shape) => Tensor::from_array((shape, numbers))?.into_dyn(),
                Table::Floats(numbers, shape) => Tensor::from_array((shape, numbers))?.into_dyn(),
            };
            inputs.push((name, value));
        }
        let mut session = self.session();
        let outputs = session.run(inputs)?;
        let (_, logits) = outputs["logits"].try_extract_tensor::<f32>()?;
        Ok(logits.to_vec())
    }
}

impl Backend for OnnxRuntime {
    fn name(&self) -> String {
        format!("ONNX Runtime, {}", ::ort::info().trim_start_matches("ORT Build Info: "))
    }

    fn workers(&self) -> usize {
        self.sessions.len()
    }

    fn logits(&self, batch: &TokenBatch) -> Result<Vec<f32>, ClassifierError> {
        self.run(batch).map_err(|e| ClassifierError::Model {
            model: self.model.clone(),
            message: e.to_string().lines().next().unwrap_or_default().to_owned(),
        })
    }
}
