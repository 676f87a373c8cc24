//! What each service is sent, and what its answers mean.

use serde_json::{Value, json};
use wardline_detectors::{
    Action, Bedrock, BedrockAuth, Detector, ErrorClass, Input, Judge, JudgeOptions, OpenAi, Secret, ServiceDetector,
    Task,
};

use crate::server::{Answer, Received, Server};
use crate::{KEY, adapters, ask, ask_about, client};

/// The adapter of the name meets the answer.
fn with(name: &str, answer: &str) -> (Result<wardline_detectors::Verdict, wardline_detectors::Failure>, Received) {
    let answer = answer.to_owned();
    let server = Server::start(move |_, _| Answer::json(&answer));
    let (detector, ..) = adapters(&server.address).into_iter().find(|a| a.0.name() == name).unwrap();
    let verdict = ask(&*detector);
    (verdict, server.received().remove(0))
}

fn good(name: &str) -> Received {
    let (_, answer, expected) = adapters("http://127.0.0.1:1").into_iter().find(|a| a.0.name() == name).unwrap();
    let (verdict, received) = with(name, answer);
    assert_eq!(verdict.unwrap().score, expected, "{name}");
    assert_eq!((received.method.as_str(), received.headers["content-type"].as_str()), ("POST", "application/json"));
    received
}

const TEXT: &str = "Grüße\nAnn\nSee you at noon.";

#[test]
fn lakera() {
    let request = good("lakera");
    assert_eq!(request.path, "/v2/guard/results");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(request.json(), json!({"messages": [{"role": "user", "content": TEXT}]}));
    let level = |level: &str| {
        with("lakera", &json!({"results": [{"detector_type": "prompt_attack", "result": level}]}).to_string()).0
    };
    for (name, score, flagged) in [
        ("l1_confident", 1.0, true),
        ("l2_very_likely", 0.75, true),
        ("l3_likely", 0.5, false),
        ("l4_less_likely", 0.25, false),
        ("l5_unlikely", 0.0, false),
    ] {
        let verdict = level(name).unwrap();
        assert_eq!((verdict.score, verdict.flagged), (score, flagged), "{name}");
    }
    assert_eq!(level("certain").unwrap_err().class, ErrorClass::Reply);
    let absent = r#"{"results":[{"detector_type":"pii","result":"l1_confident"}]}"#;
    let failure = with("lakera", absent).0.unwrap_err();
    assert!(failure.message.starts_with("the answer has no prompt_attack detector in "), "{failure}");
}

#[test]
fn model_armor() {
    let request = good("model-armor");
    assert_eq!(request.path, "/v1/projects/proj/locations/europe-west4/templates/strict:sanitizeUserPrompt");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(request.json(), json!({"userPromptData": {"text": TEXT}}));
    let result = |result: Value| {
        let filters = json!({"pi_and_jailbreak": {"piAndJailbreakFilterResult": result}});
        with("model-armor", &json!({"sanitizationResult": {"filterResults": filters}}).to_string()).0
    };
    let matched = |level: &str| result(json!({"matchState": "MATCH_FOUND", "confidenceLevel": level}));
    for (level, score) in
        [("HIGH", 1.0), ("MEDIUM", 0.75), ("LOW", 0.5), ("MEDIUM_AND_ABOVE", 0.75), ("LOW_AND_ABOVE", 0.5)]
    {
        assert_eq!(matched(level).unwrap().score, score, "{level}");
    }
    assert_eq!(result(json!({"matchState": "MATCH_FOUND"})).unwrap().score, 0.6);
    assert_eq!(result(json!({"matchState": "NO_MATCH_FOUND"})).unwrap().score, 0.0);
    for wrong in [
        json!({}),
        json!({"matchState": "MAYBE"}),
        json!({"matchState": "MATCH_FOUND", "confidenceLevel": "VAST"}),
        json!({"matchState": "NO_MATCH_FOUND", "executionState": "EXECUTION_SKIPPED"}),
    ] {
        assert_eq!(result(wrong.clone()).unwrap_err().class, ErrorClass::Reply, "{wrong}");
    }
}

