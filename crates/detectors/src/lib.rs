//! Detectors of prompt injection and phishing in e-mail behind one trait, and a runner that loses nothing.

mod detector;
mod error;
mod failure;
mod input;
mod policy;
mod prediction;
mod runner;

pub use detector::{Detector, Needs, Task};
pub use error::DetectorError;
pub use failure::{ErrorClass, Failure};
pub use input::{Image, Input, Link, MailFacts, Preparer, Structured, View, mail_facts, message_of_fields};
pub use policy::{
    BreakerLimits, BudgetLimits, Caller, Clock, Policy, Price, RateLimits, Retry, Stop, SystemClock, Usage,
    parse_retry_after,
};
pub use prediction::{Action, Bands, Hit, Prediction, Verdict};
pub use runner::{
    DetectorState, Progress, RUN_SCHEMA, RunFile, RunFolder, RunOptions, Summary, file_name, read_predictions, score,
};
