//! The call model of agent defenses, reference defenses and their scoring.

mod call;
mod combine;
mod decision;
mod evaluate;
#[cfg(feature = "exec")]
mod exec;
mod exposure;
mod intervals;
mod labels;
mod pcg;
mod reach;
mod reference;
mod scenario;
mod sweep;
mod tally;

pub use call::{Arg, Call, Origin, Provenance, Text};
pub use combine::{Combined, Rule};
pub use decision::{Decision, Defense, DefenseError};
pub use evaluate::{Denial, EvaluateError, Evaluation, OnError, Outcome, Scored, evaluate};
#[cfg(feature = "exec")]
pub use exec::{ExecDefense, PROTOCOL};
pub use exposure::{Exposure, exposure};
pub use intervals::{CrossedInterval, CrossedIntervals, PairedRate, PairedResult, crossed_intervals, paired};
pub use labels::{LabelCounts, label_counts};
pub use reach::{EgressReach, egress_reach};
pub use reference::{AllowAll, DenyAll, DenyEgress, FlowGuard, KeywordFilter, is_control, reference_defenses};
pub use scenario::{Kind, Output, Scenario, Source, Step};
pub use sweep::{LabelSweep, SweepOptions, SweepPoint, correct_labels, label_sweep};
pub use tally::{Comparison, DefenseResult, Rate, compare};