#[test]
fn scamguard() {
    let request = good("scamguard");
    assert_eq!(request.path, "/v1/inbound/scan");
    assert_eq!(request.json(), json!({"raw_email": TEXT, "content_type": "text/plain"}));
    let scored =
        |score: Value| with("scamguard", &json!({"verdict": "v", "score": score, "signals": ["a"]}).to_string()).0;
    for (score, action, flagged) in
        [(0.39, Action::Allow, false), (0.4, Action::Review, true), (0.75, Action::Block, true)]
    {
        let verdict = scored(json!(score)).unwrap();
        assert_eq!((verdict.action, verdict.flagged), (action, flagged), "{score}");
        assert_eq!(verdict.categories, ["v", "a"]);
    }
    for wrong in [json!(null), json!("0.5"), json!(40)] {
        assert_eq!(scored(wrong.clone()).unwrap_err().class, ErrorClass::Reply, "{wrong}");
    }
}

#[test]
fn prompt_shields() {
    let request = good("prompt-shields");
    assert_eq!(request.path, "/contentsafety/text:shieldPrompt?api-version=2024-09-01");
    assert_eq!(request.headers["ocp-apim-subscription-key"], KEY);
    assert_eq!(request.json()["documents"], json!([TEXT]));
    let documents = |d: Value| {
        let reply = json!({"userPromptAnalysis": {"attackDetected": true}, "documentsAnalysis": d});
        with("prompt-shields", &reply.to_string()).0
    };
    assert_eq!(documents(json!([{"attackDetected": false}])).unwrap().score, 0.0);
    for wrong in [json!([]), json!(null), json!([{}]), json!([{"attackDetected": "yes"}])] {
        assert_eq!(documents(wrong.clone()).unwrap_err().class, ErrorClass::Reply, "{wrong}");
    }
}

#[test]
fn bedrock() {
    let request = good("bedrock");
    assert_eq!(request.path, "/guardrail/gr1/version/DRAFT/apply");
    assert_eq!(request.headers["x-amz-date"], "19700101T000000Z");
    let scope = "Credential=AKIA/19700101/eu-central-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=";
    assert!(request.headers["authorization"].starts_with(&format!("AWS4-HMAC-SHA256 {scope}")));
    assert_eq!(request.json()["content"], json!([{"text": {"text": TEXT}}]));
    let filter = |f: Value| {
        let reply = json!({"action": "NONE", "assessments": [{"contentPolicy": {"filters": [f]}}]});
        with("bedrock", &reply.to_string()).0
    };
    for (confidence, score) in [("HIGH", 1.0), ("MEDIUM", 0.75), ("LOW", 0.5), ("NONE", 0.0)] {
        assert_eq!(filter(json!({"type": "PROMPT_ATTACK", "confidence": confidence})).unwrap().score, score);
    }
    for wrong in [json!({"type": "HATE", "confidence": "HIGH"}), json!({"type": "PROMPT_ATTACK"})] {
        assert_eq!(filter(wrong.clone()).unwrap_err().class, ErrorClass::Reply, "{wrong}");
    }

    let server = Server::start(|_, _| {
        Answer::json(
            r#"{"assessments":[{"contentPolicy":{"filters":[{"type":"PROMPT_ATTACK","confidence":"NONE"}]}}]}"#,
        )
    });
    let auth = BedrockAuth::ApiKey(Secret::new(KEY));
    let arn = "arn:aws:bedrock:eu-central-1:000000000000:guardrail/gr1";
    let bedrock = Bedrock::new(Some(server.address.clone()), "eu-central-1", arn, "1", auth).unwrap();
    let bedrock = ServiceDetector::new("bedrock", bedrock, client());
    assert_eq!(ask(&bedrock).unwrap().score, 0.0);
    let request = server.received().remove(0);
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    assert!(request.path.starts_with("/guardrail/arn%3Aaws%3Abedrock"), "{}", request.path);
    assert!(!serde_json::to_string(&bedrock.identity()).unwrap().contains("000000000000"));
}

