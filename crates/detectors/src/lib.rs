//! Detectors of prompt injection and phishing in e-mail behind one trait, and a runner that loses nothing.

mod detector;
mod ensemble;
mod error;
mod exec;
mod failure;
mod heuristics;
#[cfg(feature = "http")]
mod http;
mod input;
#[cfg(feature = "inference")]
mod local;
mod ngram;
mod policy;
mod prediction;
mod protocol;
mod replay;
mod runner;
#[cfg(feature = "classifier")]
mod scores;

pub use detector::{Detector, Needs, Task};
pub use ensemble::{EnsembleSummary, ensemble};
pub use error::DetectorError;
pub use exec::ExecDetector;
pub use failure::{ErrorClass, Failure};
pub use heuristics::{Heuristics, Rule, RuleKind};
#[cfg(feature = "http")]
pub use http::{
    Anthropic, Bedrock, BedrockAuth, Client, Gemini, HttpDetector, HttpOptions, Judge, JudgeOptions, Lakera,
    ModelArmor, OpenAi, PromptShields, Provider, ScamGuard, Secret, Service, ServiceDetector,
};
pub use input::{Image, Input, Link, MailFacts, Preparer, Structured, View, mail_facts, message_of_fields};
#[cfg(feature = "inference")]
pub use local::ClassifierDetector;
pub use ngram::{Example, NgramDetector, NgramModel, TrainOptions, train_ngram};
pub use policy::{
    BreakerLimits, BudgetLimits, Caller, Clock, Policy, Price, RateLimits, Retry, Stop, SystemClock, Usage,
    parse_retry_after,
};
pub use prediction::{Action, Bands, Hit, Prediction, Verdict};
pub use protocol::MAIL_PROTOCOL;
pub use replay::ReplayDetector;
pub use runner::{
    DetectorState, Progress, RUN_SCHEMA, RunFile, RunFolder, RunOptions, Summary, file_digest, file_name,
    read_predictions, score,
};
#[cfg(feature = "classifier")]
pub use scores::ScoresDetector;

/// Base64 with padding, as JSON fields carry bytes.
fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
