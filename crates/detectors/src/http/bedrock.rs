use serde_json::{Map, Value, json};

use super::client::{Secret, join};
use super::service::{Service, ServiceRequest, lacks};
use super::sigv4::{Signer, timestamp};
use crate::{DetectorError, ErrorClass, Failure, Task, Verdict};

/// How requests to Bedrock are allowed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum BedrockAuth {
    /// A Bedrock API key, sent as a bearer token.
    ApiKey(Secret),
    /// Access keys, which sign each request.
    Keys {
        /// The access key's id.
        access_key: Secret,
        /// The secret key.
        secret_key: Secret,
        /// The token of temporary keys.
        session_token: Option<Secret>,
        /// The time in seconds since 1970: signatures are dated.
        now: fn() -> u64,
    },
}

/// Amazon Bedrock `ApplyGuardrail`: the confidence of the guardrail's `PROMPT_ATTACK` filter.
#[derive(Debug, Clone)]
pub struct Bedrock {
    base: Option<String>,
    region: String,
    guardrail: String,
    version: String,
    auth: BedrockAuth,
}

impl Bedrock {
    /// `base` replaces the region's own address; `guardrail` is an id or ARN, `version` a number or `DRAFT`.
    ///
    /// # Errors
    /// A name holds something that has no place in it.
    pub fn new(
        base: Option<String>,
        region: impl Into<String>,
        guardrail: impl Into<String>,
        version: impl Into<String>,
        auth: BedrockAuth,
    ) -> Result<Self, DetectorError> {
        let bedrock = Self { base, region: region.into(), guardrail: guardrail.into(), version: version.into(), auth };
        for name in [&bedrock.region, &bedrock.guardrail, &bedrock.version] {
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_:/".contains(c)) {
                return Err(DetectorError::detector("bedrock", format!("{name:?} is no name")));
            }
        }
        Ok(bedrock)
    }

    fn path(&self) -> String {
        let id = self.guardrail.replace(':', "%3A").replace('/', "%2F");
        format!("/guardrail/{id}/version/{}/apply", self.version)
    }
}

impl Service for Bedrock {
    fn name(&self) -> &'static str {
        "bedrock"
    }

    fn task(&self) -> Task {
        Task::Injection
    }

    /// A guardrail takes 25 units of 1,000 characters by default.
    fn max_characters(&self) -> usize {
        25_000
    }

    fn parameters(&self) -> Map<String, Value> {
        // An ARN holds an account's number.
        let id = self.guardrail.rsplit('/').next().unwrap_or_default();
        Map::from_iter([("guardrail".to_owned(), json!(id)), ("version".to_owned(), json!(self.version))])
    }

    fn request(&self, text: &str) -> Result<ServiceRequest, Failure> {
        let own = || format!("https://bedrock-runtime.{}.amazonaws.com", self.region);
        let base = self.base.clone().unwrap_or_else(own);
        let body = json!({"source": "INPUT", "outputScope": "FULL", "content": [{"text": {"text": text}}]});
        let body = body.to_string().into_bytes();
        let url = join(&base, &self.path());
        let (access_key, secret_key, session_token, now) = match &self.auth {
            BedrockAuth::ApiKey(key) => {
                let headers = vec![("authorization", format!("Bearer {}", key.reveal()))];
                return Ok(ServiceRequest::of_bytes(url, headers, body, vec![key.clone()]));
            }
            BedrockAuth::Keys { access_key, secret_key, session_token, now } => {
                (access_key, secret_key, session_token, now())
            }
        };
        let host = base.split_once("://").map_or(base.as_str(), |(_, host)| host).trim_end_matches('/');
        let date = timestamp(now);
        let mut signed = vec![("host", host), ("x-amz-date", date.as_str())];
        signed.extend(session_token.as_ref().map(|t| ("x-amz-security-token", t.reveal())));
        let signer = Signer {
            access_key: access_key.reveal(),
            secret_key: secret_key.reveal(),
            region: &self.region,
            service: "bedrock",
            time: now,
        };
        let authorization = signer.authorization("POST", &self.path(), &signed, &body);
        let mut headers = vec![("authorization", authorization), ("x-amz-date", date.clone())];
        headers.extend(session_token.as_ref().map(|t| ("x-amz-security-token", t.reveal().to_owned())));
        let secrets = [Some(secret_key), session_token.as_ref(), Some(access_key)].into_iter().flatten().cloned();
        Ok(ServiceRequest::of_bytes(url, headers, body, secrets.collect()))
    }

    fn read(&self, reply: &Value) -> Result<Verdict, Failure> {
        let assessments = reply.get("assessments").and_then(Value::as_array).ok_or_else(|| lacks("assessments"))?;
        let filters = assessments.iter().filter_map(|a| a.pointer("/contentPolicy/filters")?.as_array()).flatten();
        let mut highest: Option<f64> = None;
        for filter in filters.filter(|f| f.get("type").and_then(Value::as_str) == Some("PROMPT_ATTACK")) {
            let score = match filter.get("confidence").and_then(Value::as_str) {
                Some("HIGH") => 1.0,
                Some("MEDIUM") => 0.75,
                Some("LOW") => 0.5,
                Some("NONE") => 0.0,
                other => return Err(Failure::new(ErrorClass::Reply, format!("confidence {other:?} is not known"))),
            };
            highest = Some(highest.map_or(score, |h: f64| h.max(score)));
        }
        let mut verdict = Verdict::from_score(highest.ok_or_else(|| lacks("PROMPT_ATTACK filter"))?)?;
        if verdict.flagged {
            verdict.categories.push("PROMPT_ATTACK".into());
        }
        Ok(verdict)
    }
}
