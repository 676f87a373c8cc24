//! How far a run is: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use wardline_detectors::Progress;

/// The time between two lines.
const EVERY: Duration = Duration::from_secs(10);

pub(super) struct Shown {
    name: String,
    start: Instant,
    bar: Option<ProgressBar>,
    state: Mutex<(bool, Instant)>,
}

impl Shown {
    pub(super) fn new(name: &str) -> Self {
        let bar = io::stderr().is_terminal().then(|| wardline_cli::progress_bar(1, name));
        let start = now();
        Self { name: name.to_owned(), start, bar, state: Mutex::new((false, start)) }
    }

    pub(super) fn update(&self, p: &Progress) {
        let done = p.kept + p.good + p.failed;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (begun, shown) = &mut *state;
        if let Some(bar) = &self.bar {
            if !*begun {
                *begun = true;
                bar.set_length(p.records);
                bar.set_position(p.kept);
                bar.reset_eta();
            }
            bar.set_position(done);
            if p.failed + p.retries > 0 {
                bar.set_message(format!("{} ({} errors, {} again)", self.name, p.failed, p.retries));
            }
        } else if shown.elapsed() >= EVERY {
            *shown = now();
            let rate = (p.good + p.failed) as f64 / self.start.elapsed().as_secs_f64();
            let left = Duration::from_secs_f64((p.records.saturating_sub(done) as f64 / rate).min(1e9));
            let line = format!(
                "{}: {done} of {}, {} errors, {rate:.1}/s, {} s left",
                self.name,
                p.records,
                p.failed,
                left.as_secs()
            );
            // A progress line is no reason to end a run.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "rate and time left are for the person who waits")]
    Instant::now()
}
