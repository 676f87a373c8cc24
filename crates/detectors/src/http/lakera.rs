use serde_json::{Map, Value, json};

use super::client::{Secret, join};
use super::service::{Service, ServiceRequest, lacks};
use crate::{ErrorClass, Failure, Task, Verdict};

/// Lakera Guard: `POST /v2/guard/results`, the `prompt_attack` detector's level. Flagged at the two most certain of five levels.
#[derive(Debug, Clone)]
pub struct Lakera {
    base: String,
    key: Secret,
    project: Option<String>,
}

impl Lakera {
    /// The service's own address.
    pub const BASE: &'static str = "https://api.lakera.ai";

    /// `base` is [`Lakera::BASE`] or another address that speaks the same; `project` names a project's policy.
    #[must_use]
    pub fn new(base: impl Into<String>, key: Secret, project: Option<String>) -> Self {
        Self { base: base.into(), key, project }
    }
}

impl Service for Lakera {
    fn name(&self) -> &'static str {
        "lakera"
    }

    fn task(&self) -> Task {
        Task::Injection
    }

    fn parameters(&self) -> Map<String, Value> {
        Map::from_iter([("project".to_owned(), json!(self.project))])
    }

    fn request(&self, text: &str) -> Result<ServiceRequest, Failure> {
        let mut body = json!({"messages": [{"role": "user", "content": text}]});
        if let Some(project) = &self.project {
            body["project_id"] = json!(project);
        }
        let headers = vec![("authorization", format!("Bearer {}", self.key.reveal()))];
        Ok(ServiceRequest::new(join(&self.base, "/v2/guard/results"), headers, &body, vec![self.key.clone()]))
    }

    fn read(&self, reply: &Value) -> Result<Verdict, Failure> {
        let results = reply.get("results").and_then(Value::as_array).ok_or_else(|| lacks("results"))?;
        let of_attack = |r: &&Value| {
            let kind = r.get("detector_type").and_then(Value::as_str).unwrap_or_default();
            kind == "prompt_attack" || kind.starts_with("prompt_attack/")
        };
        let mut highest: Option<f64> = None;
        for result in results.iter().filter(of_attack) {
            let level = result.get("result").and_then(Value::as_str).ok_or_else(|| lacks("prompt_attack result"))?;
            let score = match level.split('_').next() {
                Some("l1") => 1.0,
                Some("l2") => 0.75,
                Some("l3") => 0.5,
                Some("l4") => 0.25,
                Some("l5") => 0.0,
                _ => return Err(Failure::new(ErrorClass::Reply, format!("level {level:?} is not known"))),
            };
            highest = Some(highest.map_or(score, |h: f64| h.max(score)));
        }
        let mut verdict = Verdict::from_score(highest.ok_or_else(|| lacks("prompt_attack detector"))?)?;
        verdict.flagged = verdict.score >= 0.75;
        if verdict.flagged {
            verdict.categories.push("prompt_attack".into());
        }
        Ok(verdict)
    }
}
