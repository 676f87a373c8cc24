use mail_parser::{MessageParser, MimeHeaders, PartType};
use sha2::{Digest, Sha256};

use super::category;
use crate::import::MailFile;

/// Bytes of body text that selection looks at.
const BODY_BYTES: usize = 64 << 10;
/// A message with more nested messages than this is not parsed: the parser recurses.
const MAX_NESTED: usize = 200;

/// A message as it was found, and what selection needs to know of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FoundMail {
    /// Where it was found, such as `easy_ham`.
    pub collection: String,
    /// Its name there.
    pub name: String,
    /// The raw message.
    pub bytes: Vec<u8>,
    /// SHA-256 of the raw message.
    pub digest: [u8; 32],
    /// `From`, decoded.
    pub from: Option<String>,
    /// `To`, decoded.
    pub to: Option<String>,
    /// Subject, decoded.
    pub subject: String,
    /// Text of the body, HTML as text; at most 64 KiB.
    pub body: String,
    /// Whether there is an HTML part.
    pub has_html: bool,
    /// Kind of mail by key words of ham.
    pub ham_category: &'static str,
    /// Kind of mail by key words of phishing and spam.
    pub threat_category: &'static str,
}

impl FoundMail {
    /// Looks into a message.
    #[must_use]
    pub fn new(collection: &str, file: MailFile) -> Self {
        let digest = Sha256::digest(&file.bytes).into();
        let parsed = (nested(&file.bytes) <= MAX_NESTED).then(|| MessageParser::default().parse(&file.bytes)).flatten();
        let mut mail = Self {
            collection: collection.to_owned(),
            name: file.name,
            digest,
            from: None,
            to: None,
            subject: String::new(),
            body: String::new(),
            has_html: false,
            ham_category: "",
            threat_category: "",
            bytes: Vec::new(),
        };
        if let Some(message) = &parsed {
            mail.subject = message.subject().unwrap_or_default().trim().to_owned();
            mail.from = message.from().and_then(line);
            mail.to = message.to().and_then(line);
            for part in &message.parts {
                let attached = part.attachment_name().is_some();
                match &part.body {
                    PartType::Html(html) => {
                        mail.has_html = true;
                        push(&mut mail.body, &mail_parser::decoders::html::html_to_text(html));
                    }
                    PartType::Text(text) if !attached => push(&mut mail.body, text),
                    _ => {}
                }
            }
        } else {
            mail.body = String::from_utf8_lossy(&file.bytes[..file.bytes.len().min(BODY_BYTES)]).into_owned();
        }
        let headers = head(&file.bytes);
        mail.ham_category = category::ham(&headers, &mail.subject, &mail.body);
        mail.threat_category = category::threat(&mail.subject, &mail.body);
        mail.bytes = file.bytes;
        mail
    }

    /// The stratum that the message is drawn from.
    #[must_use]
    pub fn stratum(&self, category: &str) -> String {
        format!("{}/{category}/{}", self.collection, if self.has_html { "html" } else { "text" })
    }
}

fn nested(bytes: &[u8]) -> usize {
    let mark = b"message/rfc822";
    bytes.windows(mark.len()).filter(|w| w[0] | 0x20 == b'm' && w.eq_ignore_ascii_case(mark)).count()
}

fn push(body: &mut String, text: &str) {
    let room = BODY_BYTES.saturating_sub(body.len());
    let mut end = text.len().min(room);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    body.push_str(&text[..end]);
    body.push('\n');
}

/// The header block in lower case.
fn head(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(16 << 10)]).replace("\r\n", "\n").to_lowercase();
    text.split("\n\n").next().unwrap_or_default().to_owned()
}

fn line(addresses: &mail_parser::Address<'_>) -> Option<String> {
    let all: Vec<String> = addresses
        .iter()
        .filter_map(|a| match (a.name(), a.address()) {
            (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
            (None, Some(address)) => Some(address.to_owned()),
            (Some(name), None) => Some(name.to_owned()),
            (None, None) => None,
        })
        .collect();
    (!all.is_empty()).then(|| all.join(", "))
}
