use std::collections::{BTreeMap, HashMap};
use std::path::Path;
#[cfg(feature = "ort")]
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use sha2::{Digest, Sha256};

use crate::arch::{Architecture, Config};
use crate::backend::TokenBatch;
use crate::fetched::{Fetched, sha256};
use crate::file::read;
use crate::weights::Weights;
use crate::windows::Cutter;
use crate::{Backend, Chunking, ClassifierError, CorpusTexts, ModelEntry, ScoreTable};

/// What runs a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// candle on the processor.
    #[cfg(feature = "candle")]
    Candle,
    /// candle on the CUDA device of this number.
    #[cfg(feature = "cuda")]
    CandleCuda(usize),
    /// ONNX Runtime from this shared library.
    #[cfg(feature = "ort")]
    OnnxRuntime(PathBuf),
}

/// How a model is loaded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadOptions {
    /// What runs it.
    pub engine: Engine,
    /// Threads of the processor, at least 1.
    pub threads: usize,
    /// The label whose probability is the score, instead of the registry's.
    pub positive_label: Option<String>,
    /// How texts are cut, instead of the registry's way.
    pub chunking: Option<Chunking>,
    /// Tokens of a batch, padding included: bounds the memory of a run. A longer window is a batch of its own.
    pub batch_tokens: usize,
}

