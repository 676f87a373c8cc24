use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a record has no score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    /// No row has the record's id.
    Absent,
    /// The row says that there was an error.
    Error,
    /// The row says that there was no answer in time.
    Timeout,
    /// There is no score, or null.
    Null,
    /// The score is not a number (the floating-point value).
    Nan,
    /// The score is infinite.
    Infinite,
    /// The score is a text, a list or another thing that is no number.
    Text,
    /// The score is below 0 or above 1.
    OutOfRange,
}

impl Fault {
    /// Every kind, in order.
    pub const ALL: [Self; 8] =
        [Self::Absent, Self::Error, Self::Timeout, Self::Null, Self::Nan, Self::Infinite, Self::Text, Self::OutOfRange];

    /// The kind in words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Error => "error",
            Self::Timeout => "time-out",
            Self::Null => "null",
            Self::Nan => "NaN",
            Self::Infinite => "infinite",
            Self::Text => "not a number",
            Self::OutOfRange => "out of range",
        }
    }

    /// The kind as its field is named in JSON.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Null => "null",
            Self::Nan => "nan",
            Self::Infinite => "infinite",
            Self::Text => "text",
            Self::OutOfRange => "out_of_range",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How many records have a score, and why the others have none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Coverage {
    /// Records that should have a score.
    pub expected: u64,
    /// Records that have one.
    pub scored: u64,
    /// No row has the record's id.
    pub absent: u64,
    /// The row says that there was an error.
    pub error: u64,
    /// The row says that there was no answer in time.
    pub timeout: u64,
    /// There is no score, or null.
    pub null: u64,
    /// The score is not a number.
    pub nan: u64,
    /// The score is infinite.
    pub infinite: u64,
    /// The score is no number at all.
    pub text: u64,
    /// The score is below 0 or above 1.
    pub out_of_range: u64,
}

impl Coverage {
    /// Counts one record.
    pub fn count<T>(&mut self, reading: &Result<T, Fault>) {
        self.expected += 1;
        match reading {
            Ok(_) => self.scored += 1,
            Err(fault) => *self.slot(*fault) += 1,
        }
    }

    pub(crate) fn add_scored(&mut self, n: u64) {
        self.expected += n;
        self.scored += n;
    }

    pub(crate) fn add_fault(&mut self, fault: Fault, n: u64) {
        self.expected += n;
        *self.slot(fault) += n;
    }

    /// The count of one kind.
    #[must_use]
    pub fn of(&self, fault: Fault) -> u64 {
        let mut copy = *self;
        *copy.slot(fault)
    }

    /// Records without a score.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.expected - self.scored
    }

    /// `scored / expected`; `None` of nothing.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.expected > 0).then(|| self.scored as f64 / self.expected as f64)
    }

    /// The kinds that occur with their counts, such as `12 error, 3 NaN`; empty when nothing is missing.
    #[must_use]
    pub fn faults(&self) -> String {
        let kinds = Fault::ALL.into_iter().filter(|f| self.of(*f) > 0);
        kinds.map(|f| format!("{} {f}", self.of(f))).collect::<Vec<_>>().join(", ")
    }

    fn slot(&mut self, fault: Fault) -> &mut u64 {
        match fault {
            Fault::Absent => &mut self.absent,
            Fault::Error => &mut self.error,
            Fault::Timeout => &mut self.timeout,
            Fault::Null => &mut self.null,
            Fault::Nan => &mut self.nan,
            Fault::Infinite => &mut self.infinite,
            Fault::Text => &mut self.text,
            Fault::OutOfRange => &mut self.out_of_range,
        }
    }
}
