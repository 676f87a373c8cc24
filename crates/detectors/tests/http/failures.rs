//! What every adapter makes of what goes wrong.

use std::time::{Duration, Instant};

use wardline_detectors::ErrorClass::{self, *};

use crate::server::{Answer, Server};
use crate::{KEY, adapters, ask};

/// Every adapter meets the answer: the class of its error, and how often the server was asked.
fn meets(what: &str, answer: &Answer, class: ErrorClass, requests: usize) {
    for i in 0..adapters("http://127.0.0.1:1").len() {
        let given = answer.clone();
        let server = Server::start(move |_, _| given.clone());
        let (detector, ..) = adapters(&server.address).remove(i);
        let start = Instant::now();
        let failure = ask(&*detector).unwrap_err();
        let name = detector.name();
        assert_eq!(failure.class, class, "{name}: {what}: {failure}");
        assert_eq!(server.received().len(), requests, "{name}: {what}");
        assert_eq!(failure.usage.requests, requests as u64, "{name}: {what}");
        assert!(!failure.message.contains(KEY), "{name}: {what}: {failure}");
        assert!(!failure.message.contains('\n') && failure.message.len() < 600, "{name}: {what}: {failure}");
        assert!(start.elapsed() < Duration::from_secs(5), "{name}: {what} took {:?}", start.elapsed());
    }
}

#[test]
fn statuses_that_will_not_pass_are_asked_once() {
    // The service repeats the key, as some do.
    let body = format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}");
    for (status, class) in
        [(400, BadRequest), (401, Auth), (403, Auth), (404, BadRequest), (422, BadRequest), (307, BadRequest)]
    {
        meets(&status.to_string(), &Answer::status(status, &body), class, 1);
    }
}

#[test]
fn statuses_that_may_pass_are_asked_again_and_not_for_ever() {
    for (status, class) in [(408, Timeout), (429, RateLimited), (500, Server), (503, Server)] {
        meets(&status.to_string(), &Answer::status(status, "{}"), class, 3);
    }
}

#[test]
fn replies_that_are_none() {
    meets("empty body", &Answer::json(""), Reply, 1);
    meets("HTML page", &Answer::json("<!doctype html><title>Sign in</title>"), Reply, 1);
    meets("cut JSON", &Answer::json("{\"results\":["), Reply, 1);
    meets("JSON null", &Answer::json("null"), Reply, 1);
    meets("an object of another kind", &Answer::json("{\"ok\":true}"), Reply, 1);
    let invalid = Answer::Reply { status: 200, headers: vec![], body: b"{\"score\":\"\xff\xfe\"}".to_vec() };
    meets("invalid UTF-8", &invalid, Reply, 1);
}

#[test]
fn a_body_of_50_mib_is_not_read() {
    meets("50 MiB", &Answer::Huge(50 << 20), TooLarge, 1);
    let page = "<p>".repeat(10_000);
    meets("a long error page", &Answer::status(500, &page), Server, 3);
}

#[test]
fn cut_connections_are_tried_again() {
    meets("cut at once", &Answer::Cut, Connection, 3);
    meets("cut in the body", &Answer::CutBody, Connection, 3);
}

#[test]
fn silence_and_dripping_end_at_the_time_out() {
    meets("silence", &Answer::Silent(Duration::from_secs(30)), Timeout, 3);
    meets("a byte now and then", &Answer::Drip(Duration::from_millis(50)), Timeout, 3);
}

#[test]
fn nobody_listens() {
    for (detector, ..) in adapters("http://127.0.0.1:1") {
        let failure = ask(&*detector).unwrap_err();
        assert_eq!((failure.class, failure.usage.requests), (Connection, 3), "{}: {failure}", detector.name());
    }
}

#[test]
fn what_passes_later_gives_the_right_score() {
    for i in 0..adapters("http://127.0.0.1:1").len() {
        let (_, good, expected) = adapters("http://127.0.0.1:1").remove(i);
        let server = Server::start(move |_, before| match before {
            0 => Answer::status(503, "<html>busy</html>"),
            1 => Answer::Cut,
            _ => Answer::json(good),
        });
        let (detector, ..) = adapters(&server.address).remove(i);
        let verdict = ask(&*detector).unwrap();
        assert_eq!((verdict.score, verdict.usage.requests), (expected, 3), "{}", detector.name());
        assert_eq!(detector.caller().unwrap().retries(), 2);
    }
}

#[test]
fn retry_after_is_waited_for() {
    let waits = [("retry-after", "0.2"), ("retry-after-ms", "200")];
    for (header, value) in waits {
        let server = Server::start(move |_, before| match before {
            0 => Answer::Reply { status: 429, headers: vec![(header, value.into())], body: b"{}".to_vec() },
            _ => Answer::json(r#"{"results":[{"detector_type":"prompt_attack","result":"l5_unlikely"}]}"#),
        });
        let (lakera, ..) = adapters(&server.address).remove(0);
        assert_eq!(ask(&*lakera).unwrap().score, 0.0);
        let [first, second] = &server.received()[..] else { panic!("{}", server.received().len()) };
        assert!(second.at - first.at >= Duration::from_millis(200), "{header}: {:?}", second.at - first.at);
    }
}

#[test]
fn a_wait_that_is_too_long_ends_the_run() {
    let headers = vec![("retry-after", "86400".into())];
    let answer = Answer::Reply { status: 429, headers, body: b"{}".to_vec() };
    let server = Server::start(move |_, _| answer.clone());
    let (lakera, ..) = adapters(&server.address).remove(0);
    let failure = ask(&*lakera).unwrap_err();
    assert!(failure.fatal, "{failure}");
    assert!(failure.message.ends_with("the service asks to wait 86400 s"), "{failure}");
}
