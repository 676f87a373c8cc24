use std::fs;
use std::path::Path;

use super::Settings;
use super::result::{ANALYSIS_SCHEMA, Analysis};
use crate::AnalysisError;

/// Reads an analysis that was written as JSON.
///
/// # Errors
/// The file cannot be read or is no analysis of this version.
pub fn read_analysis(path: &Path) -> Result<Analysis, AnalysisError> {
    let bytes = fs::read(path).map_err(AnalysisError::io(path))?;
    #[derive(serde::Deserialize)]
    struct Schema {
        schema: String,
    }
    let found: Schema =
        serde_json::from_slice(&bytes).map_err(|e| AnalysisError::input(path, format!("is no analysis: {e}")))?;
    if found.schema != ANALYSIS_SCHEMA {
        let message = format!("has schema {:?}, not {ANALYSIS_SCHEMA:?}", found.schema);
        return Err(AnalysisError::input(path, message));
    }
    serde_json::from_slice(&bytes).map_err(|e| AnalysisError::input(path, format!("is no analysis: {e}")))
}

/// Takes the results of `absent` detectors (those that were expected and have no predictions: [`Run::absent`](crate::Run::absent)) from
/// a reference, when both were read from the same population; otherwise they are dropped, and a warning says so.
///
/// # Errors
/// The reference was made with another threshold, target, confidence, interval, number of replicates or seed: its rows would stand
/// under headings that are not theirs. With `strict`, another population is an error.
pub fn carry_forward(
    analysis: &mut Analysis,
    reference: &Analysis,
    absent: &[String],
    strict: bool,
) -> Result<(), AnalysisError> {
    let others = reference.detectors.iter().filter(|d| absent.contains(&d.detector));
    let others: Vec<_> = others.filter(|d| analysis.detector(&d.detector).is_none()).cloned().collect();
    if reference.population_signature != analysis.population_signature {
        let what = format!(
            "the reference was read from another population (signature {} there, {} here)",
            short(&reference.population_signature),
            short(&analysis.population_signature)
        );
        if strict {
            return Err(AnalysisError::Request(what));
        }
        let names: Vec<&str> = others.iter().map(|d| d.detector.as_str()).collect();
        let dropped =
            if names.is_empty() { "nothing to carry".into() } else { format!("dropped: {}", names.join(", ")) };
        analysis.warnings.push(format!("{what}: no row is carried forward; {dropped}"));
        return Ok(());
    }
    same_settings(&reference.settings, &analysis.settings)?;
    for mut detector in others {
        detector.carried_forward = true;
        analysis.warnings.push(format!("{}: carried forward from the reference, not computed here", detector.detector));
        analysis.detectors.push(detector);
    }
    analysis.detectors.sort_by(|a, b| a.detector.cmp(&b.detector));
    Ok(())
}

/// Whether a row means the same under both settings.
fn same_settings(there: &Settings, here: &Settings) -> Result<(), AnalysisError> {
    let interval = |s: &Settings| serde_json::to_string(&s.interval).unwrap_or_default();
    for (name, there, here) in [
        ("threshold", there.threshold.to_string(), here.threshold.to_string()),
        ("target false-positive rate", there.target_fpr.to_string(), here.target_fpr.to_string()),
        ("confidence", there.confidence.to_string(), here.confidence.to_string()),
        ("interval", interval(there), interval(here)),
        ("number of replicates", there.replicates.to_string(), here.replicates.to_string()),
        ("seed", there.seed.to_string(), here.seed.to_string()),
    ] {
        if there != here {
            let message = format!("the reference was made with another {name} ({there} there, {here} here)");
            return Err(AnalysisError::Request(message));
        }
    }
    Ok(())
}

fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}
