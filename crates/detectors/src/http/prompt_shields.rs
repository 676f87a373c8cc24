use serde_json::{Map, Value, json};

use super::client::{Secret, join};
use super::service::{Service, ServiceRequest, lacks};
use crate::{Failure, Task, Verdict};

/// Azure AI Content Safety, Prompt Shields: the mail goes as a document, whose `attackDetected` is the verdict: 1 or 0.
#[derive(Debug, Clone)]
pub struct PromptShields {
    endpoint: String,
    key: Secret,
}

impl PromptShields {
    const VERSION: &'static str = "2024-09-01";

    /// `endpoint` is the resource's own address, such as `https://name.cognitiveservices.azure.com`.
    #[must_use]
    pub fn new(endpoint: impl Into<String>, key: Secret) -> Self {
        Self { endpoint: endpoint.into(), key }
    }
}

impl Service for PromptShields {
    fn name(&self) -> &'static str {
        "prompt-shields"
    }

    fn task(&self) -> Task {
        Task::Injection
    }

    fn parameters(&self) -> Map<String, Value> {
        Map::from_iter([("api_version".to_owned(), json!(Self::VERSION))])
    }

    fn request(&self, text: &str) -> Result<ServiceRequest, Failure> {
        let path = format!("/contentsafety/text:shieldPrompt?api-version={}", Self::VERSION);
        let headers = vec![("ocp-apim-subscription-key", self.key.reveal().to_owned())];
        let body = json!({"userPrompt": "Summarize this e-mail.", "documents": [text]});
        Ok(ServiceRequest::new(join(&self.endpoint, &path), headers, &body, vec![self.key.clone()]))
    }

    fn read(&self, reply: &Value) -> Result<Verdict, Failure> {
        let documents = reply.get("documentsAnalysis").and_then(Value::as_array);
        let [document] = documents.map_or(&[][..], Vec::as_slice) else {
            return Err(lacks("documentsAnalysis of one document"));
        };
        let attack = document.get("attackDetected").and_then(Value::as_bool).ok_or_else(|| lacks("attackDetected"))?;
        let mut verdict = Verdict::from_score(f64::from(u8::from(attack)))?;
        if attack {
            verdict.categories.push("document_attack".into());
        }
        Ok(verdict)
    }
}