impl LoadOptions {
    /// The registry's label and windows, batches of 512 tokens.
    pub fn new(engine: Engine, threads: usize) -> Self {
        Self { engine, threads, positive_label: None, chunking: None, batch_tokens: 512 }
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Texts whose score is known.
    pub texts: usize,
    /// Texts of the run.
    pub texts_total: usize,
    /// Windows that texts were cut into so far.
    pub windows: usize,
    /// Windows that went through the model: the distinct ones.
    pub windows_run: usize,
    /// Tokens that went through the model, without padding.
    pub tokens_run: usize,
}

/// Texts that are tokenized and scored together. Their windows are sorted by length across all of them, so more texts make evener
/// batches, and a table is saved after each such group.
const GROUP: usize = 256;

/// Windows whose scores are remembered; more, some 60 MB, and remembering starts over.
const KNOWN: usize = 1 << 20;

/// A text classifier that runs on this machine.
///
/// Windows that several texts share, as outputs of one environment do, go through the model once.
pub struct Classifier {
    name: String,
    revision: String,
    requested_revision: String,
    /// Digests of the files, where the registry does not pin them.
    files: BTreeMap<String, String>,
    labels: Vec<String>,
    positive: usize,
    chunking: Chunking,
    cutter: Cutter,
    backend: Box<dyn Backend>,
    pad: u32,
    batch_tokens: usize,
    threads: usize,
    known: HashMap<[u8; 32], f32>,
}

impl Classifier {
    /// Loads a model from a folder that holds `config.json`, `tokenizer.json` and `model.safetensors`, and `head.json` for an
    /// encoder under a head of its own. `entry` is the model's entry in the registry. Files whose digest the registry gives, or that a
    /// hub gave, are checked; a table names the digests of files that the registry does not pin.
    ///
    /// # Errors
    /// A file that is missing or not the pinned one; files that were fetched for another model; weights that are stored as a pickle only; a config that no engine here
    /// can run; a label that the model does not have; windows longer than the model's positions.
    pub fn load(folder: &Path, entry: Option<&ModelEntry>, options: &LoadOptions) -> Result<Self, ClassifierError> {
        let shown = entry.map_or_else(|| folder.display().to_string(), |e| e.model.clone());
        let fetched = Fetched::read(folder)?;
        let name = match (entry, &fetched) {
            (Some(entry), _) => entry.model.clone(),
            (None, Some(fetched)) => fetched.model.clone(),
            (None, None) => folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        };
        let refused = |message: String| ClassifierError::Model { model: shown.clone(), message };
        if options.threads == 0 || options.batch_tokens == 0 {
            return Err(refused("threads and tokens of a batch must be at least 1".to_owned()));
        }
        if let Some(other) = fetched.as_ref().map(|f| &f.model).filter(|m| **m != name) {
            return Err(refused(format!("{} holds {other}", folder.display())));
        }
        let of_registry = |file: &str| entry.and_then(|e| e.files.get(file));
        let pinned = of_registry("model.safetensors").is_some();
        let mut files = BTreeMap::new();
        let mut file = |file: &str| -> Result<Vec<u8>, ClassifierError> {
            let path = folder.join(file);
            if !path.is_file() {
                return Err(refused(missing(folder, file)));
            }
            let bytes = read(&path)?;
            let found = sha256(&bytes);
            match of_registry(file).or_else(|| fetched.as_ref().and_then(|f| f.files.get(file))) {
                Some(expected) if *expected != found => {
                    Err(ClassifierError::Digest { path, found, expected: expected.clone() })
                }
                _ => {
                    files.insert(file.to_owned(), found);
                    Ok(bytes)
                }
            }
        };
        let config = Config::parse(&file("config.json")?).map_err(refused)?;
        config.check_supported().map_err(refused)?;
        if let Some(expected) = entry.and_then(|e| e.architecture.as_deref()) {
            let found = config.text("model_type").map_err(refused)?;
            if found != expected {
                return Err(refused(format!("model_type is {found}, not {expected} as the registry says")));
            }
        }
        let chunking = match (options.chunking, entry) {
            (Some(chunking), _) => chunking,
            (None, Some(entry)) => entry.chunking()?,
            (None, None) => Chunking::PUBLISHED,
        };
        let cutter = Cutter::new(&file("tokenizer.json")?, chunking).map_err(refused)?;
        let vocabulary = config.size("vocab_size").map_err(refused)?;
        if let Some(id) = cutter.largest_id().filter(|&id| id as usize >= vocabulary) {
            return Err(refused(format!(
                "tokenizer.json gives token ids up to {id}; the model's vocabulary (vocab_size) ends at {}",
                vocabulary - 1
            )));
        }
        let pad = config.int_or("pad_token_id", 0).map_err(refused)?;
        let pad = u32::try_from(pad).ok().filter(|&id| (id as usize) < vocabulary).ok_or_else(|| {
            refused(format!(
                "pad_token_id {pad} is outside the model's vocabulary (vocab_size), 0 to {}",
                vocabulary - 1
            ))
        })?;
        let mut weights = Weights::parse(&file("model.safetensors")?).map_err(refused)?;
        let head = if folder.join("head.json").is_file() || of_registry("head.json").is_some() {
            Some(weights.add_head(&file("head.json")?).map_err(refused)?)
        } else {
            None
        };
        let architecture = Architecture::new(&config, head).map_err(refused)?;
        let (needed, most) =
            (chunking.window_tokens.saturating_add(cutter.special_tokens()), architecture.max_tokens());
        if needed > most {
            return Err(refused(format!(
                "windows of {needed} tokens with special ones; the model has positions for {most}"
            )));
        }
        let of_entry = entry.map_or("INJECTION", |e| e.positive_label.as_str());
        let wanted = options.positive_label.as_deref().unwrap_or(of_entry);
        // A head on an encoder has one output and no names: it is what the registry calls it, whatever was asked for.
        let labels = match head {
            Some(_) => vec![of_entry.to_owned()],
            None => config.labels().map_err(refused)?,
        };
        let positive = labels.iter().position(|l| l == wanted).ok_or_else(|| ClassifierError::Label {
            model: shown.clone(),
            label: wanted.to_owned(),
            known: labels.join(", "),
        })?;
        if head.is_none() && labels.len() < 2 {
            return Err(refused("a model with one label gives no probability".to_owned()));
        }
        let backend = backend(&shown, architecture, weights, options)?;
        let (revision, requested_revision) = match fetched {
            Some(fetched) => (fetched.revision, fetched.requested_revision),
            // Digests say that the files are the pinned ones; without them a folder's files are what they are.
            None => (entry.filter(|_| pinned).and_then(|e| e.revision.clone()).unwrap_or_default(), String::new()),
        };
        files.retain(|file, _| of_registry(file).is_none());
        Ok(Self {
            revision,
            requested_revision,
            files,
            name,
            labels,
            positive,
            chunking,
            cutter,
            backend,
            pad,
            batch_tokens: options.batch_tokens,
            threads: options.threads,
            known: HashMap::new(),
        })
    }

    /// The model's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The labels, in order of the model's outputs.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// How texts are cut.
    pub fn chunking(&self) -> Chunking {
        self.chunking
    }

