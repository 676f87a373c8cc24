use serde::{Deserialize, Serialize};
use wardline_metrics::{Estimate, Interval, IntervalKind};

/// A number with what is known of its uncertainty. `value: null` in JSON means undefined, which is never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Figure {
    /// The number; `None` when it is undefined.
    pub value: Option<f64>,
    /// Its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// How the interval was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<IntervalKind>,
    /// Replicates in which the number was undefined.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undefined_replicates: usize,
    /// The number if every missing score spoke against the detector; only where scores are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<f64>,
    /// The number if every missing score spoke for the detector; only where scores are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// The number, when it is one.
pub(crate) fn defined(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

impl Figure {
    /// A number without an interval.
    #[must_use]
    pub fn bare(value: f64) -> Self {
        Self { value: defined(value), ..Self::default() }
    }

    pub(crate) fn with_interval(value: f64, interval: Option<Interval>, method: IntervalKind) -> Self {
        let method = interval.is_some().then_some(method);
        Self { value: defined(value), interval, method, ..Self::default() }
    }

    pub(crate) fn bounds(mut self, worst: f64, best: f64) -> Self {
        (self.worst, self.best) = (defined(worst), defined(best));
        self
    }
}

impl From<Estimate> for Figure {
    fn from(estimate: Estimate) -> Self {
        Self {
            undefined_replicates: estimate.undefined,
            ..Self::with_interval(estimate.value, estimate.interval, estimate.kind)
        }
    }
}
