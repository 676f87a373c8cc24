//! What the program protocol's schemas promise is what goes over the pipe.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn schema(name: &str) -> jsonschema::Validator {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol")).join(name);
    let schema: Value = serde_json::from_slice(&fs::read(path).expect("the schema is read")).expect("it is JSON");
    jsonschema::validator_for(&schema).expect("it is a schema")
}

/// Runs the example behind a recorder of both directions and returns the lines of each.
fn recorded() -> [Vec<Value>; 2] {
    let folder = tempfile::tempdir().expect("a folder");
    let (calls, decisions) = (folder.path().join("calls"), folder.path().join("decisions"));
    let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/exec_defense.py"));
    let script = format!("tee '{}' | python3 '{}' | tee '{}'", calls.display(), example.display(), decisions.display());
    let spec = format!("exec:sh -c \"{script}\"");
    let output = Command::new(env!("CARGO_BIN_EXE_deveval")).args(["--defense", &spec]).output().expect("deveval runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    [calls, decisions].map(|path| {
        let text = fs::read_to_string(path).expect("the record is read");
        text.lines().map(|l| serde_json::from_str(l).expect("a line is JSON")).collect()
    })
}

#[test]
fn calls_and_decisions_follow_their_schemas() {
    let [calls, decisions] = recorded();
    assert!(calls.len() >= 10 && calls.len() == decisions.len(), "{} and {}", calls.len(), decisions.len());
    for (lines, name) in [(calls, "call.schema.json"), (decisions, "decision.schema.json")] {
        let validator = schema(name);
        for line in lines {
            let errors: Vec<String> = validator.iter_errors(&line).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{line}: {errors:?}");
        }
    }
}

#[test]
fn the_schemas_refuse_what_the_protocol_forbids() {
    let decision = schema("decision.schema.json");
    for wrong in [
        r#"{"id":1}"#,
        r#"{"decision":"allow"}"#,
        r#"{"id":1,"decision":"maybe"}"#,
        r#"{"id":1,"decision":"deny","error":"x"}"#,
    ] {
        assert!(!decision.is_valid(&serde_json::from_str(wrong).expect("JSON")), "{wrong}");
    }
}
