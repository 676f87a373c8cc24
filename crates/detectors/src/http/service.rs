use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::client::{Client, Request};
use crate::policy::{Caller, Usage};
use crate::{Detector, ErrorClass, Failure, Input, Needs, Task, Verdict};

/// A service that gives one verdict for one request.
pub trait Service: Send + Sync {
    /// The detector's usual name.
    fn name(&self) -> &'static str;

    /// What it looks for.
    fn task(&self) -> Task;

    /// Characters of text that it takes.
    fn max_characters(&self) -> usize {
        8000
    }

    /// What a verdict depends on beside the text.
    fn parameters(&self) -> Map<String, Value>;

    #[doc(hidden)]
    fn request(&self, text: &str) -> Result<ServiceRequest, Failure>;

    #[doc(hidden)]
    fn read(&self, reply: &Value) -> Result<Verdict, Failure>;
}

#[doc(hidden)]
pub struct ServiceRequest(pub(crate) Request);

impl ServiceRequest {
    pub(crate) fn new(
        url: String,
        headers: Vec<(&'static str, String)>,
        body: &Value,
        secrets: Vec<super::Secret>,
    ) -> Self {
        Self::of_bytes(url, headers, body.to_string().into_bytes(), secrets)
    }

    pub(crate) fn of_bytes(
        url: String,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
        secrets: Vec<super::Secret>,
    ) -> Self {
        let estimate = Usage::new(1, body.len() as u64 / 4, 0);
        Self(Request { url, headers, body, secrets, estimate })
    }
}

/// A [`Service`] as a detector.
pub struct ServiceDetector<S> {
    name: String,
    service: S,
    client: Client,
}

impl<S: Service> ServiceDetector<S> {
    /// The service under a name of one's own.
    pub fn new(name: impl Into<String>, service: S, client: Client) -> Self {
        Self { name: name.into(), service, client }
    }

    fn predict(&self, input: &Input) -> Result<Verdict, Failure> {
        let (text, note) = cap(input.text()?, self.service.max_characters());
        let request = || self.service.request(&text).map(|r| r.0);
        let read = |reply: &Value| (self.service.read(reply), Usage::default());
        let (mut verdict, latency, usage) = self.client.ask(request, read)?;
        (verdict.latency, verdict.usage, verdict.note) = (Some(latency), usage, note);
        Ok(verdict)
    }
}

impl<S: Service> Detector for ServiceDetector<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn task(&self) -> Task {
        self.service.task()
    }

    fn needs(&self) -> Needs {
        Needs::TEXT
    }

    fn identity(&self) -> Map<String, Value> {
        let mut identity = self.service.parameters();
        identity.insert("service".into(), json!(self.service.name()));
        identity.insert("max_characters".into(), json!(self.service.max_characters()));
        identity
    }

    fn caller(&self) -> Option<&Caller> {
        Some(self.client.caller())
    }

    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
        inputs.iter().map(|input| self.predict(input)).collect()
    }
}

/// The first characters of a text, and a remark when that is not all of it.
pub(crate) fn cap(text: &str, characters: usize) -> (Cow<'_, str>, Option<String>) {
    match text.char_indices().nth(characters) {
        None => (Cow::Borrowed(text), None),
        Some((end, _)) => {
            let all = characters + text[end..].chars().count();
            (Cow::Borrowed(&text[..end]), Some(format!("the first {characters} of {all} characters were sent")))
        }
    }
}

/// A reply that lacks what the service documents.
pub(crate) fn lacks(what: &str) -> Failure {
    Failure::new(ErrorClass::Reply, format!("the answer has no {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_keeps_characters_whole() {
        assert_eq!(cap("añb", 3), ("añb".into(), None));
        assert_eq!(cap("añb", 2), ("añ".into(), Some("the first 2 of 3 characters were sent".into())));
        assert_eq!(cap("", 0), ("".into(), None));
    }
}
