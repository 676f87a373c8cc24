//! `deveval score`: writes a model's score table for a corpus.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
#[cfg(not(feature = "inference"))]
use wardline_cli::{Exit, Failure, Stdout};

#[derive(Args)]
pub(crate) struct ScoringArgs {
    /// Model, as in models list
    #[arg(long, value_name = "KEY", required_unless_present = "model_dir")]
    model: Option<String>,

    /// Folder with config.json, tokenizer.json and model.safetensors, instead of the data folder's
    #[arg(long, value_name = "DIR")]
    model_dir: Option<PathBuf>,

    /// Corpus whose texts are scored
    #[arg(long, value_name = "NAME", required_unless_present = "texts")]
    corpus: Option<String>,

    /// Instead of a corpus, texts of one's own, mail for instance: a file of JSON objects, one a line, with text
    #[arg(long, value_name = "FILE", conflicts_with = "corpus", requires = "out")]
    texts: Option<PathBuf>,

    /// Table to write; a partial one is gone on with [default: scores/CORPUS/MODEL.json in the data folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Instead of writing, compare a table with what the model gives now; exit 1 when a score differs by more than 0.0001
    #[arg(long, value_name = "TABLE", conflicts_with = "out")]
    check: Option<PathBuf>,

    /// With --check, this many texts, evenly spread over the table, instead of all
    #[arg(long, value_name = "N", requires = "check")]
    sample: Option<usize>,

    /// Write nothing; print how long it took, how much was run and how much memory it needed, as one JSON object
    #[arg(long, conflicts_with_all = ["out", "check"])]
    timing: bool,

    /// What runs the model
    #[arg(long, value_enum, default_value_t = EngineArg::Candle)]
    engine: EngineArg,

    /// Shared library of ONNX Runtime [default: $ORT_DYLIB_PATH, else the one of models runtime]
    #[arg(long, value_name = "FILE")]
    onnxruntime: Option<PathBuf>,

    /// Threads [default: one a processor]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Label whose probability is the score [default: the registry's, or INJECTION]
    #[arg(long, value_name = "LABEL")]
    positive_label: Option<String>,

    /// Tokens of a window, without special tokens [default: the registry's, or 510]
    #[arg(long, value_name = "TOKENS")]
    window: Option<usize>,

    /// Tokens from window to window [default: the registry's, or 256]
    #[arg(long, value_name = "TOKENS")]
    stride: Option<usize>,

    /// Read only this many windows of a text, from its start; the result's name says so
    #[arg(long, value_name = "N")]
    max_windows: Option<usize>,

    /// Tokens of a batch, which bounds memory
    #[arg(long, value_name = "TOKENS", default_value_t = 2048)]
    batch_tokens: usize,

    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineArg {
    /// candle, in Rust alone
    Candle,
    /// candle on the first CUDA device, where it was built with that
    Cuda,
    /// ONNX Runtime, faster, from a shared library
    Onnxruntime,
}

/// What a build that leaves models out says when it is asked for one.
#[cfg(not(feature = "inference"))]
pub(crate) fn without_inference() -> Failure {
    Failure::usage("this deveval was built without models; build it with --features inference")
}

#[cfg(not(feature = "inference"))]
pub(crate) fn run(_: &ScoringArgs, _: &mut Stdout) -> Result<Exit, Failure> {
    Err(without_inference())
}

#[cfg(feature = "inference")]
pub(crate) use with_models::{run, runtime_folder};

#[cfg(feature = "inference")]
mod with_models {
    use std::collections::BTreeMap;
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::{fs, thread};

    use wardline_classifier::{
        Chunking, Classifier, CorpusTexts, Engine, LoadOptions, ModelEntry, RUNTIME, Registry, ScoreTable,
    };
    use wardline_cli::{Exit, Failure, Stdout, data_dir, progress_bar};
    use wardline_defense::{Source, Text};

    use super::{EngineArg, ScoringArgs};
    use crate::{corpora, models};

    /// Two engines, and two processors, differ by less.
    const TOLERANCE: f64 = 1e-4;

    pub(crate) fn runtime_folder(data: &Path) -> PathBuf {
        data.join("runtime").join(format!("onnxruntime-{RUNTIME}"))
    }