    /// What runs the model.
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// A table for this model, without scores yet. `runtime` holds the engine, this library's version, and the digests of `files` that
    /// the registry does not pin.
    pub fn table(&self) -> ScoreTable {
        let label = self.labels.get(self.positive).cloned().unwrap_or_default();
        let mut table = ScoreTable::new(self.name.clone(), self.revision.clone(), label, self.chunking);
        table.requested_revision.clone_from(&self.requested_revision);
        table.runtime.insert("engine".to_owned(), self.backend.name().into());
        table.runtime.insert("wardline".to_owned(), env!("CARGO_PKG_VERSION").into());
        if !self.files.is_empty() {
            let files = self.files.iter().map(|(name, digest)| (name.clone(), digest.as_str().into()));
            table.runtime.insert("files".to_owned(), serde_json::Value::Object(files.collect()));
        }
        table
    }

    /// Whether a table is of this model, label and cut, so that its scores can be compared with this model's. Another engine may
    /// have made it.
    ///
    /// # Errors
    /// What differs.
    pub fn check_same(&self, name: &str, table: &ScoreTable) -> Result<(), ClassifierError> {
        let own = self.table();
        let files = |t: &ScoreTable| t.runtime.get("files").map_or_else(|| "as pinned".to_owned(), ToString::to_string);
        for (what, theirs, ours) in [
            ("model", &table.model, &own.model),
            ("revision", &table.revision, &own.revision),
            ("positive label", &table.positive_label, &own.positive_label),
            ("chunking", &table.chunking.to_string(), &own.chunking.to_string()),
            ("files", &files(table), &files(&own)),
        ] {
            if theirs != ours {
                let (theirs, ours) = (theirs.clone(), ours.clone());
                return Err(ClassifierError::OtherRun { table: name.to_owned(), what, theirs, ours });
            }
        }
        Ok(())
    }

    /// Whether a run can go on with a table: what [`Classifier::check_same`] checks, and that the engine it names made its scores.
    ///
    /// # Errors
    /// What differs.
    pub fn check_resumable(&self, name: &str, table: &ScoreTable) -> Result<(), ClassifierError> {
        self.check_same(name, table)?;
        let ours = self.backend.name();
        match table.runtime.get("engine").and_then(|e| e.as_str()) {
            Some(theirs) if theirs == ours => Ok(()),
            theirs => Err(ClassifierError::OtherEngine {
                table: name.to_owned(),
                theirs: theirs.unwrap_or("an engine that it does not name").to_owned(),
                ours,
            }),
        }
    }

    /// Scores texts: the highest probability of the positive label over a text's windows. The empty text scores 0.
    ///
    /// # Errors
    /// When the engine fails or gives a score that is no number.
    pub fn score(&mut self, texts: &[&str]) -> Result<Vec<f32>, ClassifierError> {
        let mut scores = Vec::with_capacity(texts.len());
        let mut progress = Progress { texts_total: texts.len(), ..Progress::default() };
        for group in texts.chunks(GROUP) {
            scores.extend(self.score_group(group, &mut progress, &mut |_| {})?);
        }
        Ok(scores)
    }

    /// Scores the texts that a table lacks. `saved` is called after each group of texts, to keep the partial table; `seen` after each
    /// batch.
    ///
    /// # Errors
    /// As [`Classifier::score`], and those of `saved`; the table keeps the groups that were done.
    pub fn complete(
        &mut self,
        table: &mut ScoreTable,
        texts: &CorpusTexts,
        seen: &mut dyn FnMut(&Progress),
        saved: &mut dyn FnMut(&ScoreTable) -> Result<(), ClassifierError>,
    ) -> Result<Progress, ClassifierError> {
        let missing: Vec<_> = texts.iter().filter(|t| table.score(t).is_none()).collect();
        let mut progress =
            Progress { texts_total: texts.len(), texts: texts.len() - missing.len(), ..Progress::default() };
        for group in missing.chunks(GROUP) {
            let plain: Vec<&str> = group.iter().map(|t| t.as_str()).collect();
            let scores = self.score_group(&plain, &mut progress, seen)?;
            for (text, score) in group.iter().zip(scores) {
                table.insert(*text.sha256(), shortest(score))?;
            }
            saved(table)?;
        }
        Ok(progress)
    }

