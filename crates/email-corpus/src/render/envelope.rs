use mail_builder::MessageBuilder;
use mail_builder::headers::address::Address;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::date::Date;
use mail_builder::mime::MimePart;
use sha2::{Digest, Sha256};

use crate::CorpusError;
use crate::manifest::hex;

/// Monday 3 March 2025, 08:00 UTC: the first moment a rendered message can have been sent.
const FIRST_DATE: i64 = 1_740_988_800;
/// Minutes of the half-year that the dates are spread over.
const DATE_SPAN: u64 = 182 * 24 * 60;

/// What a rendered message has that would otherwise come from the clock or from chance; all of it follows from the record's id.
pub(super) struct Fixed {
    digest: [u8; 32],
}

impl Fixed {
    pub(super) fn new(id: &str) -> Self {
        Self { digest: Sha256::digest(id.as_bytes()).into() }
    }

    /// A number below `n` that follows from the id; `salt` tells several uses apart.
    pub(super) fn pick(&self, salt: u8, n: u64) -> u64 {
        let mut hash = Sha256::new();
        hash.update(self.digest);
        hash.update([salt]);
        let bytes: [u8; 32] = hash.finalize().into();
        bytes.iter().take(8).fold(0_u64, |value, b| value << 8 | u64::from(*b)) % n
    }

    /// Seconds since 1970 at which the message was sent.
    pub(super) fn date(&self) -> i64 {
        FIRST_DATE + 60 * i64::try_from(self.pick(0, DATE_SPAN)).unwrap_or(0)
    }

    pub(super) fn message_id(&self, from_address: &str) -> String {
        let domain = from_address.rsplit('@').next().unwrap_or("wardline.example");
        format!("{}@{domain}", hex(&self.digest[..10]))
    }

    /// A multipart part with the n-th boundary of the message.
    pub(super) fn multipart<'x>(&self, n: u8, subtype: &str, parts: Vec<MimePart<'x>>) -> MimePart<'x> {
        let boundary = format!("=_{n}_{}", hex(&self.digest[10..22]));
        MimePart::new(ContentType::new(format!("multipart/{subtype}")).attribute("boundary", boundary), parts)
    }
}

/// Sender, recipient and subject of a rendered message.
pub(super) struct Envelope<'a> {
    pub from: (&'a str, &'a str),
    pub to: (&'a str, &'a str),
    pub reply_to: Option<&'a str>,
    pub subject: &'a str,
}

impl Envelope<'_> {
    /// Puts the headers and the body together; `more` goes before the body's own headers.
    pub(super) fn seal(
        &self,
        id: &str,
        fixed: &Fixed,
        more: &[(String, String)],
        body: MimePart<'_>,
    ) -> Result<Vec<u8>, CorpusError> {
        let mut message = MessageBuilder::new()
            .header("Date", Date::new(fixed.date()))
            .from(mailbox(self.from))
            .to(mailbox(self.to))
            .subject(subject_text(self.subject))
            .message_id(fixed.message_id(self.from.1));
        if let Some(address) = self.reply_to {
            message = message.reply_to(address.to_owned());
        }
        for (name, value) in more {
            message = message.header(name.clone(), mail_builder::headers::raw::Raw::new(one_line(value)));
        }
        message.body(body).write_to_vec().map_err(|e| CorpusError::Render { id: id.to_owned(), message: e.to_string() })
    }
}

fn mailbox<'x>((name, address): (&str, &str)) -> Address<'x> {
    let name = one_line(name);
    Address::new_address((!name.is_empty()).then_some(name), address.to_owned())
}

/// The builder writes short ASCII as it stands, and a reader would then decode what only looks like an encoded word; with a space at
/// its end the builder encodes the subject.
fn subject_text(subject: &str) -> String {
    let mut line = one_line(subject);
    if line.contains("=?") {
        line.push(' ');
    }
    line
}

/// A header holds one line: each run of line breaks, with the white space around it, becomes a space.
pub(super) fn one_line(text: &str) -> String {
    text.split(['\r', '\n']).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Mail knows one line break: CR LF and lone CR become LF here and CR LF on the wire.
pub(super) fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// The paragraphs of a body, parted by blank lines; empty ones are left out.
pub(super) fn paragraphs(parts: &[&str]) -> String {
    let kept: Vec<String> = parts.iter().filter(|p| !p.trim().is_empty()).map(|p| lines(p)).collect();
    let mut text = kept.join("\n\n");
    text.push('\n');
    text
}

/// Checks that a text can stand in a subject, in HTML and in a PDF alike: no control character but tab and line breaks, and no
/// character that Unicode sets aside.
///
/// # Errors
/// Names the first such character.
pub fn check_text(text: &str) -> Result<(), String> {
    let bad = |c: &char| {
        let code = u32::from(*c);
        (c.is_control() && !matches!(c, '\t' | '\r' | '\n'))
            || code & 0xfffe == 0xfffe
            || (0xfdd0..=0xfdef).contains(&code)
            || *c == '\u{fffd}'
    };
    match text.chars().find(bad) {
        Some(c) => Err(format!("holds the character U+{:04X}", u32::from(c))),
        None => Ok(()),
    }
}

/// Defangs the web addresses of a text: `http` becomes `hxxp`, and the dots of the host are put in brackets. What is defanged already stays.
///
/// ```
/// use wardline_email_corpus::defang;
///
/// assert_eq!(defang("see https://a.example.com/x.html."), "see hxxps://a[.]example[.]com/x.html.");
/// assert_eq!(defang("hxxps://a[.]example/"), "hxxps://a[.]example/");
/// assert_eq!(defang("www.example.com and me@example.com"), "www[.]example[.]com and me@example.com");
/// ```
#[must_use]
pub fn defang(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, scheme)) = next_address(rest) {
        out.push_str(&rest[..at]);
        out.push_str(match scheme.len() {
            8 => "hxxps://",
            7 => "hxxp://",
            _ => "",
        });
        let host = &rest[at + scheme.len()..];
        let end =
            host.find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '@'))).unwrap_or(host.len());
        let trimmed = host[..end].trim_end_matches('.').len();
        out.push_str(&host[..trimmed].replace('.', "[.]"));
        rest = &host[trimmed..];
    }
    out.push_str(rest);
    out
}

/// The next address that begins with a scheme or `www.`, and that scheme (empty for `www.`).
fn next_address(text: &str) -> Option<(usize, &str)> {
    let lower = text.to_ascii_lowercase();
    ["https://", "http://", "www."]
        .into_iter()
        .filter_map(|mark| {
            let starts =
                |at: &usize| mark != "www." || !lower[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '.');
            let at = lower.match_indices(mark).map(|(at, _)| at).find(starts)?;
            Some((at, if mark == "www." { &text[at..at] } else { &text[at..at + mark.len()] }))
        })
        .min_by_key(|(at, _)| *at)
}
