use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Usage;

/// Why a record has no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorClass {
    /// The service refuses the request as wrong: 400, 404, 413, 422 and the like.
    BadRequest,
    /// The key is missing, wrong or not allowed to do this: 401, 402, 403.
    Auth,
    /// Too many requests: 429.
    RateLimited,
    /// No answer in time: 408, 504, or silence.
    Timeout,
    /// The service failed: 5xx.
    Server,
    /// The connection could not be made, or was cut.
    Connection,
    /// The answer is not what the service documents: no JSON, a field that is missing, a score that is no number in 0..1.
    Reply,
    /// The answer is longer than an answer can be.
    TooLarge,
    /// The model or program declined to judge.
    Refused,
    /// The model's answer was cut off.
    Truncated,
    /// The record could not be read or prepared.
    Input,
    /// The model was trained on the record, and refuses it.
    TrainedOn,
    /// A program ended, or answered out of turn.
    Program,
    /// The service has failed so often that nobody asks it any more.
    Unavailable,
    /// The budget is used up.
    Budget,
    /// The run was stopped before the record's turn.
    Stopped,
}

impl ErrorClass {
    /// Whether the same request may succeed a little later.
    #[must_use]
    pub fn may_pass_later(self) -> bool {
        matches!(self, Self::RateLimited | Self::Timeout | Self::Server | Self::Connection)
    }

    /// Whether the record was not asked about at all and the run is to end.
    #[must_use]
    pub fn ends_run(self) -> bool {
        matches!(self, Self::Unavailable | Self::Budget | Self::Stopped)
    }
}

/// Why a record has no verdict, in words.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Failure {
    /// The kind.
    pub class: ErrorClass,
    /// One line; holds no key.
    pub message: String,
    /// How long the service asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether every other record would fail in the same way.
    pub fatal: bool,
    /// What the failed requests cost.
    pub usage: Usage,
}

impl Failure {
    /// A failure of the kind.
    #[must_use]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), retry_after: None, fatal: class.ends_run(), usage: Usage::default() }
    }
}