    fn score_group(
        &mut self,
        texts: &[&str],
        progress: &mut Progress,
        seen: &mut dyn FnMut(&Progress),
    ) -> Result<Vec<f32>, ClassifierError> {
        let cut = self.cut(texts)?;
        if self.known.len() > KNOWN {
            self.known.clear();
        }
        let mut unknown: BTreeMap<[u8; 32], Vec<u32>> = BTreeMap::new();
        let mut keys = Vec::with_capacity(texts.len());
        for windows in cut {
            progress.windows += windows.len();
            let mut of_text = Vec::with_capacity(windows.len());
            for ids in windows {
                let key: [u8; 32] =
                    Sha256::digest(ids.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>()).into();
                of_text.push(key);
                if !self.known.contains_key(&key) {
                    unknown.insert(key, ids);
                }
            }
            keys.push(of_text);
        }
        self.run(unknown, progress, seen)?;
        let scores = keys.iter().zip(texts).map(|(keys, text)| {
            if text.is_empty() {
                return 0.0;
            }
            keys.iter().filter_map(|k| self.known.get(k)).fold(0.0f32, |a, b| a.max(*b))
        });
        progress.texts += texts.len();
        Ok(scores.collect())
    }

    /// Windows of each text, tokenized on several threads: each takes the next text, as lengths differ much.
    fn cut(&self, texts: &[&str]) -> Result<Vec<Vec<Vec<u32>>>, ClassifierError> {
        let next = AtomicUsize::new(0);
        let tokenize = || -> Result<Vec<_>, String> {
            let mut done = Vec::new();
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(text) = texts.get(i) else { return Ok(done) };
                done.push((i, self.cutter.windows(text)?));
            }
        };
        let parts: Vec<Result<Vec<_>, String>> = thread::scope(|scope| {
            let running: Vec<_> = (0..self.threads).map(|_| scope.spawn(tokenize)).collect();
            running.into_iter().map(|r| r.join().unwrap_or_else(|_| Err("the tokenizer failed".to_owned()))).collect()
        });
        let mut all = vec![Vec::new(); texts.len()];
        for part in parts {
            for (i, windows) in part.map_err(|m| self.refused(m))? {
                all[i] = windows;
            }
        }
        Ok(all)
    }

    fn refused(&self, message: String) -> ClassifierError {
        ClassifierError::Model { model: self.name.clone(), message }
    }

    /// Runs windows through the model in batches of like length and keeps their scores.
    fn run(
        &mut self,
        windows: BTreeMap<[u8; 32], Vec<u32>>,
        progress: &mut Progress,
        seen: &mut dyn FnMut(&Progress),
    ) -> Result<(), ClassifierError> {
        let mut windows: Vec<_> = windows.into_iter().collect();
        // Longest first, so that a batch that does not fit the memory shows at once.
        windows.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
        let batches = batches(&windows, self.batch_tokens);
        let next = AtomicUsize::new(0);
        let (this, windows, all) = (&*self, &windows, &batches);
        let mut scored: Vec<(usize, Result<Vec<f32>, ClassifierError>)> = Vec::with_capacity(batches.len());
        thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            for _ in 0..this.backend.workers().clamp(1, all.len().max(1)) {
                let (send, next) = (send.clone(), &next);
                scope.spawn(move || {
                    alone(|| {
                        while let Some(batch) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                            let part = &windows[batch.clone()];
                            let result = this.probabilities(part.iter().map(|(_, ids)| ids.as_slice()));
                            let failed = result.is_err();
                            if send.send((batch.start, result)).is_err() || failed {
                                return;
                            }
                        }
                    });
                });
            }
            drop(send);
            for (start, result) in receive {
                if let Ok(scores) = &result {
                    progress.windows_run += scores.len();
                    let part = windows.iter().skip(start).take(scores.len());
                    progress.tokens_run += part.map(|(_, ids)| ids.len()).sum::<usize>();
                    seen(progress);
                }
                scored.push((start, result));
            }
        });
        scored.sort_by_key(|(start, _)| *start);
        let mut done = Vec::with_capacity(windows.len());
        for (start, result) in scored {
            for ((key, _), score) in windows.iter().skip(start).zip(result?) {
                done.push((*key, score));
            }
        }
        if done.len() != windows.len() {
            return Err(self.refused("the engine stopped before its end".to_owned()));
        }
        self.known.extend(done);
        Ok(())
    }

    /// The positive label's probability for each sequence of one batch.
    fn probabilities<'a>(&self, sequences: impl Iterator<Item = &'a [u32]>) -> Result<Vec<f32>, ClassifierError> {
        let batch = TokenBatch::padded(sequences, self.pad);
        let logits = self.backend.logits(&batch)?;
        if logits.len() != batch.lengths.len() * self.labels.len() {
            return Err(self.refused(format!("{} logits for {} windows", logits.len(), batch.lengths.len())));
        }
        logits
            .chunks_exact(self.labels.len())
            .map(|row| {
                let p = probability(row, self.positive);
                if p.is_finite() { Ok(p) } else { Err(self.refused("a score is no number".to_owned())) }
            })
            .collect()
    }
}

