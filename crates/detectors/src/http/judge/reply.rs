use serde::Deserialize;

use crate::prediction::checked;
use crate::protocol::start;
use crate::{ErrorClass, Failure};

/// What a model is asked to answer, and the other usual way of saying it.
#[derive(Deserialize)]
struct Reply {
    probability: Option<f64>,
    #[serde(alias = "injection", alias = "phishing", alias = "is_malicious")]
    flagged: Option<bool>,
    confidence: Option<f64>,
}

/// The probability that the answer is yes. A flag with a confidence becomes one: a confident no is a low score.
pub(super) fn probability(text: &str) -> Result<f64, Failure> {
    let wrong = |what: &str| Failure::new(ErrorClass::Reply, format!("the model's answer {what}: {:?}", start(text)));
    let reply: Reply = serde_json::from_str(text.trim()).map_err(|e| {
        wrong(match e.classify() {
            _ if text.trim().is_empty() => "is empty",
            _ if text.trim().starts_with("```") => "is fenced",
            serde_json::error::Category::Eof => "is cut off",
            serde_json::error::Category::Data => "is not the object that was asked for",
            _ => "is no JSON object",
        })
    })?;
    let score = match (reply.probability, reply.flagged, reply.confidence) {
        (Some(probability), ..) => probability,
        (None, Some(true), Some(confidence)) => confidence,
        (None, Some(false), Some(confidence)) => 1.0 - confidence,
        _ => return Err(wrong("has no probability")),
    };
    checked(score).map_err(|_| wrong("has a probability outside 0..1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores() {
        for (text, expected) in [
            (r#"{"probability": 0.93}"#, 0.93),
            (" {\"probability\":0, \"reason\":\"none\"}\n", 0.0),
            (r#"{"flagged": true, "confidence": 0.9}"#, 0.9),
            (r#"{"injection": false, "confidence": 0.75}"#, 0.25),
            (r#"{"flagged": true, "confidence": 0.9, "probability": 0.2}"#, 0.2),
        ] {
            assert_eq!(probability(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn everything_else_is_an_error_with_the_start_of_the_answer() {
        for (text, expected) in [
            ("", "is empty"),
            ("```json\n{\"probability\":0.9}\n```", "is fenced"),
            ("{\"probability\": 0.", "is cut off"),
            ("I cannot help with that.", "is no JSON object"),
            ("{\"probability\": 0.9} Hope this helps", "is no JSON object"),
            ("{\"probability\": \"high\"}", "is not the object that was asked for"),
            ("[0.9]", "is not the object that was asked for"),
            ("{\"probability\": 1.2}", "outside 0..1"),
            ("{\"probability\": -1}", "outside 0..1"),
            ("{\"flagged\": true}", "has no probability"),
            ("{\"confidence\": 0.9}", "has no probability"),
            ("{}", "has no probability"),
            ("{\"probability\": NaN}", "is no JSON object"),
        ] {
            let failure = probability(text).unwrap_err();
            assert!(failure.message.contains(expected), "{text}: {failure}");
        }
        let long = "x".repeat(10_000);
        assert!(probability(&long).unwrap_err().message.len() < 300);
    }
}
