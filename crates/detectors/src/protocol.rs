//! One message and one verdict as JSON: what a program or a service of one's own is given, and answers.

use serde::{Deserialize, Serialize};
use wardline_segments::{Segment, Signals};

use crate::prediction::checked;
use crate::{Action, ErrorClass, Failure, Input, Needs, Verdict};

/// The protocol's name and version, in every request's `schema`.
pub const MAIL_PROTOCOL: &str = "wardline-mail/1";

/// What goes into a request.
pub(crate) fn needs(raw: bool) -> Needs {
    Needs { raw, segments: true, text: true, structured: true, ..Needs::NONE }
}

/// A record's own id tells what it is, so a request has a number instead, and no label.
#[derive(Serialize)]
pub(crate) struct Request<'a> {
    schema: &'static str,
    id: u64,
    subject: &'a str,
    from: &'a str,
    body: &'a str,
    text: &'a str,
    segments: &'a [Segment],
    signals: &'a Signals,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_base64: Option<String>,
}

impl<'a> Request<'a> {
    pub(crate) fn new(id: u64, input: &'a Input, raw: bool) -> Result<Self, Failure> {
        let (structured, extraction) = (input.structured()?, input.extraction()?);
        Ok(Self {
            schema: MAIL_PROTOCOL,
            id,
            subject: &structured.subject,
            from: &structured.from,
            body: &structured.body,
            text: input.text()?,
            segments: &extraction.segments,
            signals: &extraction.signals,
            raw_base64: if raw { Some(crate::base64(input.raw()?)) } else { None },
        })
    }

    pub(crate) fn to_json(&self) -> Result<Vec<u8>, Failure> {
        serde_json::to_vec(self)
            .map_err(|e| Failure::new(ErrorClass::Input, format!("the message cannot be written as JSON: {e}")))
    }
}

#[derive(Deserialize)]
struct Reply {
    id: u64,
    score: Option<f64>,
    flagged: Option<bool>,
    action: Option<Action>,
    #[serde(default)]
    categories: Vec<String>,
    pi_score: Option<f64>,
    phi_score: Option<f64>,
    error: Option<String>,
}

/// Reads a reply to the request of the number.
pub(crate) fn read_reply(reply: &[u8], id: u64) -> Result<Verdict, Failure> {
    let reply_start = || start(&String::from_utf8_lossy(reply));
    let no_verdict = |e| format!("the answer {:?} is no verdict: {e}", reply_start());
    let parsed = serde_json::from_slice(reply).map_err(|e| Failure::new(ErrorClass::Reply, no_verdict(e)))?;
    verdict(parsed, id)
}

/// Reads a reply that is JSON already.
#[cfg(feature = "http")]
pub(crate) fn read_value(reply: &serde_json::Value, id: u64) -> Result<Verdict, Failure> {
    let parsed = Reply::deserialize(reply)
        .map_err(|e| Failure::new(ErrorClass::Reply, format!("the answer is no verdict: {e}")))?;
    verdict(parsed, id)
}

fn verdict(parsed: Reply, id: u64) -> Result<Verdict, Failure> {
    if parsed.id != id {
        return Err(Failure::new(
            ErrorClass::Program,
            format!("the answer is to message {} and not to {id}", parsed.id),
        ));
    }
    if let Some(error) = parsed.error {
        return Err(Failure::new(ErrorClass::Refused, format!("the detector says: {}", start(&error))));
    }
    let score = parsed.score.ok_or_else(|| Failure::new(ErrorClass::Reply, "the answer has no score"))?;
    let mut verdict = Verdict::from_score(score)?;
    verdict.pi_score = parsed.pi_score.map(checked).transpose()?;
    verdict.phi_score = parsed.phi_score.map(checked).transpose()?;
    verdict.action = parsed.action.unwrap_or(verdict.action);
    verdict.flagged = parsed.flagged.unwrap_or(verdict.action != Action::Allow);
    verdict.categories = parsed.categories;
    Ok(verdict)
}

/// The first 200 characters, on one line.
pub(crate) fn start(text: &str) -> String {
    text.trim().chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_nothing_of_the_record() {
        let input = Input::from_message("pi_0001_plaintext", "Subject: Hi\nFrom: A <a@mill.example>\n\nText.\n");
        let request = Request::new(3, &input, true).unwrap().to_json().unwrap();
        let text = String::from_utf8(request).unwrap();
        assert!(text.starts_with(r#"{"schema":"wardline-mail/1","id":3,"subject":"Hi","#), "{text}");
        for secret in ["pi_0001", "label", "benign", "surface"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        assert!(text.contains(r#""raw_base64":"U3ViamVjdDog"#));
    }

    #[test]
    fn replies() {
        let verdict = read_reply(br#"{"id":1,"score":0.5,"categories":["x"],"more":1}"#, 1).unwrap();
        assert_eq!((verdict.score, verdict.flagged, verdict.action), (0.5, true, Action::Review));
        let verdict =
            read_reply(br#"{"id":1,"score":0.5,"flagged":false,"action":"allow","pi_score":0.25}"#, 1).unwrap();
        assert_eq!((verdict.flagged, verdict.action, verdict.pi_score), (false, Action::Allow, Some(0.25)));
        for (reply, class) in [
            (r#"{"id":1,"score":NaN}"#, ErrorClass::Reply),
            (r#"{"id":1,"score":1.5}"#, ErrorClass::Reply),
            (r#"{"id":1,"score":1e999}"#, ErrorClass::Reply),
            (r#"{"id":1,"score":null}"#, ErrorClass::Reply),
            (r#"{"id":1,"score":"0.5"}"#, ErrorClass::Reply),
            (r#"{"id":1,"score":0.5,"phi_score":7}"#, ErrorClass::Reply),
            (r#"{"id":1}"#, ErrorClass::Reply),
            ("", ErrorClass::Reply),
            ("\u{fffd}", ErrorClass::Reply),
            (r#"{"id":2,"score":0.5}"#, ErrorClass::Program),
            (r#"{"id":1,"error":"out of memory"}"#, ErrorClass::Refused),
        ] {
            assert_eq!(read_reply(reply.as_bytes(), 1).unwrap_err().class, class, "{reply}");
        }
    }
}
