use thiserror::Error;

/// What is wrong with an input.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// More successes than trials.
    #[error("{successes} successes of {trials} trials")]
    MoreSuccessesThanTrials {
        /// Number of successes given.
        successes: u64,
        /// Number of trials given.
        trials: u64,
    },
    /// A confidence level outside the open interval (0, 1).
    #[error("confidence level {0} is not between 0 and 1")]
    Confidence(f64),
}
