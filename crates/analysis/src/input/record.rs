use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use wardline_email_corpus::{EvalRole, SenderAuth, Surface, ThreatType};

use super::lines::Lines;
use crate::AnalysisError;

/// What grading needs to know of one record of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The record's id.
    pub id: String,
    /// Its role: given, or derived from the threat type.
    pub role: EvalRole,
    /// The kind of threat.
    pub threat_type: ThreatType,
    /// Where in the message the text that matters stands, the chief place first.
    pub surfaces: Vec<Surface>,
    /// The source of the message.
    pub source: String,
    /// The manifest's own part; empty when it names none.
    pub split: String,
    /// The assigned result of the sender's authentication.
    pub auth: SenderAuth,
    /// The base payload, else the id.
    pub payload: String,
    /// The base scenario, else the base payload, else the id.
    pub scenario: String,
    /// The decade of the message, such as `2000s`, where the source states a date.
    pub era: Option<String>,
}

impl Record {
    /// Whether the record is one for the vision track: its text stands in a PDF.
    #[must_use]
    pub fn is_pdf(&self) -> bool {
        self.surfaces.contains(&Surface::PdfAttachment)
    }

    /// The name of the chief surface; `found mail` for mail without one.
    #[must_use]
    pub fn surface_name(&self) -> &'static str {
        self.surfaces.first().map_or("found mail", |s| s.as_str())
    }
}

/// The fields of a line that matter here; the others are skipped without being kept.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    label: LabelPart,
    #[serde(default)]
    surface: Vec<Surface>,
    #[serde(borrow)]
    provenance: ProvenancePart<'a>,
    #[serde(default)]
    source_metadata: Option<BTreeMap<String, Value>>,
    sender_auth_condition: SenderAuth,
    #[serde(borrow, default)]
    split: Option<Cow<'a, str>>,
    #[serde(default)]
    eval_role: Option<EvalRole>,
}

#[derive(Deserialize)]
struct LabelPart {
    threat_type: ThreatType,
}

#[derive(Deserialize)]
struct ProvenancePart<'a> {
    #[serde(borrow)]
    source: Cow<'a, str>,
    #[serde(borrow, default)]
    base_payload_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    base_scenario_id: Option<Cow<'a, str>>,
}

impl Line<'_> {
    fn record(self) -> Record {
        let id = self.id.into_owned();
        let given = |text: Option<Cow<'_, str>>| text.filter(|t| !t.is_empty()).map(Cow::into_owned);
        let payload = given(self.provenance.base_payload_id).unwrap_or_else(|| id.clone());
        let scenario = given(self.provenance.base_scenario_id).unwrap_or_else(|| payload.clone());
        Record {
            role: self.eval_role.unwrap_or_else(|| self.label.threat_type.role()),
            threat_type: self.label.threat_type,
            surfaces: self.surface,
            source: self.provenance.source.into_owned(),
            split: self.split.map_or(String::new(), Cow::into_owned),
            auth: self.sender_auth_condition,
            era: self.source_metadata.as_ref().and_then(decade),
            payload,
            scenario,
            id,
        }
    }
}

/// The decade of the first of `era`, `year` and `date` that names a year from 1970 to 2069.
fn decade(metadata: &BTreeMap<String, Value>) -> Option<String> {
    ["era", "year", "date"].into_iter().find_map(|key| match metadata.get(key)? {
        Value::String(text) if key == "era" => Some(text.clone()),
        value => {
            let text = value.to_string();
            let year = text
                .split(|c: char| !c.is_ascii_digit())
                .filter(|digits| digits.len() == 4)
                .find_map(|digits| digits.parse::<u16>().ok().filter(|y| (1970..2070).contains(y)))?;
            Some(format!("{}s", year / 10 * 10))
        }
    })
}

/// Streams the records of a manifest in constant memory.
pub(crate) struct Records(Lines);

impl Records {
    pub(crate) fn open(path: &Path, with_digest: bool) -> Result<Self, AnalysisError> {
        Ok(Self(Lines::open(path, with_digest)?))
    }

    /// The next record.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, AnalysisError> {
        if !self.0.advance()? {
            return Ok(None);
        }
        let record = match serde_json::from_slice::<Line<'_>>(self.0.bytes()) {
            Ok(line) => line.record(),
            Err(_) => return Err(self.explain()),
        };
        if record.id.is_empty() {
            return Err(self.0.wrong("field `id`: is empty"));
        }
        Ok(Some(record))
    }

    pub(crate) fn wrong(&self, message: impl Into<String>) -> AnalysisError {
        self.0.wrong(message)
    }

    pub(crate) fn digest(self) -> String {
        self.0.digest()
    }

    /// Parses the line again in a way that knows the field.
    fn explain(&self) -> AnalysisError {
        let mut json = serde_json::Deserializer::from_slice(self.0.bytes());
        match serde_path_to_error::deserialize::<_, Line<'_>>(&mut json) {
            Err(e) => {
                let field = e.path().to_string();
                self.0.not_json(&field, e.inner())
            }
            Ok(_) => match json.end() {
                Err(e) => self.0.not_json("", &e),
                Ok(()) => self.0.wrong("is no record"),
            },
        }
    }
}

/// A whole manifest: its records in order, and its digest.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Manifest {
    /// The records, with distinct ids.
    pub records: Vec<Record>,
    /// Lower-case hexadecimal SHA-256 of the file.
    pub sha256: String,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// The file cannot be read, a line is wrong, two records have one id, or there is none.
    pub fn read(path: &Path) -> Result<Self, AnalysisError> {
        Self::collect(Records::open(path, true)?, path)
    }

    /// Reads a manifest from memory; `name` stands for it in messages.
    ///
    /// # Errors
    /// As [`Manifest::read`].
    pub fn parse(text: Vec<u8>, name: &Path) -> Result<Self, AnalysisError> {
        Self::collect(Records(Lines::new(Box::new(std::io::Cursor::new(text)), name, true)), name)
    }

    fn collect(mut reader: Records, path: &Path) -> Result<Self, AnalysisError> {
        let mut records = Vec::new();
        let mut ids = std::collections::HashSet::new();
        while let Some(record) = reader.next()? {
            if !ids.insert(record.id.clone()) {
                return Err(reader.wrong(format!("id {:?} stands a second time", record.id)));
            }
            records.push(record);
        }
        if records.is_empty() {
            return Err(AnalysisError::input(path, "holds no record"));
        }
        Ok(Self { records, sha256: reader.digest() })
    }
}
