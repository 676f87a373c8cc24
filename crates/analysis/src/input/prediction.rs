use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::lines::Lines;
use crate::{AnalysisError, Fault};

/// A score in 0..=1, or why there is none.
pub type Reading = Result<f64, Fault>;

/// How a detector's rows give scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Layout {
    /// One `score` a row, read for every task.
    Score,
    /// `pi_score` and `phi_score` beside or in place of `score`.
    TaskScores,
    /// Only `flagged`: 1 when it is set, else 0. Ranks and thresholds mean little then. In a file that has a score in any row, a row
    /// with a flag alone is one without a score.
    FlagOnly,
}

/// One row of a predictions file, in any of the published layouts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The record.
    pub id: String,
    /// The score for prompt injection.
    pub pi: Reading,
    /// The score for phishing.
    pub phishing: Reading,
    /// The score for either: `score`, else the larger of the two.
    pub any: Reading,
    /// How the row gives its scores; of a row with an error, as far as it can be told.
    pub layout: Layout,
    /// Whether the row is one of a judge: scores for both tasks and no `score`.
    pub judge: bool,
    /// The detector's latency in milliseconds.
    pub latency_ms: Option<f64>,
    /// Requests, tokens sent and tokens answered.
    pub usage: [u64; 3],
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    detector: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    score: Number,
    #[serde(default)]
    pi_score: Number,
    #[serde(default)]
    phi_score: Number,
    #[serde(default)]
    flagged: Option<bool>,
    #[serde(default)]
    error: Presence,
    #[serde(borrow, default)]
    error_class: Option<Cow<'a, str>>,
    #[serde(default)]
    latency_ms: Number,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Usage {
    requests: u64,
    input_tokens: u64,
    output_tokens: u64,
}

/// A field that should be a number.
#[derive(Clone, Copy, Default, PartialEq)]
enum Number {
    #[default]
    Missing,
    Null,
    Text,
    Value(f64),
}

