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
    /// No rows at all.
    #[error("no rows")]
    Empty,
    /// Two inputs that describe the same rows differ in length.
    #[error("{what} has {found} rows, not {expected}")]
    Length {
        /// The input that differs.
        what: &'static str,
        /// Rows of the first input.
        expected: usize,
        /// Rows of this input.
        found: usize,
    },
    /// A score, value or threshold that is NaN or infinite.
    #[error("{what} {value} in row {row} is not finite")]
    NotFinite {
        /// The input it stands in.
        what: &'static str,
        /// Zero-based row.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A negative weight.
    #[error("weight {value} in row {row} is negative")]
    NegativeWeight {
        /// Zero-based row.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A value outside its range.
    #[error("{what} {value} is outside {range}")]
    OutOfRange {
        /// The parameter or input.
        what: &'static str,
        /// The value.
        value: f64,
        /// The range, in words.
        range: &'static str,
    },
    /// A group stands in both halves of a split.
    #[error("group in both halves of the split: rows {dev} (dev) and {test} (test)")]
    GroupInBothHalves {
        /// A row of the group in the dev half.
        dev: usize,
        /// A row of the group in the test half.
        test: usize,
    },
    /// More rows or groups than 2^30.
    #[error("more than 2^30 rows")]
    TooMany,
    /// The interval method is not defined for the resampling design.
    #[error("{0} is not defined for a crossed design")]
    CrossedDesign(&'static str),
    /// The interval method is not defined for strata.
    #[error("{0} is not defined for a stratified design")]
    StratifiedDesign(&'static str),
    /// numpy's stream was asked for together with strata or a crossed design, which it was never published for.
    #[error("numpy's stream is defined for one unstratified axis")]
    NumpyDesign,
}
