//! `mailbench score`: messages in, predictions out, and nothing lost in between.

mod args;
pub(crate) mod catalog;
mod make;
mod progress;

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use wardline_cli::{Exit, Failure, Stdout};
use wardline_detectors::{Preparer, Price, RunFolder, RunOptions, Stop, Summary, score};
use wardline_email_corpus::BaseFolder;

pub(crate) use args::{Args, ViewArg};

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let stop = stop_on_interrupt()?;
    let detectors = args.detectors.iter().map(|d| make::detector(d, args, &stop)).collect::<Result<Vec<_>, _>>()?;
    for (i, detector) in detectors.iter().enumerate() {
        if detectors[..i].iter().any(|d| d.name() == detector.name()) {
            let message = format!("two detectors are named {}; name one with NAME=DETECTOR", detector.name());
            return Err(Failure::usage(message));
        }
    }
    let parent = args.manifest.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let base = BaseFolder::open(args.base_dir.as_deref().unwrap_or(parent))?;
    let preparer = Preparer::new(base, args.view.into());
    let mut folder = RunFolder::open(&args.out_dir, &args.manifest, args.limit)?;
    let mut options = RunOptions::default();
    options.concurrency = args.concurrency.into();
    options.segments = args.segments.clone();
    let (mut incomplete, mut advice) = (Vec::new(), Advice::default());
    for detector in &detectors {
        let shown = progress::Shown::new(detector.name());
        let summary = score(&mut folder, detector, &preparer, &options, &stop, &|p| shown.update(p));
        shown.finish();
        let summary = summary?;
        report(out, detector.name(), &summary, args)?;
        if !summary.is_complete() {
            incomplete.push(why(detector.name(), &summary));
            advice.count(&summary);
        }
        if stop.is_requested() {
            break;
        }
    }
    if incomplete.is_empty() && !stop.is_requested() {
        return Ok(Exit::Ok);
    }
    if stop.is_requested() {
        advice.again = true;
    }
    let reasons = if incomplete.is_empty() { "the run was stopped".to_owned() } else { incomplete.join("; ") };
    Err(Failure::new(Exit::Incomplete, format!("{reasons}; {}", advice.text())))
}

/// What helps a run that is incomplete.
#[derive(Default)]
struct Advice {
    /// Some record may get a score when it is asked about again.
    again: bool,
    /// Some model was trained on records of the run.
    trained_on: bool,
}

impl Advice {
    fn count(&mut self, summary: &Summary) {
        self.again |= summary.records - summary.good > summary.trained_on;
        self.trained_on |= summary.trained_on > 0;
    }

    fn text(&self) -> &'static str {
        match (self.again, self.trained_on) {
            (_, false) => "give the same command again to go on",
            (true, true) => {
                "give the same command again to go on; records that a model was trained on are refused again: leave them out of \
                 the manifest, or give --allow-trained-on and another --out-dir"
            }
            (false, true) => {
                "they are refused however often: leave records that a model was trained on out of the manifest, or give \
                 --allow-trained-on and another --out-dir"
            }
        }
    }
}

fn report(out: &mut Stdout, name: &str, summary: &Summary, args: &Args) -> Result<(), Failure> {
    write!(out, "{name}: {} of {} records scored, {} errors", summary.good, summary.records, summary.failed)?;
    let usage = summary.usage;
    if usage.requests > 0 {
        write!(out, "; {} requests ({} again)", usage.requests, summary.retries)?;
    }
    if usage.tokens() > 0 {
        write!(out, ", {} tokens in and {} out", usage.input_tokens, usage.output_tokens)?;
    }
    let price = Price::new(args.policy.price_input, args.policy.price_output, args.policy.price_request);
    let cost = price.cost(&usage);
    if cost > 0.0 {
        write!(out, ", ${cost:.4}")?;
    }
    writeln!(out, "; {}", summary.file.display())?;
    out.flush()?;
    Ok(())
}

fn why(name: &str, summary: &Summary) -> String {
    let missing = summary.records - summary.good;
    let mut text = format!("{name}: {missing} of {} records have no score", summary.records);
    if let Some(reason) = &summary.stopped {
        text += &format!(" ({reason})");
    } else if let Some((id, error)) = summary.errors.first() {
        text += &format!(" (the first is {id:?}: {error})");
    }
    text
}

/// The first Ctrl-C ends the run cleanly, the second at once; what is written stays written either way.
fn stop_on_interrupt() -> Result<Stop, Failure> {
    let stop = Stop::default();
    let (asked, handler_stop) = (AtomicBool::new(false), stop.clone());
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::SeqCst) {
            #[expect(clippy::exit, reason = "the user has asked twice, and every prediction is in its file")]
            std::process::exit(130);
        }
        handler_stop.request();
        // Nothing is left to tell when standard error is closed.
        let _ = writeln!(io::stderr(), "stopping when the requests under way are answered; again to stop at once");
    })?;
    Ok(stop)
}
