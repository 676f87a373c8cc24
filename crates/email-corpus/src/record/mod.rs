//! One e-mail of the benchmark and what is known of it.

mod label;
mod message;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use label::{Difficulty, EvalRole, Label, Provenance, SenderAuth, Surface, ThreatType};
pub use message::{Addresses, Body, DetectorInput};

/// One line of a manifest.
///
/// Serialises with its fields in the order below; fields that are not known here are kept in `extra` and written last, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EmailRecord {
    /// Unique in the manifest. Not empty.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub id: String,
    /// The raw message, relative to the base folder, with `/` between the parts. Absent: the record is scored from
    /// [`EmailRecord::detector_input`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eml_path: Option<String>,
    /// What the message is.
    pub label: Label,
    /// Where in the message the text that matters stands, the chief place first. Empty for mail as it was found.
    #[serde(default)]
    pub surface: Vec<Surface>,
    /// The message's fields as a service that takes no raw mail would be given them.
    #[serde(default)]
    pub detector_input: DetectorInput,
    /// Where the message comes from.
    pub provenance: Provenance,
    /// Facts that the source states of the message, as the source names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_metadata: Option<BTreeMap<String, Value>>,
    /// The result of the sender's authentication: a feature that is assigned, never a label and never read from the message.
    pub sender_auth_condition: SenderAuth,
    /// The part of the benchmark the record belongs to, such as `synthetic` or `found`. Not the dev/test split, which the analysis
    /// makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Remarks for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// The role in grading. Absent: derived from the threat type, see [`EmailRecord::role`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval_role: Option<EvalRole>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

impl EmailRecord {
    /// The role in grading: `eval_role`, else the one that follows from the threat type.
    #[must_use]
    pub fn role(&self) -> EvalRole {
        self.eval_role.unwrap_or_else(|| self.label.threat_type.role())
    }

    /// The group whose records must not be parted by a split: the base payload, else the record itself.
    #[must_use]
    pub fn group(&self) -> &str {
        self.provenance.base_payload_id.as_deref().unwrap_or(&self.id)
    }

    /// The record as one line of JSON, without the line break.
    ///
    /// # Errors
    /// None is known for a record that came from JSON; `serde_json` states the rest.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// The JSON Schema (draft 2020-12) of a manifest's line.
#[cfg(feature = "schema")]
#[must_use]
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(EmailRecord).to_value();
    // The generator keeps a comment's line breaks; a description is one paragraph.
    join_lines(&mut schema);
    schema
}

#[cfg(feature = "schema")]
fn join_lines(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "description" => *text = text.replace('\n', " "),
                    other => join_lines(other),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(join_lines),
        _ => {}
    }
}
