use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use ::ort::session::Session;
use ::ort::session::builder::GraphOptimizationLevel;
use ::ort::value::{DynValue, Tensor};

use super::{library, onnx};
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
        open(library).map_err(refused)?;
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

/// The most time that opening the library may take.
const OPENING: Duration = Duration::from_secs(60);

/// Opens the shared library. `ort` waits for ever for one that cannot be opened, so that is looked at first, and waited for elsewhere.
fn open(library: &Path) -> Result<(), String> {
    let shown = library.display();
    let bytes = std::fs::read(library).map_err(|e| format!("{shown}: {e}"))?;
    if !bytes.windows(SYMBOL.len()).any(|w| w == SYMBOL) {
        return Err(format!("{shown} is no library of ONNX Runtime"));
    }
    if !library::is_whole(&bytes) {
        return Err(format!("{shown} is cut off: it is shorter than its own headers say"));
    }
    let (send, receive) = mpsc::channel();
    // A bare name would be looked for where the system keeps its libraries.
    let path = std::path::absolute(library).map_err(|e| format!("{shown}: {e}"))?;
    thread::spawn(move || {
        let opened = ::ort::init_from(path).map(|environment| environment.with_telemetry(false).commit());
        // Nobody listens when it took too long.
        let _ = send.send(opened.map(|_| ()).map_err(|e| e.to_string()));
    });
    match receive.recv_timeout(OPENING) {
        Ok(opened) => opened.map_err(|e| format!("ONNX Runtime: {}", e.lines().next().unwrap_or_default())),
        Err(_) => Err(format!(
            "{shown} cannot be opened: it is cut off, for another machine, or older than ONNX Runtime 1.22"
        )),
    }
}

/// What every library of ONNX Runtime exports.
const SYMBOL: &[u8] = b"OrtGetApiBase";

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
