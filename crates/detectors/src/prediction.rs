use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{ErrorClass, Failure, Usage};

/// What a gateway does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Deliver.
    Allow,
    /// Let a person look.
    Review,
    /// Do not deliver.
    Block,
}

/// The scores at which an action begins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bands {
    /// Review from this score on.
    pub review: f64,
    /// Block from this score on.
    pub block: f64,
}

impl Default for Bands {
    fn default() -> Self {
        Self { review: 0.35, block: 0.75 }
    }
}

impl Bands {
    /// The action for a score.
    ///
    /// ```
    /// use wardline_detectors::{Action, Bands};
    /// let bands = Bands::default();
    /// assert_eq!([0.3499, 0.35, 0.75].map(|s| bands.action(s)), [Action::Allow, Action::Review, Action::Block]);
    /// ```
    #[must_use]
    pub fn action(&self, score: f64) -> Action {
        if score >= self.block {
            Action::Block
        } else if score >= self.review {
            Action::Review
        } else {
            Action::Allow
        }
    }
}

/// A place in a message that made a detector say what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The rule's id.
    pub rule: String,
    /// The segment's kind and reference, such as `html_hidden 1.2`; `headers` or `links` for what lies outside segments.
    pub place: String,
    /// The byte offset in the segment's content; 0 outside segments.
    pub offset: usize,
    /// What the rule adds, in log-odds.
    pub weight: f64,
    /// What stands there, at most 80 characters.
    pub text: String,
}

/// What a detector says of one record.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether the detector calls the record malicious.
    pub flagged: bool,
    /// How malicious, 0 to 1. For a detector of both tasks the larger of the two.
    pub score: f64,
    /// What the detector would do; a service's own word where it has one.
    pub action: Action,
    /// The kinds of threat that were found, in the detector's own words.
    pub categories: Vec<String>,
    /// The score for prompt injection alone, from a detector that tells the tasks apart.
    pub pi_score: Option<f64>,
    /// The score for phishing alone, from a detector that tells the tasks apart.
    pub phi_score: Option<f64>,
    /// What made it say so.
    pub hits: Vec<Hit>,
    /// How long the answer took, when the detector knows better than its caller.
    pub latency: Option<Duration>,
    /// What the answer cost.
    pub usage: Usage,
    /// A remark on this record, such as that its text was cut.
    pub note: Option<String>,
}

impl Verdict {
    /// A verdict from a score in the default bands; flagged from the review band on.
    ///
    /// # Errors
    /// A score that is no number in 0..1 is a wrong reply: never 0, never clamped.
    pub fn from_score(score: f64) -> Result<Self, Failure> {
        Self::in_bands(score, Bands::default())
    }

    /// A verdict from a score in a service's own bands.
    ///
    /// # Errors
    /// As [`Verdict::from_score`].
    pub fn in_bands(score: f64, bands: Bands) -> Result<Self, Failure> {
        let score = checked(score)?;
        let action = bands.action(score);
        Ok(Self {
            flagged: action != Action::Allow,
            score,
            action,
            categories: Vec::new(),
            pi_score: None,
            phi_score: None,
            hits: Vec::new(),
            latency: None,
            usage: Usage::default(),
            note: None,
        })
    }

    /// A verdict of a detector that scores the two tasks apart.
    ///
    /// # Errors
    /// As [`Verdict::from_score`].
    pub fn from_scores(pi: f64, phi: f64) -> Result<Self, Failure> {
        let mut verdict = Self::from_score(checked(pi)?.max(checked(phi)?))?;
        (verdict.pi_score, verdict.phi_score) = (Some(pi), Some(phi));
        Ok(verdict)
    }
}

/// The score, when it is a number in 0..1.
pub(crate) fn checked(score: f64) -> Result<f64, Failure> {
    if (0.0..=1.0).contains(&score) {
        // No negative zero in the output.
        return Ok(score + 0.0);
    }
    Err(Failure::new(ErrorClass::Reply, format!("score {score} is no number in 0..1")))
}

