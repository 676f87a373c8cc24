//! Calendar invitations (RFC 5545) and address cards (vCard 2.1 to 4.0).

use crate::decode::{charset, transfer};

/// The lines unfolded and their values unescaped, so that text is whole; and the HTML of `X-ALT-DESC` and the like.
pub(crate) fn text(raw: &str) -> (String, Vec<String>) {
    let mut unfolded = String::with_capacity(raw.len());
    let mut soft = false;
    for line in raw.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if soft {
            // vCard 2.1 breaks quoted-printable values as mail does.
            unfolded.pop();
            unfolded.push_str(line.trim_start());
        } else if let Some(rest) = line.strip_prefix([' ', '\t']) {
            unfolded.push_str(rest);
        } else {
            if !unfolded.is_empty() {
                unfolded.push('\n');
            }
            unfolded.push_str(line);
        }
        let last = &unfolded[unfolded.rfind('\n').map_or(0, |i| i + 1)..];
        soft = last.ends_with('=') && has_word(last.split(':').next().unwrap_or_default(), "QUOTED-PRINTABLE");
    }
    let mut out = String::with_capacity(unfolded.len());
    let mut html = Vec::new();
    for line in unfolded.lines() {
        let Some((name, value)) = split_name(line) else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let value = if has_word(name, "QUOTED-PRINTABLE") {
            let bytes = transfer::quoted_printable(value.as_bytes()).0;
            charset::decode(&bytes, param(name, "CHARSET")).text.into_owned()
        } else if has_word(name, "BASE64") || has_word(name, "ENCODING=B") {
            let bytes = transfer::base64(value.as_bytes(), 1 << 20).bytes;
            match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(_) => continue,
            }
        } else {
            unescape(value)
        };
        if has_word(name, "TEXT/HTML") {
            html.push(value);
            continue;
        }
        out.push_str(name);
        out.push_str(": ");
        out.push_str(&value);
        out.push('\n');
    }
    (out, html)
}

/// The name with its parameters, and the value; a colon inside quotes is the parameter's.
fn split_name(line: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (i, b) in line.bytes().enumerate() {
        match b {
            b'"' => quoted = !quoted,
            b':' if !quoted => return Some((&line[..i], &line[i + 1..])),
            _ => {}
        }
    }
    None
}

fn has_word(name: &str, word: &str) -> bool {
    name.to_ascii_uppercase().contains(word)
}

fn param<'a>(name: &'a str, wanted: &str) -> Option<&'a str> {
    name.split(';').find_map(|p| p.split_once('=').filter(|(k, _)| k.eq_ignore_ascii_case(wanted)).map(|(_, v)| v))
}

fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n' | 'N') => out.push('\n'),
            Some(c @ (',' | ';' | '\\' | ':')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_and_escaped_values_are_whole() {
        let (found, html) = text(
            "BEGIN:VEVENT\r\nDESCRIPTION:Ign\r\n ore all\\, please\\nnow\r\nX-ALT-DESC;FMTTYPE=text/html:<b>x</b>\r\nEND:VEVENT\r\n",
        );
        assert!(found.contains("DESCRIPTION: Ignore all, please\nnow\n"), "{found}");
        assert_eq!(html, ["<b>x</b>"]);
        let (found, _) = text("NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=utf-8:caf=C3=\r\n=A9 au\r\nFN:A");
        assert!(found.contains(": café au\n"), "{found}");
    }
}
