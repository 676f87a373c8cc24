//! Content types and their parameters, in every reading.

use std::borrow::Cow;
use std::collections::VecDeque;

use mail_parser::HeaderValue;
use mail_parser::parsers::MessageStream;
use percent_encoding::percent_decode_str;

use crate::decode::words;

/// A media type in one reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Media {
    pub(super) kind: String,
    pub(super) subtype: String,
    pub(super) params: Vec<(String, String)>,
    /// Values that readers may take for the boundary, most likely first.
    pub(super) boundaries: Vec<String>,
    /// The boundary is continued or encoded as RFC 2231 says, so that some readers see none.
    pub(super) extended_boundary: bool,
    /// Values for the boundary were left out.
    pub(super) cut_boundaries: bool,
    /// The value is no media type; readers take text/plain or guess.
    pub(super) invalid: bool,
}

impl Media {
    pub(super) fn new(kind: &str, subtype: &str) -> Self {
        Self {
            kind: kind.into(),
            subtype: subtype.into(),
            params: Vec::new(),
            boundaries: Vec::new(),
            extended_boundary: false,
            cut_boundaries: false,
            invalid: false,
        }
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
        let (boundaries, extended_boundary, cut_boundaries) =
            if kind == "multipart" || memchr::memmem::find(value, b"oundary").is_some() {
                boundaries(value, &params)
            } else {
                (Vec::new(), false, false)
            };
        if invalid {
            let mut media = Self::new("text", "plain");
            // Commonly seen: `text`, `html`, `multipart`.
            if kind == "html" || (kind == "text" && subtype.starts_with("html")) {
                media.subtype = "html".into();
            } else if kind.starts_with("multipart") && !boundaries.is_empty() {
                media = Self::new("multipart", "mixed");
            }
            return Self { params, boundaries, extended_boundary, cut_boundaries, invalid: true, ..media };
        }
        Self { kind, subtype, params, boundaries, extended_boundary, cut_boundaries, invalid }
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

/// Every value that some reader takes for the boundary; of very many the first eight and the last three, as one parameter gives three
/// at most. Whether the parameter is an extended one; whether values were left out.
fn boundaries(value: &[u8], params: &[(String, String)]) -> (Vec<String>, bool, bool) {
    let mut found: Vec<String> = Vec::new();
    let mut last: VecDeque<String> = VecDeque::new();
    let mut cut = false;
    let mut add = |candidate: &str| {
        // White space at the end is not part of a boundary; a delimiter line may end in white space anyway.
        let candidate = candidate.trim_end();
        if candidate.len() > 1000 || found.iter().chain(&last).any(|f| f == candidate) {
            return;
        }
        if found.len() < 8 {
            found.push(candidate.to_owned());
            return;
        }
        if last.len() == 3 {
            last.pop_front();
            cut = true;
        }
        last.push_back(candidate.to_owned());
    };
    let text = String::from_utf8_lossy(value);
    let lower = text.to_ascii_lowercase();
    let pieces = extended(&text, &lower);
    if pieces.is_empty() {
        params.iter().filter(|(name, _)| name == "boundary").for_each(|(_, value)| add(value));
    } else {
        // mail-parser joins the pieces to a plain `boundary` that stands beside them, so they are put together here: by number, as
        // they are written, and each piece alone, undecoded too.
        let mut sorted: Vec<&Piece> = pieces.iter().collect();
        sorted.sort_by_key(|p| p.number);
        add(&sorted.iter().map(|p| p.decoded.as_str()).collect::<String>());
        add(&pieces.iter().map(|p| p.decoded.as_str()).collect::<String>());
        sorted.iter().take(2).for_each(|p| add(p.raw));
    }
    let places: Vec<usize> = lower.match_indices("boundary").map(|(at, _)| at).collect();
    // Each costs a look at all that follows.
    let skipped = 64..places.len().saturating_sub(8).max(64);
    for (_, &at) in places.iter().enumerate().filter(|(i, _)| !skipped.contains(i)) {
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
    found.extend(last);
    (found, !pieces.is_empty(), cut || !skipped.is_empty())
}

/// A piece of a boundary by RFC 2231: `boundary*0=`, `boundary*1*=`, `boundary*=`.
struct Piece<'a> {
    number: u32,
    raw: &'a str,
    decoded: String,
}

/// The pieces of an extended boundary, as they are written; at most 100.
fn extended<'a>(text: &'a str, lower: &str) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    for (at, mark) in lower.match_indices("boundary*").take(100) {
        let rest = &text[at + mark.len()..];
        let Some((number, value)) = rest.split_once('=') else { break };
        let number = number.trim();
        let digits = number.trim_end_matches('*').trim();
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        let value = value.trim_start();
        let raw = match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            None => value.split([';', ' ', '\t']).next().unwrap_or_default(),
        };
        let encoded = digits.is_empty() || number.ends_with('*');
        let number = digits.parse().unwrap_or(0);
        let decoded = if encoded {
            // The first piece begins with a charset and a language.
            let value = raw.splitn(3, '\'').nth(2).filter(|_| number == 0).unwrap_or(raw);
            percent_decode_str(value).decode_utf8_lossy().into_owned()
        } else {
            raw.to_owned()
        };
        if !pieces.iter().any(|p| p.number == number) {
            pieces.push(Piece { number, raw, decoded });
        }
    }
    pieces
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

    #[test]
    fn of_very_many_boundaries_the_last_is_kept() {
        let of = |count: usize| {
            let list: Vec<String> = (1..=count).map(|i| format!("; boundary=b{i}")).collect();
            Media::parse(format!("multipart/mixed{}", list.concat()).as_bytes())
        };
        let all = of(11);
        assert_eq!((all.boundaries.len(), all.cut_boundaries), (11, false));
        let some = of(20);
        assert_eq!((some.boundaries.len(), some.cut_boundaries), (11, true));
        assert_eq!(some.boundaries.last().map(String::as_str), Some("b20"));
        let most = of(2000);
        assert_eq!((most.boundaries.last().map(String::as_str), most.cut_boundaries), (Some("b2000"), true));
    }

    #[test]
    fn extended_boundaries() {
        for (raw, first, others) in [
            ("boundary*0=\"ab\"; boundary*1=\"cd\"", "abcd", &["ab", "cd"][..]),
            ("boundary*1=cd; Boundary*0=ab", "abcd", &["cdab", "ab", "cd"]),
            ("boundary*=us-ascii'en'a%62c", "abc", &["us-ascii'en'a%62c"]),
            ("boundary*0*=us-ascii''a%62; boundary*1=\"%63\"", "ab%63", &["%63"]),
            ("boundary=x; boundary*0=ab; boundary*1=cd", "abcd", &["ab", "cd", "x"]),
        ] {
            let media = Media::parse(format!("multipart/mixed; {raw}").as_bytes());
            assert!(media.extended_boundary, "{raw}");
            assert_eq!(media.boundaries[0], first, "{raw}");
            for other in others {
                assert!(media.boundaries.iter().any(|b| b == other), "{raw}: {:?}", media.boundaries);
            }
        }
        assert!(!Media::parse(b"multipart/mixed; boundary=\"a*0\"").extended_boundary);
    }
}
