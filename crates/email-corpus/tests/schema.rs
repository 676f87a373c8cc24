//! The committed JSON Schema is the one the types give, and agrees with the reader.
#![cfg(all(feature = "schema", feature = "build"))]

use serde_json::{Value, json};
use wardline_email_corpus::{BuildInputs, EmailRecord, Profile, assemble, json_schema};

fn committed() -> Value {
    serde_json::from_str(wardline_dataset::SCHEMA).expect("JSON")
}

#[test]
fn the_committed_schema_is_fresh() {
    assert_eq!(committed(), json_schema(), "run `cargo xtask dataset schema`");
}

#[test]
fn every_record_of_ours_is_valid() {
    let validator = jsonschema::validator_for(&committed()).expect("a schema");
    for item in assemble(Profile::Seeds, &BuildInputs::default()).expect("built").items {
        let value = serde_json::to_value(&item.record).expect("JSON");
        let errors: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", item.record.id);
    }
}

#[test]
fn schema_and_reader_agree_on_what_is_wrong() {
    let validator = jsonschema::validator_for(&committed()).expect("a schema");
    let good = json!({
        "id": "a", "label": {"is_malicious": false, "threat_type": "benign", "difficulty": 2}, "surface": ["header"],
        "detector_input": {"to": ["a@b"], "body": {"text": "t"}}, "provenance": {"source": "s", "synthetic": true},
        "sender_auth_condition": "verified", "eval_role": "negative", "more": [1],
    });
    let agree = |value: &Value, valid: bool| {
        assert_eq!(validator.is_valid(value), valid, "schema: {value}");
        assert_eq!(serde_json::from_value::<EmailRecord>(value.clone()).is_ok(), valid, "reader: {value}");
    };
    agree(&good, true);
    for key in ["id", "label", "provenance", "sender_auth_condition"] {
        let mut bad = good.clone();
        bad.as_object_mut().expect("an object").remove(key);
        agree(&bad, false);
    }
    for (pointer, wrong) in [
        ("/id", json!(7)),
        ("/label/threat_type", json!("hoax")),
        ("/label/is_malicious", json!("no")),
        ("/label/difficulty", json!([])),
        ("/surface", json!(["attic"])),
        ("/surface", json!("header")),
        ("/detector_input/to", json!(5)),
        ("/detector_input/body", json!("text")),
        ("/provenance/synthetic", json!(null)),
        ("/sender_auth_condition", json!("maybe")),
        ("/eval_role", json!("positive")),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).expect("there") = wrong;
        agree(&bad, false);
    }
}
