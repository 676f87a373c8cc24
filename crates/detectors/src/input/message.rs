use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use wardline_email_corpus::{Addresses, DetectorInput};

/// A raw message of a record's fields, for records without one: what a mail server would have been given. The same fields give the
/// same bytes.
///
/// Header fields are UTF-8 with line breaks taken out; bodies are base64.
#[must_use]
pub fn message_of_fields(fields: &DetectorInput) -> Vec<u8> {
    let mut out = String::new();
    let mut header = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            out.push_str(&format!("{name}: {}\r\n", value.split(['\r', '\n', '\0']).collect::<Vec<_>>().join(" ")));
        }
    };
    header("From", fields.from.clone());
    header("To", fields.to.as_ref().map(addresses));
    header("Cc", fields.cc.as_ref().map(addresses));
    header("Reply-To", fields.reply_to.clone());
    header("Subject", fields.subject.clone());
    header("MIME-Version", Some("1.0".into()));
    let body = fields.body.clone().unwrap_or_default();
    match (body.text, body.html) {
        (Some(text), Some(html)) => {
            // Base64 lines hold no hyphen, so no body holds the boundary.
            out.push_str("Content-Type: multipart/alternative; boundary=\"--parts--\"\r\n\r\n");
            for (kind, content) in [("plain", text), ("html", html)] {
                out.push_str("----parts--\r\n");
                part(&mut out, kind, &content);
            }
            out.push_str("----parts----\r\n");
        }
        (text, None) => part(&mut out, "plain", &text.unwrap_or_default()),
        (None, Some(html)) => part(&mut out, "html", &html),
    }
    out.into_bytes()
}

fn addresses(addresses: &Addresses) -> String {
    match addresses {
        Addresses::Line(line) => line.clone(),
        Addresses::List(list) => list.join(", "),
    }
}

fn part(out: &mut String, kind: &str, content: &str) {
    out.push_str(&format!("Content-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"));
    for line in content.as_bytes().chunks(57) {
        STANDARD.encode_string(line, out);
        out.push_str("\r\n");
    }
}

#[cfg(test)]
mod tests {
    use wardline_email_corpus::Body;
    use wardline_segments::{Limits, extract, flatten};

    use super::*;

    fn fields(text: Option<&str>, html: Option<&str>) -> DetectorInput {
        DetectorInput {
            from: Some("Zoë <zoe@mill.example>".into()),
            subject: Some("Grüße\r\nBcc: everybody@mill.example".into()),
            body: Some(Body { text: text.map(Into::into), html: html.map(Into::into), extra: Default::default() }),
            ..DetectorInput::default()
        }
    }

    #[test]
    fn what_goes_in_comes_out_of_the_extractor() {
        let long = "Straße und Fluß, ".repeat(40);
        let raw = message_of_fields(&fields(Some(&long), Some("<p>other words entirely</p>")));
        let text = flatten(&extract(&raw, &Limits::default()));
        for expected in [long.trim(), "other words entirely", "Grüße  Bcc: everybody@mill.example", "Zoë"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(!String::from_utf8(raw).unwrap().contains("\r\nBcc:"));
    }

    #[test]
    fn every_combination_of_bodies_is_a_message() {
        for (text, html) in [(None, None), (Some("a b c"), None), (None, Some("<b>a b c</b>"))] {
            let extraction = extract(&message_of_fields(&fields(text, html)), &Limits::default());
            let body = flatten(&extraction);
            assert_eq!(body.contains("a b c"), text.or(html).is_some(), "{body}");
        }
    }
}
