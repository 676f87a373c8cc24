use std::error::Error;

use thiserror::Error;

use crate::Call;

/// What a defense rules on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The call must not run, and the agent halts.
    Deny {
        /// Why, for the user; one line.
        reason: String,
    },
}

impl Decision {
    /// A denial with its reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }

    /// Whether the call must not run.
    pub fn is_deny(&self) -> bool {
        matches!(self, Self::Deny { .. })
    }
}

/// A defense could not rule on a call. It is never counted as allow or deny unless the user chose so.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct DefenseError {
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl DefenseError {
    /// An error with a message of one line.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// An error with its cause.
    pub fn with_source(message: impl Into<String>, source: impl Error + Send + Sync + 'static) -> Self {
        Self { message: message.into(), source: Some(Box::new(source)) }
    }
}

/// A defense that rules on an agent's tool calls, one at a time, before each runs.
///
/// ```
/// use wardline_defense::{Call, Decision, Defense, DefenseError};
///
/// /// Lets nobody delete anything.
/// struct NoDeletes;
///
/// impl Defense for NoDeletes {
///     fn name(&self) -> &str {
///         "no-deletes"
///     }
///
///     fn decide(&self, call: &Call) -> Result<Decision, DefenseError> {
///         if call.tool.starts_with("delete_") {
///             return Ok(Decision::deny(format!("{} deletes", call.tool)));
///         }
///         Ok(Decision::Allow)
///     }
/// }
/// ```
pub trait Defense: Send + Sync {
    /// The name that tables show.
    fn name(&self) -> &str;

    /// Rules on one call.
    ///
    /// # Errors
    /// When the defense cannot say: a service that does not answer, a score that is missing. Never for "deny".
    fn decide(&self, call: &Call) -> Result<Decision, DefenseError>;

    /// Whether calls may be put to it from several threads at once. A defense that says no is asked call by call in corpus order.
    fn is_parallel(&self) -> bool {
        true
    }
}

impl<D: Defense + ?Sized> Defense for Box<D> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn decide(&self, call: &Call) -> Result<Decision, DefenseError> {
        (**self).decide(call)
    }

    fn is_parallel(&self) -> bool {
        (**self).is_parallel()
    }
}
