//! The result types: plain data that other crates and tools read and write as JSON.

use serde::{Deserialize, Serialize};

/// What a segment's text is to a reader. The order is the order of segments in an [`Extraction`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// The subject, or a display name of From, Reply-To or To.
    Subject,
    /// Plain text of the body.
    TextPlain,
    /// HTML text that a person sees.
    HtmlVisible,
    /// HTML text that a person does not see but a model may read.
    HtmlHidden,
    /// Text of an attachment.
    AttachmentText,
}

impl SegmentKind {
    /// Every kind, in segment order.
    pub const ALL: [Self; 5] =
        [Self::Subject, Self::TextPlain, Self::HtmlVisible, Self::HtmlHidden, Self::AttachmentText];

    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::TextPlain => "text_plain",
            Self::HtmlVisible => "html_visible",
            Self::HtmlHidden => "html_hidden",
            Self::AttachmentText => "attachment_text",
        }
    }
}

/// One piece of text and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// What the text is to a reader.
    #[serde(rename = "type")]
    pub kind: SegmentKind,
    /// The text: UTF-8, line ends as `\n`, never blank.
    pub content: String,
    /// The place: `subject`, `from`, `reply-to`, `to`, or a part number as IMAP counts (`1`, `2.1`), with `/` before what lies
    /// inside a nested message or archive, `#` before what lies beside the part's own text, and `~` before the reading that gave it.
    #[serde(rename = "ref")]
    pub reference: String,
}

/// A part whose text could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unscannable {
    /// The part, as in [`Segment::reference`].
    #[serde(rename = "ref")]
    pub reference: String,
    /// Why: `image`, `audio`, `video`, `font`, `binary`, `encrypted`, `compression` (a method that is not read here), `damaged`,
    /// `external`, `partial`, `bounds`, `pdf feature off`, `archives feature off`.
    pub reason: String,
}

/// What is odd about a message. All fields are always present in JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Signals {
    /// Unicode tag characters (U+E0000–U+E007F) outside flag emoji, and variation selectors that spell bytes: a count.
    pub unicode_tags: u32,
    /// Zero-width and other invisible characters between visible ones, joiners of emoji and of scripts that need them excepted: a count.
    pub zero_width: u32,
    /// Bidirectional embeddings, overrides and isolates: a count.
    pub bidi_controls: u32,
    /// A style, or a `hidden` attribute, hides text. The mere presence of a style sheet or a comment is none.
    pub hidden_css_text: bool,
    /// The kinds in which readers of this message would differ, sorted; `docs/ambiguity.md` explains each.
    pub ambiguity: Vec<String>,
    /// Letters of other scripts that look Latin, inside words that also hold Latin letters, over all letters: 0 to 1, four decimals.
    pub homoglyph_ratio: f64,
    /// The plain and the HTML body share less than half of their words (Jaccard), both having at least three.
    pub plain_html_diverge: bool,
    /// A web address is split by invisible characters, by spaces between its letters or over several elements.
    pub fragmented_url: bool,
    /// A bound of [`crate::Limits`] was reached.
    pub truncated: bool,
    /// Parts that could not be read, in message order.
    pub unscannable: Vec<Unscannable>,
}

/// Where a signal was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The signal's field name in [`Signals`].
    pub signal: String,
    /// The segment or part, as in [`Segment::reference`].
    #[serde(rename = "ref")]
    pub reference: String,
    /// Byte offset: into the segment's content for signals of text, into the message for `ambiguity`, `truncated` and `unscannable`.
    pub offset: usize,
    /// What was found, in few words.
    pub detail: String,
}

/// What became of a range of the message's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// `headers`, `body`, `attachment`, `message`, `preamble`, `epilogue`, `delimiter`, or `dropped: ` and why.
    pub fate: String,
    /// The part, as in [`Segment::reference`].
    #[serde(rename = "ref")]
    pub reference: String,
}

/// Everything found in one message: one JSON line of `mailbench segments`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Extraction {
    /// The record's id. [`crate::extract`] leaves it empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The segments, in the order of [`SegmentKind`], and in message order within a kind.
    pub segments: Vec<Segment>,
    /// What is odd about the message.
    pub signals: Signals,
    /// Why a record could not be read at all. [`crate::extract`] never sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where each signal was found. Left out of JSON when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Every byte of the message in exactly one span, in order. Left out of JSON when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
}

impl Extraction {
    /// A record that could not be read.
    #[must_use]
    pub fn failed(id: Option<String>, error: impl Into<String>) -> Self {
        Self { id, error: Some(error.into()), ..Self::default() }
    }

    /// An extraction of these segments, without signals: for tests and for records without a raw message.
    #[must_use]
    pub fn from_segments(id: Option<String>, mut segments: Vec<Segment>) -> Self {
        segments.sort_by_key(|s| s.kind);
        Self { id, segments, ..Self::default() }
    }

    /// Without `evidence` and `spans`, as the compact JSON has it.
    #[must_use]
    pub fn compact(mut self) -> Self {
        self.evidence.clear();
        self.spans.clear();
        self
    }

    /// The contents of one kind, in order.
    pub fn contents(&self, kind: SegmentKind) -> impl Iterator<Item = &str> {
        self.segments.iter().filter(move |s| s.kind == kind).map(|s| s.content.as_str())
    }
}
