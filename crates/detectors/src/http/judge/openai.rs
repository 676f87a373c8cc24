use serde_json::{Value, json};

use super::{Answer, JudgeOptions, Provider, Question, count};
use crate::http::Secret;
use crate::http::client::join;
use crate::http::service::lacks;
use crate::policy::Usage;
use crate::{ErrorClass, Failure};

/// Chat completions as OpenAI defines them: OpenAI itself, Ollama, vLLM, llama.cpp and many others.
#[derive(Debug, Clone)]
pub struct OpenAi {
    base: String,
    key: Option<Secret>,
    own: bool,
}

impl OpenAi {
    /// OpenAI's own address.
    pub const BASE: &'static str = "https://api.openai.com/v1";

    /// OpenAI itself.
    #[must_use]
    pub fn new(key: Secret) -> Self {
        Self { base: Self::BASE.into(), key: Some(key), own: true }
    }

    /// Another server that speaks the same, such as `http://localhost:11434/v1`; local ones want no key.
    #[must_use]
    pub fn compatible(base: impl Into<String>, key: Option<Secret>) -> Self {
        Self { base: base.into(), key, own: false }
    }
}

impl Provider for OpenAi {
    fn name(&self) -> &'static str {
        if self.own { "openai" } else { "openai-compatible" }
    }

    fn url(&self, _: &JudgeOptions) -> String {
        join(&self.base, "/chat/completions")
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        self.key.iter().map(|k| ("authorization", format!("Bearer {}", k.reveal()))).collect()
    }

    fn secrets(&self) -> Vec<Secret> {
        self.key.clone().into_iter().collect()
    }

    fn body(&self, options: &JudgeOptions, question: &Question<'_>) -> Value {
        let user = if question.images.is_empty() {
            json!(question.mail)
        } else {
            let mut parts = vec![json!({"type": "text", "text": question.mail})];
            parts.extend(question.images.iter().map(|image| {
                let url = format!("data:{};base64,{}", image.media_type, crate::base64(&image.bytes));
                json!({"type": "image_url", "image_url": {"url": url}})
            }));
            Value::Array(parts)
        };
        let mut body = json!({
            "model": options.model,
            "messages": [{"role": "system", "content": question.prompt}, {"role": "user", "content": user}],
            "response_format": {"type": "json_object"},
        });
        // Models that reason refuse a temperature and the old name of the limit.
        let reasons = ["gpt-5", "o1", "o3", "o4"].iter().any(|family| options.model.starts_with(family));
        if self.own && reasons {
            body["max_completion_tokens"] = json!(options.max_answer_tokens.max(1000));
            body["reasoning_effort"] = json!(if options.model.starts_with('o') { "low" } else { "minimal" });
        } else {
            body["temperature"] = json!(options.temperature);
            body["max_tokens"] = json!(options.max_answer_tokens);
        }
        if !self.own {
            // vLLM and llama.cpp read the one, Ollama the other.
            body["chat_template_kwargs"] = json!({"enable_thinking": false});
            body["reasoning_effort"] = json!("none");
        }
        body
    }

    fn read(&self, reply: &Value) -> Answer {
        let usage = Usage::new(1, count(reply, "/usage/prompt_tokens"), count(reply, "/usage/completion_tokens"));
        let text = || {
            let choice = reply.pointer("/choices/0").ok_or_else(|| lacks("choices"))?;
            if choice.pointer("/message/refusal").is_some_and(|r| !r.is_null()) {
                return Err(Failure::new(ErrorClass::Refused, "the model refused"));
            }
            match choice.get("finish_reason").and_then(Value::as_str) {
                Some("length") => return Err(Failure::new(ErrorClass::Truncated, "the answer was cut off")),
                Some("content_filter") => return Err(Failure::new(ErrorClass::Refused, "the answer was filtered")),
                _ => {}
            }
            let text = choice.pointer("/message/content").and_then(Value::as_str);
            text.map(str::to_owned).ok_or_else(|| lacks("message content"))
        };
        Answer { text: text(), usage }
    }
}