/// Writes a model as an ONNX graph, for a runtime of one's own.
///
/// Inputs: `ids` `[sequences, tokens]`, `kept` `[sequences, tokens, 1]` with 1 at tokens and 0 at padding, and the tables of positions
/// that the architecture needs. Output: `logits` `[sequences, labels]`.
///
/// # Errors
/// As [`Classifier::load`], and a file that cannot be written.
#[cfg(feature = "ort")]
pub fn export_onnx(folder: &Path, to: &Path) -> Result<(), ClassifierError> {
    let refused = |message: String| ClassifierError::Model { model: folder.display().to_string(), message };
    let file = |name: &str| read(&folder.join(name));
    let config = Config::parse(&file("config.json")?).map_err(refused)?;
    let mut weights = Weights::parse(&file("model.safetensors")?).map_err(refused)?;
    let head = if folder.join("head.json").is_file() {
        Some(weights.add_head(&file("head.json")?).map_err(refused)?)
    } else {
        None
    };
    let architecture = Architecture::new(&config, head).map_err(refused)?;
    let graph = crate::backend::onnx::graph(&architecture, weights).map_err(refused)?;
    crate::file::write_beside(to, &graph)
}

/// Softmax of a row at one label; of a single logit, its sigmoid.
fn probability(logits: &[f32], positive: usize) -> f32 {
    if let [one] = logits {
        return 1.0 / (1.0 + (-one).exp());
    }
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|l| (l - most).exp()).sum();
    (logits[positive] - most).exp() / sum
}

/// The number with the fewest digits that reads back as the same single-precision number.
fn shortest(score: f32) -> f64 {
    score.to_string().parse().unwrap_or(f64::from(score))
}

/// Ranges of windows, sorted by length, that fill a batch.
fn batches(windows: &[([u8; 32], Vec<u32>)], batch_tokens: usize) -> Vec<std::ops::Range<usize>> {
    let mut batches = Vec::new();
    let mut start = 0;
    while start < windows.len() {
        let longest = windows[start].1.len().max(1);
        let end = windows.len().min(start + (batch_tokens / longest).max(1));
        batches.push(start..end);
        start = end;
    }
    batches
}

/// Runs a worker in a pool of one thread, so that an engine that would share its loops with the whole machine leaves the other
/// threads to the other workers.
fn alone(work: impl FnOnce() + Send) {
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

fn missing(folder: &Path, file: &str) -> String {
    let pickle = ["pytorch_model.bin", "model.bin", "model.pt"].into_iter().find(|p| folder.join(p).is_file());
    match (file, pickle) {
        ("model.safetensors", Some(pickle)) => {
            format!("only {pickle}, a pickle, which can run code and is not loaded; convert it to model.safetensors")
        }
        ("model.safetensors", None) if folder.join("model.safetensors.index.json").is_file() => {
            "weights in several files are not supported; join them to one model.safetensors".to_owned()
        }
        _ => format!("no {file} in {}", folder.display()),
    }
}

#[cfg(feature = "packages")]
pub(crate) fn check_digest(path: &Path, bytes: &[u8], expected: &str) -> Result<(), ClassifierError> {
    let found = sha256(bytes);
    if found == expected {
        return Ok(());
    }
    Err(ClassifierError::Digest { path: path.to_owned(), found, expected: expected.to_owned() })
}

fn backend(
    model: &str,
    architecture: Architecture,
    weights: Weights,
    options: &LoadOptions,
) -> Result<Box<dyn Backend>, ClassifierError> {
    match options.engine {
        #[cfg(feature = "candle")]
        Engine::Candle => {
            let device = candle_core::Device::Cpu;
            Ok(Box::new(crate::backend::candle::Candle::new(model, architecture, weights, options.threads, device)?))
        }
        #[cfg(feature = "cuda")]
        Engine::CandleCuda(number) => {
            let device = candle_core::Device::new_cuda(number).map_err(|e| ClassifierError::Model {
                model: model.to_owned(),
                message: format!("CUDA device {number}: {e}"),
            })?;
            Ok(Box::new(crate::backend::candle::Candle::new(model, architecture, weights, options.threads, device)?))
        }
        #[cfg(feature = "ort")]
        Engine::OnnxRuntime(ref library) => {
            let threads = options.threads;
            Ok(Box::new(crate::backend::ort::OnnxRuntime::new(model, architecture, weights, threads, library)?))
        }
    }
}
