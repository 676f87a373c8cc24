//! Display names of address fields.

use mail_parser::parsers::MessageStream;
use mail_parser::{Address, HeaderValue};

use crate::decode::{charset, words};

/// Most names that are taken from one field, but for the last.
const MOST: usize = 200;

/// The display names of an address field.
pub(super) struct Names {
    /// In order, each once; of very many the first and the last.
    pub(super) names: Vec<String>,
    /// Readers differ over the encoded words.
    pub(super) odd: bool,
    /// Names were left out.
    pub(super) cut: bool,
}

/// The display names in an address field. Readers show a name that is an address too.
pub(super) fn display_names(raw: &[u8]) -> Names {
    let (line, odd) = readable(raw);
    let mut names: Vec<String> = Vec::new();
    let mut last: Option<String> = None;
    let mut cut = false;
    let mut add = |name: Option<&str>| {
        let Some(name) = name.map(str::trim).filter(|n| !n.is_empty()) else { return };
        if names.iter().chain(&last).any(|n| n == name) {
            return;
        }
        if names.len() < MOST {
            names.push(name.to_owned());
        } else {
            cut |= last.replace(name.to_owned()).is_some();
        }
    };
    if let HeaderValue::Address(parsed) = MessageStream::new(&line).parse_address() {
        match &parsed {
            Address::List(list) => list.iter().for_each(|a| add(a.name.as_deref())),
            Address::Group(groups) => {
                for group in groups {
                    add(group.name.as_deref());
                    group.addresses.iter().for_each(|a| add(a.name.as_deref()));
                }
            }
        }
    }
    names.extend(last);
    Names { names, odd, cut }
}

/// The field as mail-parser reads it best: one line of UTF-8, and each run of encoded words (which it would decode one by one, and
/// without some charsets) as a quoted string.
fn readable(raw: &[u8]) -> (Vec<u8>, bool) {
    let unfolded = words::unfold(raw);
    let mut line = Vec::with_capacity(unfolded.len() + 8);
    let mut odd = false;
    if memchr::memmem::find(&unfolded, b"=?").is_none() {
        match std::str::from_utf8(&unfolded) {
            Ok(text) => line.extend_from_slice(text.as_bytes()),
            Err(_) => line.extend_from_slice(charset::decode(&unfolded, None).text.as_bytes()),
        }
    } else {
        let text = String::from_utf8_lossy(&unfolded).into_owned();
        let mut rest = text.as_str();
        while let Some(start) = rest.find("=?") {
            line.extend_from_slice(&rest.as_bytes()[..start]);
            let run = run_of_words(&rest[start..]);
            let decoded = words::decode(&rest.as_bytes()[start..start + run]);
            odd |= decoded.odd;
            // Inside quotes already, the words stand for themselves.
            let quoted = line.iter().filter(|b| **b == b'"').count() % 2 == 1;
            if !quoted {
                line.push(b'"');
            }
            for b in decoded.text.bytes() {
                if matches!(b, b'"' | b'\\') {
                    line.push(b'\\');
                }
                line.push(b);
            }
            if !quoted {
                line.extend_from_slice(b"\" ");
            }
            rest = &rest[start + run..];
        }
        line.extend_from_slice(rest.as_bytes());
    }
    line.push(b'\n');
    (line, odd)
}

/// Length of the encoded words at the start of `text` that only white space parts; at least 2.
fn run_of_words(text: &str) -> usize {
    let mut end = 2;
    let mut at = 0;
    while text[at..].starts_with("=?") {
        // charset ? encoding ? payload ?=
        let Some(charset) = text[at + 2..].find('?').map(|i| at + 2 + i) else { break };
        let Some(encoding) = text[charset + 1..].find('?').map(|i| charset + 1 + i) else { break };
        let Some(close) = text[encoding + 1..].find("?=").map(|i| encoding + 3 + i) else { break };
        end = close;
        at = close + text[close..].len() - text[close..].trim_start().len();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(raw: &str) -> Vec<String> {
        display_names(raw.as_bytes()).names
    }

    #[test]
    fn of_very_many_the_last_is_kept() {
        let of = |count: usize| {
            let list: Vec<String> = (1..=count).map(|i| format!("N{i} <a@example.com>")).collect();
            display_names(list.join(", ").as_bytes())
        };
        let all = of(201);
        assert_eq!((all.names.len(), all.cut), (201, false));
        let some = of(300);
        assert_eq!((some.names.len(), some.cut), (201, true));
        assert_eq!(some.names.last().map(String::as_str), Some("N300"));
    }

    #[test]
    fn names_of_every_form() {
        assert_eq!(names("Ann Lee <ann@example.com>, \"Lee, Bob\" <b@example.com>"), ["Ann Lee", "Lee, Bob"]);
        assert_eq!(names("c@example.com (Cy)"), ["Cy"]);
        assert_eq!(names("plain@example.com"), [""; 0]);
        assert_eq!(names("=?utf-8?Q?Ann=2C_the?= =?utf-8?Q?_boss?= <a@example.com>"), ["Ann, the boss"]);
        assert_eq!(names("\"=?utf-8?B?QW5u?=\" <a@example.com>"), ["Ann"]);
    }
}
