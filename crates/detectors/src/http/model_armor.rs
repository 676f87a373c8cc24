use serde_json::{Map, Value, json};

use super::client::{Secret, join};
use super::service::{Service, ServiceRequest, lacks};
use crate::{DetectorError, ErrorClass, Failure, Task, Verdict};

/// Google Model Armor: a template's `sanitizeUserPrompt`, the filter for prompt injection and jailbreaks.
#[derive(Debug, Clone)]
pub struct ModelArmor {
    base: Option<String>,
    token: Secret,
    project: String,
    location: String,
    template: String,
}

impl ModelArmor {
    /// `base` replaces the location's own address; `token` is an access token, which lives for about an hour.
    ///
    /// # Errors
    /// A name holds something else than letters, digits, hyphens and underscores.
    pub fn new(
        base: Option<String>,
        token: Secret,
        project: impl Into<String>,
        location: impl Into<String>,
        template: impl Into<String>,
    ) -> Result<Self, DetectorError> {
        let armor = Self { base, token, project: project.into(), location: location.into(), template: template.into() };
        for name in [&armor.project, &armor.location, &armor.template] {
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c)) {
                return Err(DetectorError::detector("model-armor", format!("{name:?} is no name")));
            }
        }
        Ok(armor)
    }
}

impl Service for ModelArmor {
    fn name(&self) -> &'static str {
        "model-armor"
    }

    fn task(&self) -> Task {
        Task::Injection
    }

    fn parameters(&self) -> Map<String, Value> {
        Map::from_iter([("template".to_owned(), json!(self.template)), ("location".to_owned(), json!(self.location))])
    }

    fn request(&self, text: &str) -> Result<ServiceRequest, Failure> {
        let Self { project, location, template, .. } = self;
        let own = || format!("https://modelarmor.{location}.rep.googleapis.com");
        let path = format!("/v1/projects/{project}/locations/{location}/templates/{template}:sanitizeUserPrompt");
        let url = join(&self.base.clone().unwrap_or_else(own), &path);
        let headers = vec![("authorization", format!("Bearer {}", self.token.reveal()))];
        let body = json!({"userPromptData": {"text": text}});
        Ok(ServiceRequest::new(url, headers, &body, vec![self.token.clone()]))
    }

    fn read(&self, reply: &Value) -> Result<Verdict, Failure> {
        let path = "/sanitizationResult/filterResults/pi_and_jailbreak/piAndJailbreakFilterResult";
        let result = reply.pointer(path).ok_or_else(|| lacks("piAndJailbreakFilterResult"))?;
        let field = |name: &str| result.get(name).and_then(Value::as_str);
        if field("executionState").is_some_and(|s| s != "EXECUTION_SUCCESS") {
            let state = field("executionState").unwrap_or_default();
            return Err(Failure::new(ErrorClass::Reply, format!("the filter was not run: {state}")));
        }
        let score = match field("matchState") {
            Some("NO_MATCH_FOUND") => 0.0,
            Some("MATCH_FOUND") => match field("confidenceLevel") {
                Some("HIGH") => 1.0,
                Some("MEDIUM" | "MEDIUM_AND_ABOVE") => 0.75,
                Some("LOW" | "LOW_AND_ABOVE") => 0.5,
                None | Some("DETECTION_CONFIDENCE_LEVEL_UNSPECIFIED") => 0.6,
                Some(other) => {
                    return Err(Failure::new(ErrorClass::Reply, format!("confidence level {other:?} is not known")));
                }
            },
            Some(other) => return Err(Failure::new(ErrorClass::Reply, format!("match state {other:?} is not known"))),
            None => return Err(lacks("matchState")),
        };
        let mut verdict = Verdict::from_score(score)?;
        if verdict.flagged {
            verdict.categories.push("pi_and_jailbreak".into());
        }
        Ok(verdict)
    }
}
