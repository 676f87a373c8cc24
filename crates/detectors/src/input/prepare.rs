use mail_parser::{MessageParser, MimeHeaders, PartType};
use serde::{Deserialize, Serialize};
use wardline_email_corpus::{Addresses, BaseFolder, DetectorInput, EmailRecord};
use wardline_segments::{
    Extraction, Fields, Limits, SegmentKind, extract, extract_fields, flatten, naive_fields, naive_view,
};

use super::{Image, Input, Structured, mail_facts, message_of_fields};
use crate::{ErrorClass, Failure, Needs};

/// Which reading of a message a detector is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum View {
    /// Everything that a person or a model could read.
    #[default]
    Canonical,
    /// What a simple gateway reads.
    Naive,
}

/// Prepares what a detector needs of a record.
#[derive(Debug, Clone)]
pub struct Preparer {
    base: BaseFolder,
    view: View,
    limits: Limits,
}

impl Preparer {
    /// Messages are read from the base folder and given in the view.
    #[must_use]
    pub fn new(base: BaseFolder, view: View) -> Self {
        Self { base, view, limits: Limits::default() }
    }

    /// The view.
    #[must_use]
    pub fn view(&self) -> View {
        self.view
    }

    /// Prepares a record. `given` stands in for the segments, so that they are not extracted again.
    ///
    /// # Errors
    /// The message cannot be read, or the segments given are those of a record that could not be read.
    pub fn prepare(&self, record: EmailRecord, needs: Needs, given: Option<Extraction>) -> Result<Input, Failure> {
        let extracted = needs.segments || needs.text || needs.structured;
        let mut input = Input::new(record);
        let mut inline = false;
        if needs.raw || needs.facts || needs.images || (extracted && given.is_none()) {
            let raw = self.base.read(&input.record).map_err(|e| Failure::new(ErrorClass::Input, e.to_string()))?;
            inline = raw.is_none();
            input.raw = Some(raw.unwrap_or_else(|| message_of_fields(&input.record.detector_input)));
        }
        let raw = input.raw.as_deref().unwrap_or_default();
        if extracted {
            let extraction = match (given, self.view) {
                (Some(Extraction { error: Some(error), .. }), _) => return Err(Failure::new(ErrorClass::Input, error)),
                (Some(given), _) => given,
                (None, view) if inline => {
                    let read = if view == View::Naive { naive_fields } else { extract_fields };
                    read(&fields(&input.record.detector_input), &self.limits)
                }
                (None, View::Naive) => naive_view(raw, &self.limits),
                (None, View::Canonical) => extract(raw, &self.limits),
            };
            input.text = needs.text.then(|| flatten(&extraction));
            input.structured = needs.structured.then(|| structured(&input.record, &extraction));
            input.extraction = needs.segments.then_some(extraction);
        }
        input.facts = needs.facts.then(|| mail_facts(raw));
        input.images = needs.images.then(|| images(raw));
        if !needs.raw {
            input.raw = None;
        }
        Ok(input)
    }
}

/// The fields of a record without a raw message, as the extractor takes them.
fn fields(input: &DetectorInput) -> Fields<'_> {
    let mut fields = Fields::default();
    fields.subject = input.subject.as_deref().unwrap_or_default();
    fields.from = input.from.as_deref().unwrap_or_default();
    fields.reply_to = input.reply_to.as_deref().unwrap_or_default();
    fields.to = match &input.to {
        None => Vec::new(),
        Some(Addresses::Line(line)) => vec![line],
        Some(Addresses::List(list)) => list.iter().map(String::as_str).collect(),
    };
    if let Some(body) = &input.body {
        fields.text = body.text.as_deref().unwrap_or_default();
        fields.html = body.html.as_deref().unwrap_or_default();
    }
    fields
}

/// Every part that can be prepared from a raw message.
pub(super) fn from_message(mut input: Input, raw: Vec<u8>) -> Input {
    let extraction = extract(&raw, &Limits::default());
    input.text = Some(flatten(&extraction));
    input.structured = Some(structured(&input.record, &extraction));
    input.extraction = Some(extraction);
    input.facts = Some(mail_facts(&raw));
    input.images = Some(images(&raw));
    input.raw = Some(raw);
    input
}

fn structured(record: &EmailRecord, extraction: &Extraction) -> Structured {
    let named = |name: &str| {
        let of = extraction.segments.iter().filter(|s| s.kind == SegmentKind::Subject && s.reference == name);
        of.map(|s| s.content.as_str()).collect::<Vec<_>>().join("\n")
    };
    let body = extraction.segments.iter().filter(|s| s.kind != SegmentKind::Subject).cloned().collect();
    Structured {
        subject: named("subject"),
        from: record.detector_input.from.clone().unwrap_or_else(|| named("from")),
        body: flatten(&Extraction::from_segments(None, body)),
    }
}

fn images(raw: &[u8]) -> Vec<Image> {
    let Some(message) = MessageParser::default().parse(raw) else { return Vec::new() };
    let mut images = Vec::new();
    for part in &message.parts {
        let Some(kind) = part.content_type().filter(|t| t.ctype().eq_ignore_ascii_case("image")) else { continue };
        if let PartType::Binary(bytes) | PartType::InlineBinary(bytes) = &part.body {
            let media_type = format!("image/{}", kind.subtype().unwrap_or("png").to_ascii_lowercase());
            images.push(Image { media_type, bytes: bytes.to_vec() });
        }
    }
    images
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_is_prepared() {
        let folder = tempfile::tempdir().unwrap();
        let raw =
            "From: a@mill.example\nSubject: s\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAEC\n";
        std::fs::write(folder.path().join("m.eml"), raw).unwrap();
        let preparer = Preparer::new(BaseFolder::open(folder.path()).unwrap(), View::Canonical);
        let mut record = super::super::bare_record("a");
        record.eml_path = Some("m.eml".into());
        let input = preparer.prepare(record.clone(), Needs::NONE, None).unwrap();
        assert!(input.raw.is_none() && input.text.is_none() && input.extraction.is_none());
        let input = preparer.prepare(record.clone(), Needs { images: true, text: true, ..Needs::NONE }, None).unwrap();
        assert!(input.raw.is_none());
        assert_eq!(input.images.unwrap(), [Image { media_type: "image/png".into(), bytes: vec![0, 1, 2] }]);

        record.eml_path = Some("gone.eml".into());
        let failure = preparer.prepare(record.clone(), Needs::RAW, None).unwrap_err();
        assert_eq!(failure.class, ErrorClass::Input);
        assert!(failure.message.contains("gone.eml"), "{failure}");
        let given = Extraction::from_segments(None, vec![]);
        assert!(preparer.prepare(record, Needs::TEXT, Some(given)).is_ok());
    }
}
