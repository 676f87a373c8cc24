use serde::Serialize;

use crate::{Kind, Origin, Provenance, Scenario};

/// The untrusted arguments of benign scenarios by where their values were found: how often the provenance rule calls something
/// untrusted that no attacker wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LabelCounts {
    /// Arguments of benign scenarios that are not trusted.
    pub benign_untrusted: u64,
    /// Of these, those found in the environment's data.
    pub environment: u64,
    /// Of these, those found in neither prompt nor environment.
    pub neither: u64,
}

/// Counts the untrusted arguments of benign scenarios.
pub fn label_counts(scenarios: &[Scenario]) -> LabelCounts {
    let mut counts = LabelCounts::default();
    let steps = scenarios.iter().filter(|s| s.kind == Kind::Benign).flat_map(|s| &s.steps);
    for arg in steps.flat_map(|s| &s.call.args).filter(|a| a.provenance != Provenance::Trusted) {
        counts.benign_untrusted += 1;
        counts.environment += u64::from(arg.origin == Some(Origin::Environment));
        counts.neither += u64::from(arg.origin == Some(Origin::Neither));
    }
    counts
}
