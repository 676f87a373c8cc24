//! The lines of a corpus file.

use std::borrow::Cow;

use serde::Deserialize;
use wardline_defense::{Arg, Kind};

/// The `format` of the first line.
pub(crate) const FORMAT: &str = "wardline-scenarios";
/// The `version` of the first line that this library reads.
pub(crate) const VERSION: u32 = 1;

/// What every first line says, whatever the format.
#[derive(Deserialize)]
pub(crate) struct Preamble {
    pub(crate) format: String,
    pub(crate) version: u32,
}

#[derive(Deserialize)]
pub(crate) struct Header {
    pub(crate) corpus: String,
    #[serde(default)]
    pub(crate) attacks: Vec<String>,
    #[serde(default)]
    pub(crate) transform: Option<String>,
    pub(crate) texts: usize,
    pub(crate) scenarios: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextLine<'a> {
    #[serde(borrow)]
    pub(crate) text: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioLine<'a> {
    pub(crate) id: String,
    pub(crate) suite: String,
    pub(crate) kind: Kind,
    #[serde(default)]
    pub(crate) user_task: Option<String>,
    #[serde(default)]
    pub(crate) injection_task: Option<String>,
    #[serde(default)]
    pub(crate) attack: Option<String>,
    #[serde(default)]
    pub(crate) twin: Option<String>,
    /// For the reader of the file; nothing is scored by it.
    #[serde(default, borrow, rename = "goal")]
    pub(crate) _goal: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) prompt: Cow<'a, str>,
    pub(crate) calls: Vec<CallLine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallLine {
    pub(crate) tool: String,
    pub(crate) args: Vec<Arg>,
    #[serde(default)]
    pub(crate) dest: Option<String>,
    #[serde(default)]
    pub(crate) injected: bool,
    #[serde(default)]
    pub(crate) output: Option<usize>,
    #[serde(default)]
    pub(crate) carrying: bool,
}
