use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Where an argument's value comes from, as the agent's runtime labels it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The user said it.
    Trusted,
    /// It was read from a page, a message or another source that anybody can write to.
    UntrustedWeb,
    /// It was read from the tenant's own private data.
    TenantPrivate,
    /// Nobody recorded it.
    Unknown,
}

/// Where an argument's value was found when the corpus was made.
///
/// Diagnostic only: a defense that reads it has seen the answer sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In the user's prompt.
    Prompt,
    /// In the environment's data.
    Environment,
    /// In neither: the agent composed it.
    Neither,
}

/// A text and its SHA-256, computed once.
#[derive(Clone, PartialEq, Eq)]
pub struct Text {
    text: Box<str>,
    sha256: [u8; 32],
}

impl Text {
    /// Takes a text and hashes its UTF-8 bytes.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        let text = text.into();
        let sha256 = Sha256::digest(text.as_bytes()).into();
        Self { text, sha256 }
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// SHA-256 of the UTF-8 bytes.
    pub fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// One argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arg {
    /// The parameter's name.
    pub name: String,
    /// The runtime's label.
    pub provenance: Provenance,
    /// The value as text: a list's values are joined by one space.
    pub text: String,
    /// Where the value was found; diagnostic only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// A tool call that an agent is about to make: what a defense rules on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// The arguments, in the order of the call.
    pub args: Vec<Arg>,
    /// `None` when the tool is not an egress tool. `Some` is the destination that the egress policy names, several joined by
    /// a comma; it is empty when the call leaves the destination out.
    pub dest: Option<String>,
    /// The tool outputs that the agent read before this call, in order.
    pub context: Vec<Arc<Text>>,
    /// The user's prompt.
    pub task: Arc<str>,
    /// The calls made before this one, in order.
    pub history: Vec<Arc<Call>>,
}

impl Call {
    /// Whether the egress policy lists the tool.
    pub fn is_egress(&self) -> bool {
        self.dest.is_some()
    }

    /// Whether tool, destination and the arguments' names and texts are equal, whatever was read before and however arguments are
    /// labelled.
    pub fn same_action(&self, other: &Self) -> bool {
        let pairs = self.args.iter().zip(&other.args);
        self.tool == other.tool
            && self.dest == other.dest
            && self.args.len() == other.args.len()
            && pairs.into_iter().all(|(a, b)| a.name == b.name && a.text == b.text)
    }
}
