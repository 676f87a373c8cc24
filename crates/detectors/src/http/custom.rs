use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use super::client::{Client, Request, Secret};
use crate::policy::{Caller, Usage};
use crate::protocol::{MAIL_PROTOCOL, needs, read_value};
use crate::{Detector, Failure, Input, Needs, Task, Verdict, protocol};

/// A service of one's own: a message is posted as JSON, and answered with a verdict, in the words of the program protocol.
pub struct HttpDetector {
    name: String,
    url: String,
    key: Option<Secret>,
    raw: bool,
    client: Client,
    asked: AtomicU64,
}

impl HttpDetector {
    /// Posts to the address; a key goes as a bearer token; `raw` sends the raw message too.
    pub fn new(
        name: impl Into<String>,
        url: impl Into<String>,
        key: Option<Secret>,
        raw: bool,
        client: Client,
    ) -> Self {
        Self { name: name.into(), url: url.into(), key, raw, client, asked: AtomicU64::new(0) }
    }

    fn predict(&self, input: &Input) -> Result<Verdict, Failure> {
        let id = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let body = protocol::Request::new(id, input, self.raw)?.to_json()?;
        let request = || {
            Ok(Request {
                url: self.url.clone(),
                headers: self.key.iter().map(|k| ("authorization", format!("Bearer {}", k.reveal()))).collect(),
                body: body.clone(),
                secrets: self.key.clone().into_iter().collect(),
                estimate: Usage::new(1, body.len() as u64 / 4, 0),
            })
        };
        let read = |reply: &Value| (read_value(reply, id), Usage::default());
        let (mut verdict, latency, usage) = self.client.ask(request, read)?;
        (verdict.latency, verdict.usage) = (Some(latency), usage);
        Ok(verdict)
    }
}

impl Detector for HttpDetector {
    fn name(&self) -> &str {
        &self.name
    }

    fn task(&self) -> Task {
        Task::Both
    }

    fn needs(&self) -> Needs {
        needs(self.raw)
    }

    fn identity(&self) -> Map<String, Value> {
        Map::from_iter([("protocol".to_owned(), json!(MAIL_PROTOCOL)), ("raw".to_owned(), json!(self.raw))])
    }

    fn caller(&self) -> Option<&Caller> {
        Some(self.client.caller())
    }

    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
        inputs.iter().map(|input| self.predict(input)).collect()
    }
}
