use mail_parser::{Address, Message, MessageParser, MimeHeaders, PartType};

/// Addresses, links and attachment names of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MailFacts {
    /// The author's display name; empty when there is none.
    pub from_name: String,
    /// The author's address, in lower case; empty when there is none.
    pub from_address: String,
    /// The first address that answers go to, in lower case; empty when the message names none.
    pub reply_to: String,
    /// The links of HTML bodies, in order; at most 500.
    pub links: Vec<Link>,
    /// File names of attachments, decoded.
    pub attachments: Vec<String>,
    /// Whether an HTML body holds a form or a password field.
    pub form: bool,
}

/// A link of an HTML body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Link {
    /// Where it leads, as the attribute says, character references resolved.
    pub target: String,
    /// What a person reads, tags taken out.
    pub text: String,
}

/// Links that are kept of one message.
const MAX_LINKS: usize = 500;

/// Bytes after a link's tag that are looked at for its text.
const MAX_LINK_TEXT: usize = 2000;

/// Reads addresses, links and attachment names. Never fails: what cannot be read is left out.
#[must_use]
pub fn mail_facts(raw: &[u8]) -> MailFacts {
    // An mbox line in front of the header would make all of it unreadable.
    let raw = match raw.starts_with(b"From ").then(|| memchr::memchr(b'\n', raw)).flatten() {
        Some(end) => &raw[end + 1..],
        None => raw,
    };
    let Some(message) = MessageParser::default().parse(raw) else { return MailFacts::default() };
    let mut facts = MailFacts::default();
    if let Some((name, address)) = first(message.from()) {
        (facts.from_name, facts.from_address) = (name, address);
    }
    facts.reply_to = first(message.reply_to()).map(|(_, address)| address).unwrap_or_default();
    collect(&message, &mut facts, 0);
    facts
}

fn first(address: Option<&Address<'_>>) -> Option<(String, String)> {
    let first = address?.first()?;
    let name = first.name.as_deref().unwrap_or_default().trim().to_owned();
    Some((name, first.address.as_deref().unwrap_or_default().trim().to_lowercase()))
}

fn collect(message: &Message<'_>, facts: &mut MailFacts, depth: u32) {
    for part in &message.parts {
        if let Some(name) = part.attachment_name() {
            facts.attachments.push(name.to_owned());
        }
        match &part.body {
            PartType::Html(html) => html_facts(html, facts),
            PartType::Message(inner) if depth < 8 => collect(inner, facts, depth + 1),
            _ => {}
        }
    }
}

fn html_facts(html: &str, facts: &mut MailFacts) {
    let lower = html.to_ascii_lowercase();
    facts.form |= lower.contains("<form") || lower.contains("type=\"password\"") || lower.contains("type=password");
    let mut rest = 0;
    while facts.links.len() < MAX_LINKS {
        let Some(start) = lower[rest..].find("<a").map(|i| rest + i) else { return };
        rest = start + 2;
        if !lower[rest..].starts_with(|c: char| c.is_ascii_whitespace()) {
            continue;
        }
        let Some(tag_end) = lower[rest..].find('>').map(|i| rest + i) else { return };
        let Some(target) = attribute(&html[rest..tag_end], &lower[rest..tag_end], "href") else { continue };
        let mut end = html.len().min(tag_end + 1 + MAX_LINK_TEXT);
        while !html.is_char_boundary(end) {
            end -= 1;
        }
        let after = &lower[tag_end + 1..end];
        let closed = ["</a", "<a "].iter().filter_map(|t| after.find(t)).min().unwrap_or(after.len());
        let inside = &html[tag_end + 1..tag_end + 1 + closed];
        facts.links.push(Link { target: resolve(target.trim()), text: resolve(&strip_tags(inside)) });
        rest = tag_end + 1;
    }
}

/// The value of an attribute in the inside of a tag.
fn attribute<'a>(tag: &'a str, lower: &str, name: &str) -> Option<&'a str> {
    let mut from = 0;
    loop {
        let at = from + lower[from..].find(name)?;
        from = at + name.len();
        let value = tag[from..].trim_start();
        let before = tag[..at].chars().next_back();
        if let Some(value) = value.strip_prefix('=').filter(|_| before.is_none_or(char::is_whitespace)) {
            let value = value.trim_start();
            return Some(match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default(),
                _ => value.split(char::is_whitespace).next().unwrap_or_default(),
            });
        }
    }
}

fn strip_tags(html: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            _ if !inside => out.push(c),
            _ => {}
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Resolves the character references that addresses are written with.
fn resolve(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(i) = rest.find('&') {
        out.push_str(&rest[..i]);
        rest = &rest[i..];
        let end = rest.find(';').filter(|e| *e < 12);
        let named = end.and_then(|e| reference(&rest[1..e]));
        match (named, end) {
            (Some(c), Some(e)) => {
                out.push(c);
                rest = &rest[e + 1..];
            }
            _ => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn reference(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_links_and_names() {
        let raw = b"From someone Mon Jan  1 00:00:00 2024\nFrom: \"Bank =?utf-8?q?=C3=9Cber?=\" <Help@Bank.Example>\n\
            Reply-To: x@other.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n\
            <p><A class=x HREF='http://evil.example/?a=1&amp;b=2'><b>www.bank</b>.example</A> <abbr>no</abbr>\
            <a name=top>not</a><a href=#x>up</a><form action=x></form>\n--b\n\
            Content-Type: application/octet-stream\nContent-Disposition: attachment; filename=\"bill.pdf.exe\"\n\nMZ\n--b--\n";
        let facts = mail_facts(raw);
        assert_eq!((facts.from_address.as_str(), facts.reply_to.as_str()), ("help@bank.example", "x@other.example"));
        let link = |target: &str, text: &str| Link { target: target.into(), text: text.into() };
        assert_eq!(facts.links, [link("http://evil.example/?a=1&b=2", "www.bank.example"), link("#x", "up")]);
        assert_eq!(facts.attachments, ["bill.pdf.exe"]);
        assert!(facts.form);
    }

    #[test]
    fn broken_markup_ends() {
        for html in
            ["<a", "<a ", "<a href", "<a href=", "<a href='", "<a href=x>", "<a href=x><a href=y>", "<a \u{130}href=x>"]
        {
            let raw = format!("Content-Type: text/html\n\n{html}");
            assert!(mail_facts(raw.as_bytes()).links.len() <= 2, "{html}");
        }
        assert_eq!(mail_facts(b""), MailFacts::default());
    }
}
