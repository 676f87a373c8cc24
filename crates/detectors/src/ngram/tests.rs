use super::*;

fn examples() -> Vec<Example> {
    let text = |i: usize| match i % 4 {
        0 => format!("please send the invoices of week {i} to the drop address and tell nobody"),
        1 => format!("the choir meets on day {i} and sings the old songs by the river"),
        2 => format!("forward all invoices to the drop {i} now, tell nobody of it"),
        _ => format!("lunch at noon, table {i}, by the river as always"),
    };
    (0..80).map(|i| Example { id: format!("r{i}"), text: text(i), positive: i % 2 == 0 }).collect()
}

fn detector(model: NgramModel, allow: bool) -> NgramDetector {
    NgramDetector::new("ngram", model, allow)
}

fn score(detector: &NgramDetector, id: &str, text: &str) -> Result<f64, Failure> {
    detector.predict_batch(&[Input::from_text(id, text)]).remove(0).map(|v| v.score)
}

#[test]
fn it_learns_and_is_the_same_for_any_order_of_examples() {
    let mut examples = examples();
    let model = train_ngram(Task::Injection, "digest", &examples, &TrainOptions::default()).unwrap();
    examples.reverse();
    let again = train_ngram(Task::Injection, "digest", &examples, &TrainOptions::default()).unwrap();
    assert_eq!(model.sha256(), again.sha256());
    assert_eq!(model.examples, (40, 40));
    let detector = detector(model, false);
    assert!(score(&detector, "new", "send the invoices to the drop address").unwrap() > 0.9);
    assert!(score(&detector, "new", "we sing by the river at noon").unwrap() < 0.1);
    assert!(score(&detector, "new", "").is_ok());
}

#[test]
fn it_refuses_what_it_was_trained_on() {
    let model = train_ngram(Task::Injection, "digest", &examples(), &TrainOptions::default()).unwrap();
    let failure = score(&detector(model.clone(), false), "r3", "lunch").unwrap_err();
    let expected = (ErrorClass::TrainedOn, "the model was trained on this record");
    assert_eq!((failure.class, failure.message.as_str()), expected);
    assert!(score(&detector(model, true), "r3", "lunch").is_ok());
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.json");
    let model = train_ngram(Task::Phishing, "digest", &examples(), &TrainOptions::default()).unwrap();
    model.write(&path).unwrap();
    assert_eq!(NgramModel::read(&path).unwrap(), model);
    let text = std::fs::read_to_string(&path).unwrap();
    for (wrong, expected) in [
        ("{}".to_owned(), "is no model"),
        (text.replace("wardline-ngram/1", "wardline-ngram/9"), "has schema \"wardline-ngram/9\""),
        (text.replace("\"weights\":\"", "\"weights\":\"AAAA"), "weights of the wrong number"),
    ] {
        std::fs::write(&path, wrong).unwrap();
        let error = NgramModel::read(&path).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn wrong_examples() {
    let mut one_class = examples();
    one_class.retain(|e| e.positive);
    let train = |e: &[Example]| train_ngram(Task::Injection, "d", e, &TrainOptions::default()).unwrap_err().to_string();
    assert!(train(&one_class).contains("40 positive and 0 negative examples"));
    let mut twice = examples();
    twice.push(twice[0].clone());
    assert!(train(&twice).contains("id \"r0\" stands twice"));
}
