use std::fs;
use std::path::Path;

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

/// Takes the results of detectors that this run has no predictions of from a reference, when both were read from the same
/// population; otherwise they are dropped, and a warning says so.
///
/// # Errors
/// With `strict`, another population is an error.
pub fn carry_forward(analysis: &mut Analysis, reference: &Analysis, strict: bool) -> Result<(), AnalysisError> {
    let ours = |name: &str| analysis.detectors.iter().any(|d| d.detector == name);
    let others: Vec<_> = reference.detectors.iter().filter(|d| !ours(&d.detector)).cloned().collect();
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
    for mut detector in others {
        detector.carried_forward = true;
        analysis.warnings.push(format!("{}: carried forward from the reference, not computed here", detector.detector));
        analysis.detectors.push(detector);
    }
    analysis.detectors.sort_by(|a, b| a.detector.cmp(&b.detector));
    Ok(())
}

fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}
