//! Content types and their parameters, in every reading.

use std::borrow::Cow;

use mail_parser::HeaderValue;
use mail_parser::parsers::MessageStream;

use crate::decode::words;

/// A media type in one reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Media {
    pub(super) kind: String,
    pub(super) subtype: String,
    pub(super) params: Vec<(String, String)>,
    /// Values that readers may take for the boundary, most likely first.
    pub(super) boundaries: Vec<String>,
    /// The value is no media type; readers take text/plain or guess.
    pub(super) invalid: bool,
}

impl Media {
    pub(super) fn new(kind: &str, subtype: &str) -> Self {
        Self { kind: kind.into(), subtype: subtype.into(), params: Vec::new(), boundaries: Vec::new(), invalid: false }
    }

    pub(super) fn is(&self, kind: &str, subtype: &str) -> bool {
        self.kind == kind && self.subtype == subtype
    }

    pub(super) fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Distinct values of a parameter that is given more than once.
    pub(super) fn param_values(&self, name: &str) -> Vec<&str> {
        let mut values: Vec<&str> = Vec::new();
        for (n, v) in &self.params {
            if n == name && !values.contains(&v.as_str()) {
                values.push(v);
            }
        }
        values
    }

    /// Reads a raw Content-Type value.
    pub(super) fn parse(raw: &[u8]) -> Self {
        let value = words::unfold(raw);
        let value = value.trim_ascii();
        let (kind, subtype, params) = parse_params(value);
        let token =
            |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&b));
        let invalid = !token(&kind) || !token(&subtype);
        let boundaries = if kind == "multipart" || memchr::memmem::find(value, b"oundary").is_some() {
            boundaries(value, &params)
        } else {
            Vec::new()
        };
        if invalid {
            let mut media = Self::new("text", "plain");
            // Commonly seen: `text`, `html`, `multipart`.
            if kind == "html" || (kind == "text" && subtype.starts_with("html")) {
                media.subtype = "html".into();
            } else if kind.starts_with("multipart") && !boundaries.is_empty() {
                media = Self::new("multipart", "mixed");
            }
            return Self { params, boundaries, invalid: true, ..media };
        }
        Self { kind, subtype, params, boundaries, invalid }
    }
}

/// A disposition or content type by mail-parser: the two words before the parameters, lower case, and the parameters in order.
pub(super) fn parse_params(value: &[u8]) -> (String, String, Vec<(String, String)>) {
    let mut line = Vec::with_capacity(value.len() + 1);
    line.extend_from_slice(value);
    line.push(b'\n');
    let HeaderValue::ContentType(parsed) = MessageStream::new(&line).parse_content_type() else {
        return Default::default();
    };
    let lower = |t: &Cow<'_, str>| t.trim().to_ascii_lowercase();
    let params = parsed.attributes.unwrap_or_default();
    (
        lower(&parsed.c_type),
        parsed.c_subtype.as_ref().map(lower).unwrap_or_default(),
        params.into_iter().map(|a| (a.name.trim().to_ascii_lowercase(), a.value.into_owned())).collect(),
    )
}

/// Every value that some reader takes for the boundary.
fn boundaries(value: &[u8], params: &[(String, String)]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |candidate: &str| {
        // White space at the end is not part of a boundary; a delimiter line may end in white space anyway.
        let candidate = candidate.trim_end();
        if candidate.len() <= 1000 && !found.iter().any(|f| f == candidate) && found.len() < 6 {
            found.push(candidate.to_owned());
        }
    };
    for (name, value) in params {
        if name == "boundary" {
            add(value);
        }
    }
    let text = String::from_utf8_lossy(value);
    let lower = text.to_ascii_lowercase();
    for (at, _) in lower.match_indices("boundary") {
        let rest = text[at + 8..].trim_start();
        let Some(rest) = rest.strip_prefix('=') else { continue };
        let rest = rest.trim_start();
        let odd = rest.contains(['\\', '(', '\'']) || rest.matches('"').count() % 2 == 1;
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').unwrap_or(quoted.len());
            add(&quoted[..end]);
            if odd {
                add(&quoted[..quoted.rfind('"').unwrap_or(quoted.len())]);
                add(quoted.split(';').next().unwrap_or_default());
            }
        } else {
            let token = rest.split(';').next().unwrap_or_default();
            add(token);
            add(token.split_ascii_whitespace().next().unwrap_or_default());
            if odd {
                add(token.trim().trim_matches(['"', '\'']));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_values() {
        let media = Media::parse(b" Text/HTML; Charset=\"utf-8\"\r\n");
        assert!(media.is("text", "html"));
        assert_eq!(media.param("charset"), Some("utf-8"));
        assert!(!media.invalid);
    }

    #[test]
    fn invalid_values_are_text() {
        assert!(Media::parse(b"text").invalid);
        assert!(Media::parse(b"").is("text", "plain"));
    }

    #[test]
    fn every_reading_of_a_boundary() {
        let of = |raw: &str| Media::parse(raw.as_bytes()).boundaries;
        assert_eq!(of("multipart/mixed; boundary=abc"), ["abc"]);
        assert_eq!(of("multipart/mixed; boundary=\"abc \""), ["abc"]);
        assert!(of("multipart/mixed; boundary=a; boundary=b").starts_with(&["a".into(), "b".into()]));
        assert!(of("multipart/mixed; boundary=\"abc").contains(&"abc".to_owned()));
        assert!(of("multipart/mixed; boundary='abc'").contains(&"abc".to_owned()));
        assert!(of("multipart/mixed; boundary=abc def").contains(&"abc".to_owned()));
        assert_eq!(of("multipart/mixed; boundary=\"\""), [""]);
        assert_eq!(of("multipart/mixed; boundary*0=ab; boundary*1=c")[0], "abc");
    }
}