/// One line of a predictions file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prediction {
    /// The record.
    pub id: String,
    /// The detector's name.
    pub detector: String,
    /// Whether the detector calls the record malicious; null with an error.
    #[serde(default)]
    pub flagged: Option<bool>,
    /// How malicious, 0 to 1; null with an error.
    #[serde(default)]
    pub score: Option<f64>,
    /// What the detector would do; null with an error.
    #[serde(default)]
    pub action: Option<Action>,
    /// The kinds of threat that were found.
    #[serde(default)]
    pub categories: Vec<String>,
    /// How long the answer took, in milliseconds.
    #[serde(default)]
    pub latency_ms: f64,
    /// The score for prompt injection alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi_score: Option<f64>,
    /// The score for phishing alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phi_score: Option<f64>,
    /// What made the detector say so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<Hit>,
    /// What the answer cost.
    #[serde(default, skip_serializing_if = "Usage::is_zero")]
    pub usage: Usage,
    /// A remark on this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why there is no score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The kind of error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<ErrorClass>,
}

impl Prediction {
    /// The prediction of a detector for a record. `latency` stands in where the verdict has none of its own.
    #[must_use]
    pub fn new(id: &str, detector: &str, verdict: Result<Verdict, Failure>, latency: Duration) -> Self {
        let mut prediction = Self {
            id: id.to_owned(),
            detector: detector.to_owned(),
            flagged: None,
            score: None,
            action: None,
            categories: Vec::new(),
            latency_ms: milliseconds(latency),
            pi_score: None,
            phi_score: None,
            hits: Vec::new(),
            usage: Usage::default(),
            note: None,
            error: None,
            error_class: None,
        };
        match verdict {
            Ok(v) => {
                prediction.flagged = Some(v.flagged);
                prediction.score = Some(v.score);
                prediction.action = Some(v.action);
                prediction.categories = v.categories;
                prediction.latency_ms = milliseconds(v.latency.unwrap_or(latency));
                (prediction.pi_score, prediction.phi_score) = (v.pi_score, v.phi_score);
                prediction.hits = v.hits;
                prediction.usage = v.usage;
                prediction.note = v.note;
            }
            Err(failure) => {
                prediction.error = Some(failure.message);
                prediction.error_class = Some(failure.class);
                prediction.usage = failure.usage;
            }
        }
        prediction
    }

    /// Whether there is a score in 0..1 and no error.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.error.is_none() && self.score.is_some_and(|s| (0.0..=1.0).contains(&s))
    }
}

/// Microsecond steps, so that a line stays short.
fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_score_is_an_error() {
        for wrong in [f64::NAN, f64::INFINITY, -0.01, 1.01] {
            assert_eq!(Verdict::from_score(wrong).unwrap_err().class, ErrorClass::Reply);
            assert!(Verdict::from_scores(0.5, wrong).is_err());
        }
        assert!(Verdict::from_score(-0.0).unwrap().score.is_sign_positive());
    }

    #[test]
    fn lines() {
        let good = Prediction::new("a", "d", Verdict::from_score(0.5), Duration::from_micros(1234));
        let line = serde_json::to_string(&good).unwrap();
        let text = r#"{"id":"a","detector":"d","flagged":true,"score":0.5,"action":"review","categories":[],"latency_ms":1.234}"#;
        assert_eq!(line, text);
        assert_eq!(serde_json::from_str::<Prediction>(&line).unwrap(), good);
        let bad = Prediction::new("a", "d", Err(Failure::new(ErrorClass::RateLimited, "429")), Duration::ZERO);
        assert!(!bad.is_good());
        let line = serde_json::to_string(&bad).unwrap();
        assert!(line.contains(r#""score":null"#) && line.contains(r#""error":"429","error_class":"rate_limited""#));
    }
}
