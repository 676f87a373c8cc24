use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The fields of a message, decoded, as a service that takes no raw mail would be given them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetectorInput {
    /// The author, as `Name <address>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The recipients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Addresses>,
    /// The recipients of copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<Addresses>,
    /// Where answers go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The body of a record without a raw message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// One address line, or a list of addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Addresses {
    /// One line, as a header has it.
    Line(String),
    /// One entry an address.
    List(Vec<String>),
}

/// A decoded body.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Body {
    /// The plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}
