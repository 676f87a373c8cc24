//! Scoring with a classifier, beside the Python way on the same texts, weights and threads.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use wardline_cli::{Exit, Failure, Stdout, data_dir};
use wardline_report::{Column, Table};

use super::median;
use crate::models::{self, MODEL};
use crate::python;
use crate::shell::step;

/// Scoring texts with candle and ONNX Runtime, beside Python
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Runs of each; the median is printed
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Threads of each
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Corpus whose texts are scored
    #[arg(long, default_value = "pairs")]
    corpus: String,
    /// What the bounds are on
    #[arg(long, value_enum, default_value_t = Baseline::Transformers)]
    baseline: Baseline,
    /// Compare processor time, which other work on the machine disturbs less, instead of wall time
    #[arg(long)]
    processor_time: bool,
    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// The Python way; ONNX Runtime's row stands in the table either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Baseline {
    /// The pipeline of transformers on PyTorch, some 5 GB of packages
    Transformers,
    /// ONNX Runtime with the model's tokenizer, where PyTorch cannot be had
    Onnxruntime,
}

const SCRIPT: &str = "crates/classifier/benches/python_way.py";

/// How many times as fast as Python an engine must be.
const BOUNDS: [(&str, f64); 2] = [("candle", 1.0), ("onnxruntime", 2.0)];

#[derive(Deserialize)]
struct Measures {
    windows: usize,
    windows_run: usize,
    tokens_run: usize,
    seconds: f64,
    processor_seconds: Option<f64>,
    peak_bytes: Option<u64>,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let data = data_dir(args.data_dir.as_deref())?.path;
    let deveval = models::build(out)?;
    models::fetch(&deveval, &data, out)?;
    let mut runtime = Command::new(&deveval);
    step(out, "fetch ONNX Runtime", runtime.args(["models", "runtime", "--data-dir"]).arg(&data))?;
    let python = python::environment("bench-classifier", "crates/classifier/benches/requirements.lock")?;
    let torch = match args.baseline {
        Baseline::Onnxruntime => None,
        Baseline::Transformers => {
            Some(python::environment("classifier", "crates/classifier/tests/fixtures/requirements.lock")?)
        }
    };

    let folder = data.join("bench-classifier");
    fs::create_dir_all(&folder)?;
    let (graph, texts) = (folder.join("model.onnx"), folder.join("texts.jsonl"));
    let mut export = Command::new(&deveval);
    step(out, "export", export.args(["models", "export", MODEL]).arg(&graph).arg("--data-dir").arg(&data))?;
    let mut list = Command::new(&deveval);
    list.args(["texts", "--with-text", "--corpus", &args.corpus, "--data-dir"]).arg(&data);
    fs::write(&texts, stdout(&mut list)?)?;

    let threads = args.threads.to_string();
    let model = data.join("models").join(MODEL);
    let in_python = |script: &mut Command| -> Result<Measures, Failure> {
        measures(script.args([&threads, "126", "126"]).stdin(fs::File::open(&texts)?))
    };
    let mut runs: [Vec<Measures>; 4] = Default::default();
    for _ in 0..args.repeat.max(1) {
        if let Some(torch) = &torch {
            let mut script = python::script(torch, SCRIPT);
            runs[0].push(in_python(script.arg("transformers").arg(&model))?);
        }
        let mut script = python::script(&python, SCRIPT);
        runs[1].push(in_python(script.arg("onnxruntime").arg(&graph).arg(model.join("tokenizer.json")))?);
        for (i, (engine, _)) in BOUNDS.iter().enumerate() {
            runs[i + 2].push(measures(&mut timed(&deveval, engine, &threads, &args.corpus, &data))?);
        }
    }
    let seconds = |runs: &[Measures]| {
        let of = |m: &Measures| if args.processor_time { m.processor_seconds.unwrap_or(m.seconds) } else { m.seconds };
        median(runs.iter().map(of).collect())
    };
    let [transformers, onnxruntime] = [0, 1].map(|i| Some(seconds(&runs[i])).filter(|_| !runs[i].is_empty()));
    let mut header = [
        "",
        "seconds",
        "windows/s",
        "windows run",
        "tokens/s",
        "peak memory",
        "times transformers",
        "times Python's ONNX Runtime",
    ]
    .map(Column::text)
    .to_vec();
    header.extend(["bound", ""].map(Column::text));
    let mut table = Table::new(header);
    let mut missed = 0;
    let bounds = [("transformers", None), ("ONNX Runtime in Python", None)];
    let bounds = bounds.into_iter().chain(BOUNDS.map(|(name, bound)| (name, Some(bound))));
    for (runs, (name, bound)) in runs.iter().zip(bounds) {
        let (Some(first), seconds) = (runs.first(), seconds(runs)) else { continue };
        let times = |baseline: Option<f64>| baseline.map(|b| b / seconds);
        let is_missed = bound.is_some_and(|b| times(transformers.or(onnxruntime)).is_none_or(|t| t < b));
        missed += usize::from(is_missed);
        let peak = median(runs.iter().filter_map(|m| Some(m.peak_bytes? as f64)).collect());
        let two = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.2}"));
        table.row([
            name.to_owned(),
            format!("{seconds:.1}"),
            format!("{:.1}", first.windows as f64 / seconds),
            format!("{} of {}", first.windows_run, first.windows),
            format!("{:.0}", first.tokens_run as f64 / seconds),
            format!("{:.0} MiB", peak / f64::from(1 << 20)),
            two(times(transformers)),
            two(times(onnxruntime)),
            bound.map_or_else(String::new, |b| format!("{b:.1}")),
            bound.map_or("", |_| if is_missed { "MISSED" } else { "met" }).to_owned(),
        ]);
    }
    let clock = if args.processor_time { "processor" } else { "wall" };
    writeln!(
        out,
        "\n{} threads, {clock} time, median of {}; windows/s counts every window of the texts, run or known; the bound is on times {}\n",
        args.threads,
        args.repeat.max(1),
        if torch.is_some() { "transformers" } else { "Python's ONNX Runtime" }
    )?;
    write!(out, "{}", table.to_text())?;
    if missed > 0 {
        return Err(Failure::new(Exit::Failed, format!("{missed} bounds missed")));
    }
    Ok(Exit::Ok)
}

fn timed(deveval: &Path, engine: &str, threads: &str, corpus: &str, data: &Path) -> Command {
    let mut command = Command::new(deveval);
    command.args(["score", "--timing", "--model", MODEL, "--corpus", corpus, "--engine", engine]);
    command.args(["--threads", threads, "--data-dir"]).arg(data).stdin(Stdio::null());
    command
}

fn measures(command: &mut Command) -> Result<Measures, Failure> {
    Ok(serde_json::from_slice(&stdout(command)?)?)
}

fn stdout(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(Failure::new(Exit::Failed, format!("{command:?}: {}", output.status)))
    }
}