    pub(crate) fn run(args: &ScoringArgs, out: &mut Stdout) -> Result<Exit, Failure> {
        let data = data_dir(args.data_dir.as_deref())?.path;
        let texts = texts(args)?;
        let registry = Registry::built_in()?;
        let entry = args.model.as_deref().map(|key| registry.get(key)).transpose()?;
        let mut model = load(args, entry, &data)?;
        if let Some(table) = &args.check {
            return check(&mut model, table, &texts, args.sample, out);
        }
        if args.timing {
            return timing(&mut model, &texts, out);
        }
        let path = args.out.clone().unwrap_or_else(|| {
            let name = args.model.clone().unwrap_or_else(|| "model".to_owned());
            let corpus = args.corpus.as_deref().unwrap_or_default();
            data.join("scores").join(corpus).join(format!("{name}{}.json", model.chunking().suffix()))
        });
        let shown = path.display().to_string();
        let mut table = if path.is_file() { ScoreTable::read(&path)? } else { model.table() };
        model.check_same(&shown, &table)?;
        let known = table.len();
        let bar = progress_bar(texts.len() as u64, "texts");
        let progress = model.complete(
            &mut table,
            &texts,
            &mut |p| {
                bar.set_position(p.texts as u64);
                bar.set_message(format!("texts, {} windows", p.windows_run));
            },
            &mut |table| table.write(&path),
        )?;
        bar.finish_and_clear();
        table.write(&path)?;
        table.require(&shown, texts.iter().map(|t| &**t))?;
        writeln!(
            out,
            "{shown}: {} texts, {known} of them from before; {} windows, {} of them distinct and run",
            table.len(),
            progress.windows,
            progress.windows_run
        )?;
        Ok(Exit::Ok)
    }

    fn texts(args: &ScoringArgs) -> Result<CorpusTexts, Failure> {
        let Some(path) = &args.texts else {
            let corpus = corpora::load(args.corpus.as_deref().unwrap_or_default(), args.data_dir.as_deref())?;
            return Ok(CorpusTexts::of(corpus.scenarios()));
        };
        let shown = path.display();
        let lines = fs::read_to_string(path).map_err(|e| Failure::usage(format!("{shown}: {e}")))?;
        let mut texts = Vec::new();
        for (i, line) in lines.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            let value: serde_json::Value =
                serde_json::from_str(line).map_err(|e| Failure::usage(format!("{shown}, line {}: {e}", i + 1)))?;
            let text = value["text"].as_str();
            texts.push(Text::new(text.ok_or_else(|| Failure::usage(format!("{shown}, line {}: no text", i + 1)))?));
        }
        Ok(CorpusTexts::from_texts(texts))
    }

    fn load(args: &ScoringArgs, entry: Option<&ModelEntry>, data: &Path) -> Result<Classifier, Failure> {
        let folder = match (&args.model_dir, &args.model) {
            (Some(folder), _) => folder.clone(),
            (None, key) => {
                let key = key.as_deref().unwrap_or_default();
                let folder = models::folder(data, key);
                if !folder.is_dir() {
                    return Err(Failure::usage(format!("{key} is not fetched; run deveval models fetch {key}")));
                }
                folder
            }
        };
        let threads = match args.threads {
            Some(threads) => threads,
            None => thread::available_parallelism().map_or(1, usize::from),
        };
        let mut options = LoadOptions::new(engine(args, data)?, threads);
        options.positive_label.clone_from(&args.positive_label);
        options.batch_tokens = args.batch_tokens;
        if args.window.is_some() || args.stride.is_some() || args.max_windows.is_some() {
            let own = entry.map_or(Ok(Chunking::PUBLISHED), ModelEntry::chunking)?;
            let window = args.window.unwrap_or(own.window_tokens);
            let stride = args.stride.unwrap_or_else(|| own.stride_tokens.min(window));
            options.chunking = Some(Chunking::new(window, stride, args.max_windows)?);
        }
        let mut model = Classifier::load(&folder, entry, &options)?;
        // A hub's commit, where the registry names a branch.
        if let Ok(commit) = fs::read_to_string(folder.join("revision")) {
            model.set_revision(commit.trim());
        }
        Ok(model)
    }

