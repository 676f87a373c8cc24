use serde_json::{Map, Value, json};

use super::client::{Secret, join};
use super::service::{Service, ServiceRequest, lacks};
use crate::{Bands, Failure, Task, Verdict};

/// ScamGuard: `POST /v1/inbound/scan`, its verdict, score and signals, in its own bands: review from .40, block from .75.
#[derive(Debug, Clone)]
pub struct ScamGuard {
    base: String,
    key: Option<Secret>,
}

impl ScamGuard {
    /// The service at an address; the key, if it wants one, goes as a bearer token.
    #[must_use]
    pub fn new(base: impl Into<String>, key: Option<Secret>) -> Self {
        Self { base: base.into(), key }
    }
}

impl Service for ScamGuard {
    fn name(&self) -> &'static str {
        "scamguard"
    }

    fn task(&self) -> Task {
        Task::Both
    }

    fn max_characters(&self) -> usize {
        100_000
    }

    fn parameters(&self) -> Map<String, Value> {
        Map::new()
    }

    fn request(&self, text: &str) -> Result<ServiceRequest, Failure> {
        let body = json!({"raw_email": text, "content_type": "text/plain"});
        let headers = self.key.iter().map(|k| ("authorization", format!("Bearer {}", k.reveal()))).collect();
        Ok(ServiceRequest::new(
            join(&self.base, "/v1/inbound/scan"),
            headers,
            &body,
            self.key.clone().into_iter().collect(),
        ))
    }

    fn read(&self, reply: &Value) -> Result<Verdict, Failure> {
        let score = reply.get("score").and_then(Value::as_f64).ok_or_else(|| lacks("score"))?;
        let mut verdict = Verdict::in_bands(score, Bands { review: 0.40, block: 0.75 })?;
        let named = |s: &Value| {
            let name = s.as_str().or_else(|| ["id", "name", "type"].iter().find_map(|k| s.get(k)?.as_str()));
            name.map(str::to_owned)
        };
        let signals = reply.get("signals").and_then(Value::as_array);
        let says = reply.get("verdict").and_then(Value::as_str).map(str::to_owned);
        verdict.categories = says.into_iter().chain(signals.into_iter().flatten().filter_map(named)).collect();
        Ok(verdict)
    }
}
