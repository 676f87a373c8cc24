//! `deveval score`: writes a model's score table for a corpus.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;
use wardline_cli::ModelArgs;
#[cfg(not(feature = "inference"))]
use wardline_cli::{Exit, Failure, Stdout, without_inference};

#[derive(Args)]
pub(crate) struct ScoringArgs {
    /// Model, as in models list
    #[arg(long, value_name = "KEY", required_unless_present = "model_dir")]
    model: Option<String>,

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
    #[arg(long, value_name = "N", requires = "check", conflicts_with_all = ["out", "timing"])]
    sample: Option<NonZero<usize>>,

    /// Write nothing; print how long it took, how much was run and how much memory it needed, as one JSON object
    #[arg(long, conflicts_with_all = ["out", "check"])]
    timing: bool,

    #[command(flatten)]
    how: ModelArgs,

    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[cfg(not(feature = "inference"))]
pub(crate) fn run(_: &ScoringArgs, _: &mut Stdout) -> Result<Exit, Failure> {
    Err(without_inference("deveval"))
}

#[cfg(feature = "inference")]
pub(crate) use with_models::run;

#[cfg(feature = "inference")]
mod with_models {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Write;
    use std::num::NonZero;
    use std::path::Path;

    use wardline_classifier::{Classifier, CorpusTexts, Registry, ScoreTable};
    use wardline_cli::{Exit, Failure, Stdout, data_dir, progress_bar};
    use wardline_defense::{Source, Text};

    use super::ScoringArgs;
    use crate::corpora;

    /// Two engines, and two processors, differ by less.
    const TOLERANCE: f64 = 1e-4;

    pub(crate) fn run(args: &ScoringArgs, out: &mut Stdout) -> Result<Exit, Failure> {
        let data = data_dir(args.data_dir.as_deref())?.path;
        let texts = texts(args)?;
        let registry = Registry::built_in()?;
        let entry = args.model.as_deref().map(|key| registry.get(key)).transpose()?;
        let mut model = args.how.load(args.model.as_deref().unwrap_or_default(), entry, &data)?;
        if let Some(table) = &args.check {
            return check(&mut model, table, &texts, args.sample.map(NonZero::get), out);
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
        model.check_resumable(&shown, &table)?;
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
        let texts = CorpusTexts::from_texts(texts);
        if texts.is_empty() {
            return Err(Failure::usage(format!("{shown} holds no text to score")));
        }
        Ok(texts)
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