    fn engine(args: &ScoringArgs, data: &Path) -> Result<Engine, Failure> {
        match args.engine {
            EngineArg::Candle => Ok(Engine::Candle),
            #[cfg(feature = "cuda")]
            EngineArg::Cuda => Ok(Engine::CandleCuda(0)),
            #[cfg(not(feature = "cuda"))]
            EngineArg::Cuda => {
                Err(Failure::usage("this deveval was built without CUDA; build it with --features cuda"))
            }
            EngineArg::Onnxruntime => {
                #[expect(clippy::disallowed_methods, reason = "the variable that users of the library know")]
                let named = std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
                if let Some(library) = args.onnxruntime.clone().or(named) {
                    return Ok(Engine::OnnxRuntime(library));
                }
                let folder = runtime_folder(data);
                let fetched = ["libonnxruntime.so", "libonnxruntime.dylib", "onnxruntime.dll"].map(|n| folder.join(n));
                fetched.into_iter().find(|p| p.is_file()).map(Engine::OnnxRuntime).ok_or_else(|| {
                    Failure::usage("no ONNX Runtime; run deveval models runtime, or give --onnxruntime FILE")
                })
            }
        }
    }

    fn timing(model: &mut Classifier, texts: &CorpusTexts, out: &mut Stdout) -> Result<Exit, Failure> {
        #[expect(clippy::disallowed_methods, reason = "the time is what is asked for")]
        let start = std::time::Instant::now();
        let before = processor_seconds();
        let progress = model.complete(&mut model.table(), texts, &mut |_| {}, &mut |_| Ok(()))?;
        let report = serde_json::json!({
            "engine": model.backend().name(),
            "texts": progress.texts,
            "windows": progress.windows,
            "windows_run": progress.windows_run,
            "tokens_run": progress.tokens_run,
            "seconds": start.elapsed().as_secs_f64(),
            "processor_seconds": processor_seconds().zip(before).map(|(after, before)| after - before),
            "peak_bytes": peak_bytes(),
        });
        writeln!(out, "{report}")?;
        Ok(Exit::Ok)
    }

    /// Processor time of this process so far, where the system tells: `utime` and `stime` of `/proc`, in hundredths.
    fn processor_seconds() -> Option<f64> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some((user + system) / 100.0)
    }

    /// The most memory this process held, where the system tells.
    fn peak_bytes() -> Option<u64> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
    }

    fn check(
        model: &mut Classifier,
        path: &Path,
        texts: &CorpusTexts,
        sample: Option<usize>,
        out: &mut Stdout,
    ) -> Result<Exit, Failure> {
        let shown = path.display().to_string();
        let table = ScoreTable::read(path)?;
        model.check_same(&shown, &table)?;
        table.require(&shown, texts.iter().map(|t| &**t))?;
        if table.len() != texts.len() {
            let extra = table.len() - texts.len();
            return Err(Failure::new(Exit::Failed, format!("{shown} holds {extra} texts that the corpus lacks")));
        }
        let wanted = sample.unwrap_or(texts.len()).clamp(1, texts.len().max(1));
        let spread = |i: usize| i * wanted / texts.len() != (i + 1) * wanted / texts.len();
        let chosen: Vec<_> = texts.iter().enumerate().filter(|(i, _)| spread(*i)).map(|(_, t)| t).collect();
        let plain: Vec<&str> = chosen.iter().map(|t| t.as_str()).collect();
        let scores = model.score(&plain)?;
        let mut differ = BTreeMap::new();
        let mut worst = 0.0f64;
        for (text, score) in chosen.iter().zip(scores) {
            let apart = (table.score(text).unwrap_or(f64::NAN) - f64::from(score)).abs();
            worst = worst.max(apart);
            if apart.is_nan() || apart > TOLERANCE {
                differ.insert(text.sha256(), apart);
            }
        }
        if let Some((key, apart)) = differ.first_key_value() {
            let key: String = key.iter().map(|b| format!("{b:02x}")).collect();
            let message = format!("{shown}: {} of {} scores differ, {key} by {apart:.6}", differ.len(), chosen.len());
            return Err(Failure::new(Exit::Failed, message));
        }
        writeln!(out, "{shown}: {} of {} scores agree, the furthest to {worst:.1e}", chosen.len(), table.len())?;
        Ok(Exit::Ok)
    }
}
