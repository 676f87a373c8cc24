use mail_builder::headers::content_type::ContentType;
use mail_builder::mime::MimePart;

use super::envelope::{Envelope, Fixed, check_text, lines};
use super::placement::{hypertext, plain};
use crate::CorpusError;
use crate::seeds::HandwrittenMessage;

/// Renders a whole message of our own. What is fixed and how is as in [`render`](super::render).
///
/// # Errors
/// A text holds control characters, a header's name is no header name, or the message cannot be put together.
pub fn render_handwritten(id: &str, message: &HandwrittenMessage) -> Result<Vec<u8>, CorpusError> {
    let wrong = |message: String| CorpusError::Render { id: id.to_owned(), message };
    for text in [Some(&message.text), message.html.as_ref(), message.calendar.as_ref(), Some(&message.subject)] {
        check_text(text.map_or("", |t| t.as_str())).map_err(wrong)?;
    }
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic() && b != b':');
    if let Some((name, _)) = message.headers.iter().find(|(name, _)| !is_name(name)) {
        return Err(wrong(format!("{name:?} is no header name")));
    }
    let fixed = Fixed::new(id);
    let mut parts = vec![plain(with_end(&message.text))];
    parts.extend(message.html.as_deref().map(|html| hypertext(with_end(html))));
    parts.extend(message.calendar.as_deref().map(|calendar| {
        let method = calendar.lines().find_map(|line| line.trim().strip_prefix("METHOD:")).unwrap_or("PUBLISH");
        let content_type =
            ContentType::new("text/calendar").attribute("charset", "utf-8").attribute("method", method.to_owned());
        MimePart::new(content_type, with_end(calendar).replace('\n', "\r\n"))
    }));
    let body = if parts.len() == 1 { parts.remove(0) } else { fixed.multipart(0, "alternative", parts) };
    let envelope = Envelope {
        from: (&message.from_name, &message.from_address),
        to: (&message.to_name, &message.to_address),
        reply_to: message.reply_to.as_deref(),
        subject: &message.subject,
    };
    envelope.seal(id, &fixed, &message.headers, body)
}

fn with_end(text: &str) -> String {
    let mut text = lines(text);
    text.push('\n');
    text
}
