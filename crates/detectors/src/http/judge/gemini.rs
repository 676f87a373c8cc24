use serde_json::{Value, json};

use super::{Answer, JudgeOptions, Provider, Question, count};
use crate::http::Secret;
use crate::http::client::join;
use crate::http::service::lacks;
use crate::policy::Usage;
use crate::{ErrorClass, Failure};

/// Google's `generateContent`.
#[derive(Debug, Clone)]
pub struct Gemini {
    base: String,
    key: Secret,
}

impl Gemini {
    /// The service's own address.
    pub const BASE: &'static str = "https://generativelanguage.googleapis.com";

    /// `base` is [`Gemini::BASE`] or another address that speaks the same.
    #[must_use]
    pub fn new(base: impl Into<String>, key: Secret) -> Self {
        Self { base: base.into(), key }
    }
}

impl Provider for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn url(&self, options: &JudgeOptions) -> String {
        join(&self.base, &format!("/v1beta/models/{}:generateContent", options.model))
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        vec![("x-goog-api-key", self.key.reveal().to_owned())]
    }

    fn secrets(&self) -> Vec<Secret> {
        vec![self.key.clone()]
    }

    fn body(&self, options: &JudgeOptions, question: &Question<'_>) -> Value {
        let mut parts = vec![json!({"text": question.mail})];
        parts.extend(
            question
                .images
                .iter()
                .map(|i| json!({"inlineData": {"mimeType": i.media_type, "data": crate::base64(&i.bytes)}})),
        );
        json!({
            "systemInstruction": {"parts": [{"text": question.prompt}]},
            "contents": [{"role": "user", "parts": parts}],
            "generationConfig": {
                "temperature": options.temperature,
                "maxOutputTokens": options.max_answer_tokens,
                "responseMimeType": "application/json",
                "thinkingConfig": {"thinkingBudget": 0},
            },
        })
    }

    fn read(&self, reply: &Value) -> Answer {
        let answered =
            count(reply, "/usageMetadata/candidatesTokenCount") + count(reply, "/usageMetadata/thoughtsTokenCount");
        let usage = Usage::new(1, count(reply, "/usageMetadata/promptTokenCount"), answered);
        let text = || {
            if let Some(reason) = reply.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
                return Err(Failure::new(ErrorClass::Refused, format!("the message was blocked ({reason})")));
            }
            let candidate = reply.pointer("/candidates/0").ok_or_else(|| lacks("candidates"))?;
            match candidate.get("finishReason").and_then(Value::as_str) {
                None | Some("STOP") => {}
                Some("MAX_TOKENS") => return Err(Failure::new(ErrorClass::Truncated, "the answer was cut off")),
                Some(other) => return Err(Failure::new(ErrorClass::Refused, format!("no answer ({other})"))),
            }
            let parts = candidate.pointer("/content/parts").and_then(Value::as_array).ok_or_else(|| lacks("parts"))?;
            let said = parts.iter().filter(|p| p.get("thought").and_then(Value::as_bool) != Some(true));
            Ok(said.filter_map(|p| p.get("text")?.as_str()).collect())
        };
        Answer { text: text(), usage }
    }
}
