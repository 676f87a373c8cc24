//! Arguments about a local classifier, and loading it.

use std::path::{Path, PathBuf};

use crate::Failure;

/// What runs a local classifier, and how.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Local classifiers")]
pub struct ModelArgs {
    /// Folder with config.json, tokenizer.json and model.safetensors, instead of the data folder's
    #[arg(long, value_name = "DIR")]
    pub model_dir: Option<PathBuf>,

    /// What runs the model
    #[arg(long, value_enum, default_value_t = EngineArg::Candle)]
    pub engine: EngineArg,

    /// Shared library of ONNX Runtime [default: $ORT_DYLIB_PATH, else the one of deveval models runtime]
    #[arg(long, value_name = "FILE")]
    pub onnxruntime: Option<PathBuf>,

    /// Threads of the model [default: one a processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Label whose probability is the score [default: the registry's, or INJECTION]
    #[arg(long, value_name = "LABEL")]
    pub positive_label: Option<String>,

    /// Tokens of a window, without special tokens [default: the registry's, or 510]
    #[arg(long, value_name = "TOKENS")]
    pub window: Option<usize>,

    /// Tokens from window to window [default: the registry's, or 256]
    #[arg(long, value_name = "TOKENS")]
    pub stride: Option<usize>,

    /// Read only this many windows of a text, from its start; the result's name says so
    #[arg(long, value_name = "N")]
    pub max_windows: Option<usize>,

    /// Tokens of a batch, which bounds memory
    #[arg(long, value_name = "TOKENS", default_value_t = 512)]
    pub batch_tokens: usize,
}

/// What runs a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineArg {
    /// candle, in Rust alone
    Candle,
    /// candle on the first CUDA device, where it was built with that
    Cuda,
    /// ONNX Runtime, faster, from a shared library
    Onnxruntime,
}

/// Where a model's files are kept in the data folder.
#[must_use]
pub fn model_folder(data: &Path, key: &str) -> PathBuf {
    data.join("models").join(key)
}

#[cfg(feature = "inference")]
pub use load::runtime_folder;

#[cfg(feature = "inference")]
mod load {
    use std::path::{Path, PathBuf};
    use std::thread;

    use wardline_classifier::{Chunking, Classifier, Engine, LoadOptions, ModelEntry, RUNTIME};

    use super::{EngineArg, ModelArgs, model_folder};
    use crate::Failure;

    /// Where `deveval models runtime` puts ONNX Runtime's library.
    #[must_use]
    pub fn runtime_folder(data: &Path) -> PathBuf {
        data.join("runtime").join(format!("onnxruntime-{RUNTIME}"))
    }

    impl ModelArgs {
        /// Loads the model of `--model-dir`, else the one that was fetched into the data folder under `key`.
        ///
        /// # Errors
        /// A model that is not fetched, that cannot be run, or an engine that is not there.
        pub fn load(&self, key: &str, entry: Option<&ModelEntry>, data: &Path) -> Result<Classifier, Failure> {
            let folder = match &self.model_dir {
                Some(folder) if !folder.is_dir() => {
                    return Err(Failure::usage(format!("no folder {}", folder.display())));
                }
                Some(folder) => folder.clone(),
                None => model_folder(data, key),
            };
            if !folder.is_dir() {
                return Err(Failure::usage(format!("{key} is not fetched; run deveval models fetch {key}")));
            }
            let threads = match self.threads {
                Some(threads) => threads.into(),
                None => thread::available_parallelism().map_or(1, usize::from),
            };
            let mut options = LoadOptions::new(self.engine(data)?, threads);
            options.positive_label.clone_from(&self.positive_label);
            options.batch_tokens = self.batch_tokens;
            if self.window.is_some() || self.stride.is_some() || self.max_windows.is_some() {
                let own = entry.map_or(Ok(Chunking::PUBLISHED), ModelEntry::chunking)?;
                let window = self.window.unwrap_or(own.window_tokens);
                let stride = self.stride.unwrap_or_else(|| own.stride_tokens.min(window));
                options.chunking = Some(Chunking::new(window, stride, self.max_windows)?);
            }
            Ok(Classifier::load(&folder, entry, &options)?)
        }

        fn engine(&self, data: &Path) -> Result<Engine, Failure> {
            if self.onnxruntime.is_some() && self.engine != EngineArg::Onnxruntime {
                return Err(Failure::usage("--onnxruntime goes with --engine onnxruntime"));
            }
            match self.engine {
                EngineArg::Candle => Ok(Engine::Candle),
                #[cfg(feature = "cuda")]
                EngineArg::Cuda => Ok(Engine::CandleCuda(0)),
                #[cfg(not(feature = "cuda"))]
                EngineArg::Cuda => Err(Failure::usage("this was built without CUDA; build it with --features cuda")),
                EngineArg::Onnxruntime => {
                    #[expect(clippy::disallowed_methods, reason = "the variable that users of the library know")]
                    let named = std::env::var_os("ORT_DYLIB_PATH").filter(|p| !p.is_empty()).map(PathBuf::from);
                    if let Some(library) = self.onnxruntime.clone().or(named) {
                        return Ok(Engine::OnnxRuntime(library));
                    }
                    let folder = runtime_folder(data);
                    let names = ["libonnxruntime.so", "libonnxruntime.dylib", "onnxruntime.dll"];
                    names.map(|n| folder.join(n)).into_iter().find(|p| p.is_file()).map(Engine::OnnxRuntime).ok_or_else(
                        || Failure::usage("no ONNX Runtime; run deveval models runtime, or give --onnxruntime FILE"),
                    )
                }
            }
        }
    }
}

/// What a build that leaves models out says when it is asked for one.
#[must_use]
pub fn without_inference(program: &str) -> Failure {
    Failure::usage(format!("this {program} was built without models; build it with --features inference"))
}
