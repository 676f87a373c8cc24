//! What the program protocol's schemas promise is what goes over the pipe.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn schema(name: &str) -> jsonschema::Validator {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol")).join(name);
    jsonschema::validator_for(&serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).unwrap()
}

fn valid(validator: &jsonschema::Validator, json: &str) -> bool {
    validator.is_valid(&serde_json::from_str(json).unwrap())
}

/// A record of each way that a message of the structure table can be odd, scored by the example behind a recorder of both directions.
fn recorded(folder: &Path) -> [Vec<Value>; 2] {
    let table = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../dataset/structure"));
    let mut messages: Vec<_> = fs::read_dir(table).unwrap().map(|e| e.unwrap().path()).collect();
    messages.retain(|p| p.extension().is_some_and(|e| e == "eml"));
    messages.sort();
    let mut manifest = String::new();
    for path in &messages {
        let name = path.file_name().unwrap().to_str().unwrap();
        fs::copy(path, folder.join(name)).unwrap();
        let record = serde_json::json!({"id": name, "eml_path": name, "label": {"is_malicious": false, "threat_type": "benign"},
            "detector_input": {}, "provenance": {"source": "handcrafted", "synthetic": true}, "sender_auth_condition": "verified"});
        manifest += &format!("{record}\n");
    }
    fs::write(folder.join("mail.jsonl"), manifest).unwrap();
    let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/exec_detector.py"));
    let script = format!("tee messages | python3 '{}' | tee verdicts", example.display());
    let spec = format!("p=exec:sh -c \"{script}\"");
    let arguments = ["score", "--manifest", "mail.jsonl", "--out-dir", "run", "--send-raw", "--detector", &spec];
    let output = Command::new(env!("CARGO_BIN_EXE_mailbench")).current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    ["messages", "verdicts"].map(|name| {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    })
}

#[test]
fn messages_and_verdicts_follow_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let [messages, verdicts] = recorded(folder.path());
    assert!(messages.len() >= 150 && messages.len() == verdicts.len(), "{} and {}", messages.len(), verdicts.len());
    for (lines, name) in [(messages, "message.schema.json"), (verdicts, "verdict.schema.json")] {
        let validator = schema(name);
        for line in lines {
            let errors: Vec<String> = validator.iter_errors(&line).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{line}: {errors:?}");
        }
    }
}

#[test]
fn the_schemas_refuse_what_the_protocol_forbids() {
    let verdict = schema("verdict.schema.json");
    for wrong in [
        r#"{"id":1}"#,
        r#"{"score":0.5}"#,
        r#"{"id":1,"score":1.5}"#,
        r#"{"id":1,"score":null}"#,
        r#"{"id":1,"score":0.5,"phi_score":7}"#,
        r#"{"id":1,"score":0.5,"action":"quarantine"}"#,
        r#"{"id":1,"score":0.5,"error":"x"}"#,
    ] {
        assert!(!valid(&verdict, wrong), "{wrong}");
    }
    assert!(valid(&verdict, r#"{"id":1,"score":1,"flagged":true,"action":"block","categories":["x"]}"#));
    let message = schema("message.schema.json");
    assert!(!valid(&message, r#"{"schema":"wardline-mail/1","id":1,"label":"benign"}"#));
}