impl Number {
    fn reading(self) -> Reading {
        match self {
            Self::Missing | Self::Null => Err(Fault::Null),
            Self::Text => Err(Fault::Text),
            Self::Value(v) if v.is_nan() => Err(Fault::Nan),
            Self::Value(v) if v.is_infinite() => Err(Fault::Infinite),
            // No negative zero, which would be another score than zero.
            Self::Value(v) if (0.0..=1.0).contains(&v) => Ok(v + 0.0),
            Self::Value(_) => Err(Fault::OutOfRange),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<Number, E> {
        Ok(Number::Value(v))
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<Number, E> {
        Ok(Number::Value(v as f64))
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<Number, E> {
        Ok(Number::Value(v as f64))
    }

    fn visit_unit<E: Error>(self) -> Result<Number, E> {
        Ok(Number::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Number, E> {
        Ok(Number::Text)
    }

    /// The words that other languages write for what JSON has no number for; any other text is no number, not even `"0.5"`.
    fn visit_str<E: Error>(self, v: &str) -> Result<Number, E> {
        Ok(match v {
            "NaN" => Number::Value(f64::NAN),
            "Infinity" => Number::Value(f64::INFINITY),
            "-Infinity" => Number::Value(f64::NEG_INFINITY),
            _ => Number::Text,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Number, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Number::Text)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Number::Text)
    }
}

/// Whether a field says something: not null, not false, not an empty text.
#[derive(Default)]
struct Presence {
    present: bool,
    timed_out: bool,
}

impl<'de> Deserialize<'de> for Presence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let text = match &value {
            serde_json::Value::Null | serde_json::Value::Bool(false) => return Ok(Self::default()),
            serde_json::Value::String(text) if text.is_empty() => return Ok(Self::default()),
            serde_json::Value::String(text) => text.to_lowercase(),
            other => other.to_string().to_lowercase(),
        };
        let timed_out = ["timeout", "timed out", "time-out", "deadline exceeded"].iter().any(|w| text.contains(w));
        Ok(Self { present: true, timed_out })
    }
}

impl Line<'_> {
    fn row(self) -> Row {
        let task_scores = self.pi_score != Number::Missing || self.phi_score != Number::Missing;
        let layout = match (task_scores, self.score, self.flagged) {
            (true, ..) => Layout::TaskScores,
            (false, Number::Missing, Some(_)) => Layout::FlagOnly,
            _ => Layout::Score,
        };
        let fault = if self.error.present || self.error_class.is_some() {
            let timed_out = self.error.timed_out || self.error_class.as_deref() == Some("timeout");
            Some(if timed_out { Fault::Timeout } else { Fault::Error })
        } else {
            None
        };
        let task = |number: Number| match (fault, layout) {
            (Some(fault), _) => Err(fault),
            (None, Layout::FlagOnly) => Ok(f64::from(u8::from(self.flagged == Some(true)))),
            (None, Layout::TaskScores) if number != Number::Missing => number.reading(),
            _ => self.score.reading(),
        };
        let (pi, phishing) = (task(self.pi_score), task(self.phi_score));
        let any = match (fault, layout, self.score) {
            (None, Layout::TaskScores, Number::Missing) => pi.and_then(|a| phishing.map(|b| a.max(b))),
            _ => task(Number::Missing),
        };
        let latency_ms = match self.latency_ms {
            Number::Value(v) if v.is_finite() && v >= 0.0 && fault.is_none() => Some(v),
            _ => None,
        };
        let usage = self.usage.unwrap_or_default();
        Row {
            id: self.id.into_owned(),
            pi,
            phishing,
            any,
            layout,
            judge: task_scores && self.score == Number::Missing,
            latency_ms,
            usage: [usage.requests, usage.input_tokens, usage.output_tokens],
        }
    }
}

/// Streams the rows of a predictions file in constant memory.
///
/// Rows of the published layouts are read: with `score`; with `pi_score` and `phi_score` (a judge); with `flagged` alone. A score
/// that is missing or bad is a [`Fault`] of the row, never 0 and never an error of the file; `NaN` and `Infinity` without quotes,
/// which JSON does not have but other languages write, are read as such.
pub struct Predictions {
    lines: Lines,
    stem: String,
    name: Option<String>,
    repaired: Vec<u8>,
}

impl Predictions {
    /// Opens a predictions file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, AnalysisError> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { lines: Lines::open(path, true)?, stem, name: None, repaired: Vec::new() })
    }

    /// The detector: `detector`, else `model`, of the first row read; the file's name without extension when rows have neither.
    #[must_use]
    pub fn detector(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.stem)
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// A line is no JSON object with an id, or names another detector than the rows before it.
    pub fn next_row(&mut self) -> Result<Option<Row>, AnalysisError> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        let line: Line<'_> = match serde_json::from_slice(self.lines.bytes()) {
            Ok(line) => line,
            Err(first) => {
                self.repaired.clear();
                quote_words(self.lines.bytes(), &mut self.repaired);
                serde_json::from_slice(&self.repaired).map_err(|_| self.lines.not_json("", &first))?
            }
        };
        let name = line.detector.as_deref().or(line.model.as_deref()).unwrap_or(&self.stem);
        match &self.name {
            None => self.name = Some(name.to_owned()),
            Some(known) if known != name => {
                let message = format!("is of detector {name:?}, the rows before it of {known:?}: two runs are mixed");
                return Err(self.lines.wrong(message));
            }
            Some(_) => {}
        }
        Ok(Some(line.row()))
    }

    pub(crate) fn wrong(&self, message: impl Into<String>) -> AnalysisError {
        self.lines.wrong(message)
    }

    pub(crate) fn digest(self) -> String {
        self.lines.digest()
    }
}

/// Puts `NaN`, `Infinity` and `-Infinity` outside strings into quotes.
fn quote_words(line: &[u8], out: &mut Vec<u8>) {
    let (mut rest, mut in_string) = (line, false);
    while let Some(&byte) = rest.first() {
        let word = if in_string { None } else { WORDS.into_iter().find(|w| rest.starts_with(w)) };
        let taken = match word {
            Some(word) => {
                out.push(b'"');
                out.extend_from_slice(word);
                out.push(b'"');
                word.len()
            }
            None => {
                let taken = if in_string && byte == b'\\' { rest.len().min(2) } else { 1 };
                out.extend_from_slice(&rest[..taken]);
                in_string ^= byte == b'"';
                taken
            }
        };
        rest = &rest[taken..];
    }
}

const WORDS: [&[u8]; 3] = [b"NaN", b"-Infinity", b"Infinity"];
