//! What detectors read of a message, and how it is prepared.

mod facts;
mod message;
mod prepare;

use wardline_email_corpus::{EmailRecord, Label, Provenance, SenderAuth, ThreatType};
use wardline_segments::Extraction;

use crate::{ErrorClass, Failure};

pub use facts::{Link, MailFacts, mail_facts};
pub use message::message_of_fields;
pub use prepare::{Preparer, View};

/// Subject, sender and body of a message, as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Structured {
    /// The subject; empty when there is none.
    pub subject: String,
    /// The author as the record or the message gives it.
    pub from: String,
    /// Everything else that is text.
    pub body: String,
}

/// An image part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: String,
    /// The decoded bytes.
    pub bytes: Vec<u8>,
}

/// One message as a detector gets it. Parts that the detector does not need are not there.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Input {
    /// The record. A detector must read neither its label nor anything else that gives the answer away.
    pub record: EmailRecord,
    /// The raw message; made from the record's fields when it has no message of its own.
    pub raw: Option<Vec<u8>>,
    /// Segments and signals.
    pub extraction: Option<Extraction>,
    /// The flattened text.
    pub text: Option<String>,
    /// Subject, sender and body apart.
    pub structured: Option<Structured>,
    /// Addresses, links and attachment names.
    pub facts: Option<MailFacts>,
    /// Image parts, in message order.
    pub images: Option<Vec<Image>>,
}

impl Input {
    /// An input of a record without any part.
    #[must_use]
    pub fn new(record: EmailRecord) -> Self {
        Self { record, raw: None, extraction: None, text: None, structured: None, facts: None, images: None }
    }

    /// An input of an id and a text alone.
    #[must_use]
    pub fn from_text(id: impl Into<String>, text: impl Into<String>) -> Self {
        let mut input = Self::new(bare_record(id));
        input.text = Some(text.into());
        input
    }

    /// An input of an id and a raw message, with every part that can be prepared from it.
    #[must_use]
    pub fn from_message(id: impl Into<String>, raw: impl Into<Vec<u8>>) -> Self {
        prepare::from_message(Self::new(bare_record(id)), raw.into())
    }

    /// The record's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.record.id
    }

    /// The flattened text.
    ///
    /// # Errors
    /// It was not prepared.
    pub fn text(&self) -> Result<&str, Failure> {
        self.text.as_deref().ok_or_else(|| missing("text"))
    }

    /// The raw message.
    ///
    /// # Errors
    /// It was not prepared.
    pub fn raw(&self) -> Result<&[u8], Failure> {
        self.raw.as_deref().ok_or_else(|| missing("raw message"))
    }

    /// Segments and signals.
    ///
    /// # Errors
    /// They were not prepared.
    pub fn extraction(&self) -> Result<&Extraction, Failure> {
        self.extraction.as_ref().ok_or_else(|| missing("segments"))
    }

    /// Subject, sender and body apart.
    ///
    /// # Errors
    /// They were not prepared.
    pub fn structured(&self) -> Result<&Structured, Failure> {
        self.structured.as_ref().ok_or_else(|| missing("structured view"))
    }

    /// Addresses, links and attachment names.
    ///
    /// # Errors
    /// They were not prepared.
    pub fn facts(&self) -> Result<&MailFacts, Failure> {
        self.facts.as_ref().ok_or_else(|| missing("addresses and links"))
    }

    /// Image parts.
    ///
    /// # Errors
    /// They were not prepared.
    pub fn images(&self) -> Result<&[Image], Failure> {
        self.images.as_deref().ok_or_else(|| missing("images"))
    }
}

/// A record of which nothing but the id is known.
fn bare_record(id: impl Into<String>) -> EmailRecord {
    EmailRecord {
        id: id.into(),
        eml_path: None,
        label: Label::new(ThreatType::Benign),
        surface: Vec::new(),
        detector_input: Default::default(),
        provenance: Provenance::new("unknown", false),
        source_metadata: None,
        sender_auth_condition: SenderAuth::Unauthenticated,
        split: None,
        notes: None,
        eval_role: None,
        extra: Default::default(),
    }
}

fn missing(part: &str) -> Failure {
    Failure::new(ErrorClass::Input, format!("the {part} was not prepared"))
}
