use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar on standard error. Nothing is drawn when standard error is no terminal.
///
/// `length` is in items; zero gives a spinner, until [`set_length`] says how many there are.
pub fn progress_bar(length: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
    set_style(&bar, "{spinner} {msg} {elapsed}");
    if length > 0 {
        set_length(&bar, length);
    }
    bar.set_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Turns a spinner into a bar of this many items.
pub fn set_length(bar: &ProgressBar, length: u64) {
    if bar.length() != Some(length) {
        bar.set_length(length);
        set_style(bar, "{msg} [{bar:30}] {pos}/{len} {elapsed} eta {eta}");
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
}
