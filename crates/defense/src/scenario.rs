use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Call, Text};

/// What a scenario measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A user task in an environment without an injection: measures utility.
    Benign,
    /// An environment, or a goal, of an attacker: measures whether injected calls are stopped.
    Injection,
}

/// A tool output as the agent reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The text, formatted as for a model.
    pub text: Arc<Text>,
    /// Whether the output carries the injection: it differs from the clean environment's output at the same step, and no clean
    /// environment produces it anywhere.
    pub carries_injection: bool,
}

/// One call of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The call.
    pub call: Arc<Call>,
    /// Whether the attacker asked for it.
    pub injected: bool,
    /// What the call returned, where the corpus replays calls.
    pub output: Option<Output>,
}

/// A trace of calls with its ground truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// Unique within its corpus.
    pub id: String,
    /// The suite it belongs to, for instance `banking`.
    pub suite: String,
    /// Benign or injection.
    pub kind: Kind,
    /// The user task's id, where there is one.
    pub user_task: Option<String>,
    /// The injection task's id, where there is one.
    pub injection_task: Option<String>,
    /// The attack that frames the goal, where there is one.
    pub attack: Option<String>,
    /// The id of the benign twin: the same user task in an environment without injection.
    pub twin: Option<String>,
    /// The calls, in order.
    pub steps: Vec<Step>,
}

impl Scenario {
    /// Whether the scenario counts on an axis: every benign scenario does, an injection scenario does when it has an injected call.
    pub fn is_scorable(&self) -> bool {
        self.kind == Kind::Benign || self.steps.iter().any(|s| s.injected)
    }
}

/// Anything that yields scenarios.
pub trait Source {
    /// The corpus's name.
    fn name(&self) -> &str;
    /// The scenarios, in corpus order.
    fn scenarios(&self) -> &[Scenario];
}
