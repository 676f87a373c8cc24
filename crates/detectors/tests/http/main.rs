//! Every adapter over HTTP against a real server on this machine.
#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests may panic, and measure waits")]

mod failures;
mod server;
mod services;

use std::time::Duration;

use wardline_detectors::{
    Anthropic, Bedrock, BedrockAuth, Caller, Client, Detector, Failure, Gemini, HttpDetector, HttpOptions, Input,
    Judge, JudgeOptions, Lakera, ModelArmor, OpenAi, Policy, PromptShields, ScamGuard, Secret, ServiceDetector, Stop,
    Task, Verdict,
};

/// The key that every adapter is given here. It must come up in no error.
pub(crate) const KEY: &str = "sk-test-0123456789";

/// A client that retries twice and at once, and does not wait longer than half a second.
pub(crate) fn client() -> Client {
    let mut policy = Policy::default();
    policy.retry.attempts = 3;
    policy.retry.base = Duration::from_millis(2);
    let mut options = HttpOptions::default();
    options.timeout = Duration::from_millis(500);
    Client::new(&options, Caller::new(policy, Stop::default())).unwrap()
}

/// Every adapter, one question and one answer each, talking to the address.
pub(crate) fn adapters(address: &str) -> Vec<(Box<dyn Detector>, &'static str, f64)> {
    let key = || Secret::new(KEY);
    let options = || {
        let mut options = JudgeOptions::new("some-model");
        options.task = Task::Injection;
        options
    };
    let base = || Some(address.to_owned());
    let armor = ModelArmor::new(base(), key(), "proj", "europe-west4", "strict").unwrap();
    let keys = BedrockAuth::Keys { access_key: Secret::new("AKIA"), secret_key: key(), session_token: None, now: || 0 };
    let bedrock = Bedrock::new(base(), "eu-central-1", "gr1", "DRAFT", keys).unwrap();
    vec![
        (
            Box::new(ServiceDetector::new("lakera", Lakera::new(address, key(), None), client())),
            r#"{"results":[{"detector_type":"pii","result":"l1_confident"},{"detector_type":"prompt_attack","result":"l2_very_likely"}]}"#,
            0.75,
        ),
        (
            Box::new(ServiceDetector::new("model-armor", armor, client())),
            r#"{"sanitizationResult":{"filterMatchState":"MATCH_FOUND","filterResults":{"pi_and_jailbreak":{"piAndJailbreakFilterResult":{"executionState":"EXECUTION_SUCCESS","matchState":"MATCH_FOUND","confidenceLevel":"MEDIUM_AND_ABOVE"}}},"invocationResult":"SUCCESS"}}"#,
            0.75,
        ),
        (
            Box::new(ServiceDetector::new("scamguard", ScamGuard::new(address, Some(key())), client())),
            r#"{"verdict":"suspicious","score":0.42,"signals":["urgency",{"id":"reply_to_differs"}]}"#,
            0.42,
        ),
        (
            Box::new(ServiceDetector::new("prompt-shields", PromptShields::new(address, key()), client())),
            r#"{"userPromptAnalysis":{"attackDetected":false},"documentsAnalysis":[{"attackDetected":true}]}"#,
            1.0,
        ),
        (
            Box::new(ServiceDetector::new("bedrock", bedrock, client())),
            r#"{"action":"GUARDRAIL_INTERVENED","assessments":[{"contentPolicy":{"filters":[{"type":"HATE","confidence":"HIGH"},{"type":"PROMPT_ATTACK","confidence":"MEDIUM","action":"BLOCKED","detected":true}]}}]}"#,
            0.75,
        ),
        (
            Box::new(Judge::new("openai", OpenAi::compatible(address, Some(key())), options(), client())),
            r#"{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"{\"probability\": 0.9}"}}],"usage":{"prompt_tokens":700,"completion_tokens":9}}"#,
            0.9,
        ),
        (
            Box::new(Judge::new("gemini", Gemini::new(address, key()), options(), client())),
            r#"{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"{\"probability\":"},{"text":" 0.9}"}]}}],"usageMetadata":{"promptTokenCount":700,"candidatesTokenCount":9}}"#,
            0.9,
        ),
        (
            Box::new(Judge::new("anthropic", Anthropic::new(address, key()), options(), client())),
            r#"{"content":[{"type":"text","text":"{\"probability\": 0.9}"}],"stop_reason":"end_turn","usage":{"input_tokens":700,"output_tokens":9}}"#,
            0.9,
        ),
        (
            Box::new(HttpDetector::new("own", format!("{address}/score"), Some(key()), false, client())),
            r#"{"id":1,"score":0.3,"flagged":true,"categories":["mine"]}"#,
            0.3,
        ),
    ]
}

/// Asks about one small message.
pub(crate) fn ask(detector: &dyn Detector) -> Result<Verdict, Failure> {
    ask_about(detector, "From: Ann <ann@mill.example>\nSubject: Grüße\n\nSee you at noon.\n")
}

pub(crate) fn ask_about(detector: &dyn Detector, message: &str) -> Result<Verdict, Failure> {
    detector.predict_batch(&[Input::from_message("pi_0001", message)]).remove(0)
}
