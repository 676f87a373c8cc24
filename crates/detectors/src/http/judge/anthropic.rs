use serde_json::{Value, json};

use super::{Answer, JudgeOptions, Provider, Question, count};
use crate::http::Secret;
use crate::http::client::join;
use crate::http::service::lacks;
use crate::policy::Usage;
use crate::{ErrorClass, Failure};

/// Anthropic's messages. Thinking is off unless asked for, so that nothing is said of it.
#[derive(Debug, Clone)]
pub struct Anthropic {
    base: String,
    key: Secret,
}

impl Anthropic {
    /// The service's own address.
    pub const BASE: &'static str = "https://api.anthropic.com";

    /// `base` is [`Anthropic::BASE`] or another address that speaks the same.
    #[must_use]
    pub fn new(base: impl Into<String>, key: Secret) -> Self {
        Self { base: base.into(), key }
    }
}

impl Provider for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn url(&self, _: &JudgeOptions) -> String {
        join(&self.base, "/v1/messages")
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        vec![("x-api-key", self.key.reveal().to_owned()), ("anthropic-version", "2023-06-01".to_owned())]
    }

    fn secrets(&self) -> Vec<Secret> {
        vec![self.key.clone()]
    }

    fn body(&self, options: &JudgeOptions, question: &Question<'_>) -> Value {
        let mut content = vec![json!({"type": "text", "text": question.mail})];
        content.extend(question.images.iter().map(|i| {
            let data = crate::base64(&i.bytes);
            json!({"type": "image", "source": {"type": "base64", "media_type": i.media_type, "data": data}})
        }));
        json!({
            "model": options.model,
            "max_tokens": options.max_answer_tokens,
            "temperature": options.temperature,
            "system": question.prompt,
            "messages": [{"role": "user", "content": content}],
        })
    }

    fn read(&self, reply: &Value) -> Answer {
        let usage = Usage::new(1, count(reply, "/usage/input_tokens"), count(reply, "/usage/output_tokens"));
        let text = || {
            match reply.get("stop_reason").and_then(Value::as_str) {
                Some("max_tokens") => return Err(Failure::new(ErrorClass::Truncated, "the answer was cut off")),
                Some("refusal") => return Err(Failure::new(ErrorClass::Refused, "the model refused")),
                _ => {}
            }
            let content = reply.get("content").and_then(Value::as_array).ok_or_else(|| lacks("content"))?;
            let said = content.iter().filter(|p| p.get("type").and_then(Value::as_str) == Some("text"));
            Ok(said.filter_map(|p| p.get("text")?.as_str()).collect())
        };
        Answer { text: text(), usage }
    }
}
