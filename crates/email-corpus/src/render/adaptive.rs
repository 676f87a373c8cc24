use mail_builder::headers::date::Date;
use mail_builder::mime::MimePart;

use super::envelope::{Envelope, Fixed, check_text, lines, one_line, paragraphs};
use super::placement::{hypertext, plain};
use super::{html, pdf_of_text};
use crate::seeds::{AdaptiveSeed, Participant, ThreadMessage};
use crate::{CorpusError, Surface, ThreatType};

/// How the fragments of an adaptive scenario are spread over a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Structure {
    /// Each fragment ends one older message of a thread, in the plain and in the HTML part.
    NestedThread,
    /// One fragment ends the plain part, one the HTML part, and a third, where there is one, a text attachment.
    SplitParts,
    /// The first fragment ends the body, the others end a PDF.
    PdfAndBody,
}

impl Structure {
    /// All three, in the order of the recipe.
    pub const ALL: [Self; 3] = [Self::NestedThread, Self::SplitParts, Self::PdfAndBody];

    /// The end of a record's id.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NestedThread => "nested_thread",
            Self::SplitParts => "split_parts",
            Self::PdfAndBody => "pdf_and_body",
        }
    }

    /// The record's surfaces, the chief one first, for a scenario of that many fragments.
    #[must_use]
    pub fn surfaces(self, fragments: usize) -> Vec<Surface> {
        match self {
            Self::NestedThread => vec![Surface::QuotedThread, Surface::HtmlBody],
            Self::SplitParts => {
                let mut all = vec![Surface::MultipartMismatch, Surface::PlaintextBody, Surface::HtmlBody];
                all.extend((fragments > 2).then_some(Surface::TextAttachment));
                all
            }
            Self::PdfAndBody => vec![Surface::PdfAttachment, Surface::PlaintextBody],
        }
    }

    /// Direct where the instruction begins in the main body, indirect where it begins in quoted mail or ends in an attachment.
    #[must_use]
    pub const fn threat(self) -> ThreatType {
        match self {
            Self::SplitParts => ThreatType::PromptInjectionDirect,
            Self::NestedThread | Self::PdfAndBody => ThreatType::PromptInjectionIndirect,
        }
    }
}

/// Renders an adaptive scenario in one of the combined structures. What is fixed and how is as in [`render`](super::render).
///
/// # Errors
/// A text holds control characters, the thread is shorter than the fragments, or the message cannot be put together.
pub fn render_adaptive(id: &str, seed: &AdaptiveSeed, structure: Structure) -> Result<Vec<u8>, CorpusError> {
    let wrong = |message: String| CorpusError::Render { id: id.to_owned(), message };
    let texts = [&seed.cover, &seed.note_text, &seed.pdf_text, &seed.pdf_title, &seed.subject];
    for text in texts.into_iter().chain(&seed.fragments).chain(seed.thread.iter().map(|m| &m.text)) {
        check_text(text).map_err(wrong)?;
    }
    let ([sender, recipient, ..], [first, second, more @ ..]) = (&seed.participants[..], &seed.fragments[..]) else {
        return Err(wrong("needs two participants and two fragments".into()));
    };
    let fixed = Fixed::new(id);
    let body = match structure {
        Structure::NestedThread => {
            let thread = Thread { seed, fixed: &fixed };
            fixed.multipart(0, "alternative", vec![plain(thread.text()), hypertext(thread.page())])
        }
        Structure::SplitParts => {
            let page = html::page(&format!("{}{}", html::block(&seed.cover), html::block(second)));
            let both = vec![plain(paragraphs(&[&seed.cover, first])), hypertext(page)];
            let note = match more.first() {
                Some(third) => paragraphs(&[&seed.note_text, third]),
                None => paragraphs(&[&seed.note_text]),
            };
            let parts = vec![
                fixed.multipart(1, "alternative", both),
                MimePart::new("text/plain", note).attachment(seed.note_name.clone()),
            ];
            fixed.multipart(0, "mixed", parts)
        }
        Structure::PdfAndBody => {
            let mut text = lines(&seed.pdf_text);
            for fragment in &seed.fragments[1..] {
                text.push_str("\n\n");
                text.push_str(&lines(fragment));
            }
            let pdf = pdf_of_text(&seed.pdf_title, &text).map_err(wrong)?;
            let parts = vec![
                plain(paragraphs(&[&seed.cover, first])),
                MimePart::new("application/pdf", pdf).attachment(seed.pdf_name.clone()),
            ];
            fixed.multipart(0, "mixed", parts)
        }
    };
    let envelope = Envelope {
        from: (&sender.name, &sender.address),
        to: (&recipient.name, &recipient.address),
        reply_to: None,
        subject: &seed.subject,
    };
    envelope.seal(id, &fixed, &[], body)
}

struct Thread<'a> {
    seed: &'a AdaptiveSeed,
    fixed: &'a Fixed,
}

impl Thread<'_> {
    /// The older messages, newest first: writer, date, and text with the fragment that ends it.
    fn messages(&self) -> impl Iterator<Item = (&Participant, String, String)> {
        self.seed.thread.iter().enumerate().map(|(n, message)| {
            let ThreadMessage { from, text } = message;
            let days = i64::try_from(n + 1).unwrap_or(1);
            let date = Date::new(self.fixed.date() - days * 86_400).to_rfc822();
            let mut text = lines(text);
            if let Some(fragment) = self.seed.fragments.get(n) {
                text.push_str("\n\n");
                text.push_str(&lines(fragment));
            }
            (&self.seed.participants[*from % self.seed.participants.len()], date, text)
        })
    }

    fn text(&self) -> String {
        let mut text = paragraphs(&[&self.seed.cover]);
        for (writer, date, message) in self.messages() {
            text.push_str(&format!(
                "\n-----Original Message-----\nFrom: {} <{}>\nSent: {date}\nSubject: {}\n\n{message}\n",
                writer.name,
                writer.address,
                one_line(&self.seed.subject)
            ));
        }
        text
    }

    fn page(&self) -> String {
        let mut inner = html::block(&self.seed.cover);
        let mut depth = 0;
        for (writer, date, message) in self.messages() {
            inner.push_str(&format!(
                "<div>On {date}, {} &lt;{}&gt; wrote:</div>\n<blockquote style=\"margin:0 0 0 8px;border-left:1px solid #cccccc;\
                 padding-left:8px\">\n{}",
                html::escape(&writer.name),
                html::escape(&writer.address),
                html::block(&message)
            ));
            depth += 1;
        }
        inner.push_str(&"</blockquote>\n".repeat(depth));
        html::page(&inner)
    }
}
