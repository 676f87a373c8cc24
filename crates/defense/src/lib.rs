//! The call model of agent defenses, reference defenses, and their scoring.
//!
//! A defense rules on each tool call that an agent is about to make. This crate says what a call is ([`Call`]), what a defense is
//! ([`Defense`]), and how defenses are scored on traces with ground truth ([`evaluate`], [`compare`]): how many injections they
//! block, how many of these blocks are the injection's doing, and how much legitimate work they keep.
//!
//! ```
//! use std::sync::Arc;
//! use wardline_defense::{Arg, Call, Defense, FlowGuard, Kind, OnError, Provenance, Scenario, Step, compare};
//!
//! let call = |provenance| Call {
//!     tool: "send_money".into(),
//!     args: vec![Arg { name: "recipient".into(), provenance, text: "GB29".into(), origin: None }],
//!     dest: Some("GB29".into()),
//!     context: Vec::new(),
//!     task: "Pay my rent to GB29.".into(),
//!     history: Vec::new(),
//! };
//! let scenario = |id: &str, kind, provenance| Scenario {
//!     id: id.into(),
//!     suite: "bank".into(),
//!     kind,
//!     user_task: None,
//!     injection_task: None,
//!     attack: None,
//!     twin: None,
//!     steps: vec![Step { call: Arc::new(call(provenance)), injected: kind == Kind::Injection, output: None }],
//! };
//! let scenarios = [
//!     scenario("rent", Kind::Benign, Provenance::Trusted),
//!     scenario("theft", Kind::Injection, Provenance::UntrustedWeb),
//! ];
//! let guard = FlowGuard::new();
//! let table = compare([&guard as &dyn Defense], &scenarios, OnError::Fail)?.overall(&scenarios);
//! assert_eq!((table[0].blocked, table[0].injections, table[0].kept, table[0].benign), (1, 1, 1, 1));
//! # Ok::<(), wardline_defense::EvaluateError>(())
//! ```
//!
//! What it does not do: run an agent, hold corpora (see `wardline-sources`), print, read files or the environment.
//!
//! Features: `exec` adds `ExecDefense`, a defense that is a program of its own; off by default.
//!
//! Errors never count as decisions; results do not depend on the number of threads. Enums and results are non-exhaustive, so that
//! they can grow; before 1.0 a minor version may change the API. The minimum supported Rust version is 1.90.

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
