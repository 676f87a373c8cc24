//! The call model of agent defenses, reference defenses and their scoring.

mod call;
mod scenario;

pub use call::{Arg, Call, Origin, Provenance, Text};
pub use scenario::{Kind, Output, Scenario, Source, Step};