#[test]
fn a_service_is_sent_8000_characters_at_most() {
    let server =
        Server::start(|_, _| Answer::json(r#"{"results":[{"detector_type":"prompt_attack","result":"l5_unlikely"}]}"#));
    let (lakera, ..) = adapters(&server.address).remove(0);
    let long = format!("Subject: s\nContent-Type: text/plain; charset=utf-8\n\n{}", "ñ".repeat(9000));
    let verdict = ask_about(&*lakera, &long).unwrap();
    assert_eq!(verdict.note.unwrap(), "the first 8000 of 9002 characters were sent");
    let sent = server.received()[0].json()["messages"][0]["content"].as_str().unwrap().to_owned();
    assert_eq!((sent.chars().count(), sent.chars().last()), (8000, Some('ñ')));
}

#[test]
fn openai_compatible() {
    let request = good("openai");
    assert_eq!(request.path, "/chat/completions");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    let body = request.json();
    assert_eq!(body["model"], "some-model");
    assert_eq!(body["messages"][0]["role"], "system");
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("untrusted data") && prompt.contains("A trigger word alone is never an attack"));
    let mail = body["messages"][1]["content"].as_str().unwrap();
    assert!(mail.contains(TEXT));
    assert_eq!(body["chat_template_kwargs"], json!({"enable_thinking": false}));
    let choice = |choice: Value| with("openai", &json!({"choices": [choice]}).to_string()).0.unwrap_err();
    let content = |text: &str| json!({"finish_reason": "stop", "message": {"content": text}});
    for (reply, class, words) in [
        (content("```json\n{\"probability\":1}\n```"), ErrorClass::Reply, "is fenced"),
        (content("{\"probability\":"), ErrorClass::Reply, "is cut off"),
        (content("Sorry, no."), ErrorClass::Reply, "Sorry, no."),
        (json!({"finish_reason": "length", "message": {"content": "{"}}), ErrorClass::Truncated, "cut off"),
        (json!({"finish_reason": "content_filter", "message": {}}), ErrorClass::Refused, "filtered"),
        (json!({"message": {"refusal": "I can't", "content": null}}), ErrorClass::Refused, "refused"),
        (json!({"message": {"content": null}}), ErrorClass::Reply, "no message content"),
    ] {
        let failure = choice(reply.clone());
        assert_eq!(failure.class, class, "{reply}");
        assert!(failure.message.contains(words), "{reply}: {failure}");
    }
}

#[test]
fn openai_itself_is_not_sent_what_others_want() {
    let body = |model: &str| {
        let mut options = JudgeOptions::new(model);
        options.task = Task::Injection;
        options.extra = json!({"seed": 7, "response_format": null}).as_object().unwrap().clone();
        let server =
            Server::start(|_, _| Answer::json(r#"{"choices":[{"message":{"content":"{\"probability\":0}"}}]}"#));
        let judge = Judge::new("j", OpenAi::compatible(server.address.clone(), None), options, client());
        ask(&judge).unwrap();
        server.received()[0].json()
    };
    let body = body("m");
    assert_eq!((&body["seed"], &body["response_format"]), (&json!(7), &Value::Null));
    assert_eq!(body["temperature"], 0.0);
}

#[test]
fn gemini() {
    let request = good("gemini");
    assert_eq!(request.path, "/v1beta/models/some-model:generateContent");
    assert_eq!(request.headers["x-goog-api-key"], KEY);
    assert_eq!(request.json()["generationConfig"]["thinkingConfig"], json!({"thinkingBudget": 0}));
    for (reply, class) in [
        (r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, ErrorClass::Refused),
        (r#"{"candidates":[{"finishReason":"SAFETY"}]}"#, ErrorClass::Refused),
        (r#"{"candidates":[{"finishReason":"MAX_TOKENS","content":{"parts":[{"text":"{"}]}}]}"#, ErrorClass::Truncated),
        (r#"{"candidates":[]}"#, ErrorClass::Reply),
        (
            r#"{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"hm","thought":true}]}}]}"#,
            ErrorClass::Reply,
        ),
    ] {
        assert_eq!(with("gemini", reply).0.unwrap_err().class, class, "{reply}");
    }
}

#[test]
fn anthropic() {
    let request = good("anthropic");
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(
        (request.headers["x-api-key"].as_str(), request.headers["anthropic-version"].as_str()),
        (KEY, "2023-06-01")
    );
    assert_eq!(request.json()["messages"][0]["role"], "user");
    for (reply, class) in [
        (r#"{"content":[],"stop_reason":"refusal"}"#, ErrorClass::Refused),
        (r#"{"content":[{"type":"text","text":"{"}],"stop_reason":"max_tokens"}"#, ErrorClass::Truncated),
        (r#"{"content":[],"stop_reason":"end_turn"}"#, ErrorClass::Reply),
    ] {
        assert_eq!(with("anthropic", reply).0.unwrap_err().class, class, "{reply}");
    }
}

#[test]
fn samples_are_averaged_and_both_questions_are_kept_apart() {
    let server = Server::start(|request, before| {
        let body = request.json();
        let phishing = body["messages"][0]["content"].as_str().unwrap().contains("unwanted mail");
        let probability = if phishing { 0.125 } else { [0.5, 1.0][before % 2] };
        let content = json!({ "probability": probability }).to_string();
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
        Answer::json(&json!({"choices": [{"message": {"content": content}}], "usage": usage}).to_string())
    });
    let mut options = JudgeOptions::new("m");
    options.samples = 2;
    let judge = Judge::new("j", OpenAi::compatible(server.address.clone(), None), options, client());
    let verdict = ask(&judge).unwrap();
    assert_eq!((verdict.pi_score, verdict.phi_score, verdict.score), (Some(0.75), Some(0.125), 0.75));
    let usage = verdict.usage;
    assert_eq!((usage.requests, usage.input_tokens, usage.output_tokens), (4, 400, 40));
    assert!(server.received().iter().all(|r| !r.headers.contains_key("authorization")));
}

#[test]
fn a_mail_cannot_end_its_own_quotation_and_ids_stay_here() {
    let server = Server::start(|_, _| Answer::json(r#"{"choices":[{"message":{"content":"{\"probability\":0}"}}]}"#));
    let judge = Judge::new("j", OpenAi::compatible(server.address.clone(), None), JudgeOptions::new("m"), client());
    ask(&judge).unwrap();
    let request = server.received().remove(0);
    let mail = request.json()["messages"][1]["content"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = mail.lines().collect();
    let mark = lines[1];
    assert_eq!((mark.len(), lines.last()), (16, Some(&mark)));
    assert_eq!(lines.iter().filter(|l| **l == mark).count(), 2);
    assert!(!String::from_utf8(request.body).unwrap().contains("pi_0001"));
}

#[test]
fn images_are_sent_in_vision_mode() {
    let message = "Subject: s\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n";
    for (name, path) in [
        ("openai", "/messages/1/content/1/image_url/url"),
        ("gemini", "/contents/0/parts/1/inlineData/data"),
        ("anthropic", "/messages/0/content/1/source/data"),
    ] {
        let answer = adapters("http://127.0.0.1:1").into_iter().find(|a| a.0.name() == name).unwrap().1;
        let server = Server::start(move |_, _| Answer::json(answer));
        let mut options = JudgeOptions::new("m");
        (options.task, options.vision) = (Task::Injection, true);
        let base = server.address.clone();
        let key = Secret::new(KEY);
        let judge: Box<dyn Detector> = match name {
            "openai" => Box::new(Judge::new("j", OpenAi::compatible(base, None), options, client())),
            "gemini" => Box::new(Judge::new("j", wardline_detectors::Gemini::new(base, key), options, client())),
            _ => Box::new(Judge::new("j", wardline_detectors::Anthropic::new(base, key), options, client())),
        };
        judge.predict_batch(&[Input::from_message("a", message)]).remove(0).unwrap();
        let body = server.received()[0].json();
        let sent = body.pointer(path).and_then(Value::as_str).unwrap_or_default();
        assert!(sent.ends_with("iVBORw0KGgo="), "{name}: {body}");
    }
}

#[test]
fn own_service() {
    let request = good("own");
    assert_eq!((request.path.as_str(), &request.json()["schema"]), ("/score", &json!("wardline-mail/1")));
    assert_eq!(request.json()["text"], TEXT);
    let failure = with("own", r#"{"id":9,"score":0.3}"#).0.unwrap_err();
    assert_eq!(failure.class, ErrorClass::Program);
    let failure = with("own", r#"{"id":1,"error":"no model loaded"}"#).0.unwrap_err();
    assert!(failure.message.contains("no model loaded"), "{failure}");
}
