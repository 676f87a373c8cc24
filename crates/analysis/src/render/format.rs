use crate::Figure;

pub(super) const UNDEFINED: &str = "undefined";

/// Three decimals.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or(UNDEFINED.into(), |v| format!("{v:.3}"))
}

/// A number with its interval, and with its worst and best values where scores are missing.
pub(super) fn figure(figure: &Figure) -> String {
    let mut text = number(figure.value);
    if let Some(i) = figure.interval {
        text.push_str(&format!(" ({:.3} to {:.3})", i.low, i.high));
    }
    if let Some(bounds) = bounds(figure) {
        text.push_str(&format!(" [{bounds}]"));
    }
    text
}

/// The lower lines of a cell: interval; worst and best.
pub(super) fn detail(figure: &Figure) -> Option<String> {
    let interval = figure.interval.map(|i| format!("{:.3} to {:.3}", i.low, i.high));
    match (interval, bounds(figure)) {
        (Some(a), Some(b)) => Some(format!("{a}\n{b}")),
        (a, b) => a.or(b),
    }
}

fn bounds(figure: &Figure) -> Option<String> {
    match (figure.worst, figure.best) {
        (None, None) => None,
        (worst, best) => Some(format!("worst {}, best {}", number(worst), number(best))),
    }
}

/// A signed difference.
pub(super) fn signed(figure: &Figure) -> String {
    let Some(value) = figure.value else { return UNDEFINED.into() };
    let interval = figure.interval.map_or(String::new(), |i| format!(" ({:+.3} to {:+.3})", i.low, i.high));
    format!("{value:+.3}{interval}")
}

pub(super) fn p_value(p: Option<f64>) -> String {
    match p {
        None => UNDEFINED.into(),
        Some(p) if p < 0.001 => "< .001".into(),
        Some(p) => format!("{p:.3}"),
    }
}

pub(super) fn threshold(value: Option<f64>) -> String {
    value.map_or("none".into(), |v| format!("{v:.4}").trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// `1,234`.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or(UNDEFINED.into(), |s| format!("{:.1} %", 100.0 * s))
}

/// The mean of the defined values with what it skips, so that an average never hides a gap.
pub(super) fn mean(values: impl Iterator<Item = Option<f64>>) -> String {
    let (mut sum, mut n, mut skipped) = (0.0, 0_u64, 0_u64);
    for value in values {
        match value {
            Some(v) => (sum, n) = (sum + v, n + 1),
            None => skipped += 1,
        }
    }
    let skips = if skipped == 0 { String::new() } else { format!(" (skips {skipped} undefined)") };
    if n == 0 { format!("{UNDEFINED}{skips}") } else { format!("{:.3}{skips}", sum / n as f64) }
}
