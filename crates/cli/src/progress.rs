use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar on standard error. Nothing is drawn when standard error is no terminal.
///
/// `length` is in items; zero gives a spinner.
pub fn progress_bar(length: u64, what: &str) -> ProgressBar {
    let bar = if length == 0 { ProgressBar::new_spinner() } else { ProgressBar::new(length) };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
    let template =
        if length == 0 { "{spinner} {msg} {elapsed}" } else { "{msg} [{bar:30}] {pos}/{len} {per_sec} eta {eta}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
