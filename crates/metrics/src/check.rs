use crate::MetricsError;

pub(crate) fn same_length(what: &'static str, expected: usize, found: usize) -> Result<(), MetricsError> {
    if expected == found { Ok(()) } else { Err(MetricsError::Length { what, expected, found }) }
}

pub(crate) fn finite(what: &'static str, values: &[f64]) -> Result<(), MetricsError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(row) => Err(MetricsError::NotFinite { what, row, value: values[row] }),
    }
}

/// Labels and scores of the same, non-empty, countable set of rows.
pub(crate) fn scored(labels: &[bool], scores: &[f64]) -> Result<(), MetricsError> {
    same_length("scores", labels.len(), scores.len())?;
    rows(labels.len())?;
    finite("score", scores)
}

pub(crate) fn rows(n: usize) -> Result<(), MetricsError> {
    match n {
        0 => Err(MetricsError::Empty),
        n if n > 1 << 30 => Err(MetricsError::TooMany),
        _ => Ok(()),
    }
}

pub(crate) fn weights(weights: &[f64]) -> Result<(), MetricsError> {
    finite("weight", weights)?;
    let sum: f64 = weights.iter().sum();
    if sum.is_infinite() {
        return Err(MetricsError::OutOfRange { what: "sum of weights", value: sum, range: "the finite numbers" });
    }
    match weights.iter().position(|&w| w < 0.0) {
        None => Ok(()),
        Some(row) => Err(MetricsError::NegativeWeight { row, value: weights[row] }),
    }
}

pub(crate) fn confidence(level: f64) -> Result<(), MetricsError> {
    if level > 0.0 && level < 1.0 { Ok(()) } else { Err(MetricsError::Confidence(level)) }
}

/// A rate: 0..=1.
pub(crate) fn unit_interval(what: &'static str, value: f64) -> Result<(), MetricsError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(MetricsError::OutOfRange { what, value, range: "0..=1" }) }
}
