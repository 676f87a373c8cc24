use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a message is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Label {
    /// Whether the message is an attack or unwanted.
    pub is_malicious: bool,
    /// The kind of threat.
    pub threat_type: ThreatType,
    /// Finer kind, such as `newsletter` or `payment_change`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// What the attacker is after, or the scenario that the payload was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// How the injected text is framed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection_technique: Option<String>,
    /// Malicious addresses in the message, defanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malicious_urls: Option<Vec<String>>,
    /// How hard the message is to judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<Difficulty>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

impl Label {
    /// A label of the threat type with nothing more known.
    #[must_use]
    pub fn new(threat_type: ThreatType) -> Self {
        Self {
            is_malicious: threat_type != ThreatType::Benign,
            threat_type,
            category: None,
            scenario: None,
            injection_technique: None,
            malicious_urls: None,
            difficulty: None,
            extra: BTreeMap::new(),
        }
    }
}

/// How hard a message is to judge: a word (`easy`, `medium`, `hard` in our own material) or a number, as the source gives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum Difficulty {
    /// A word.
    Word(String),
    /// A number on the source's own scale.
    Number(serde_json::Number),
}

/// Declares an enum whose JSON form and display are the given names.
macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

names! {
    /// The kind of threat.
    #[non_exhaustive]
    ThreatType {
        /// No threat.
        Benign = "benign",
        /// An instruction to the agent in the main body or the subject.
        PromptInjectionDirect = "prompt_injection_direct",
        /// An instruction to the agent in quoted mail, an attachment, or content that the agent was sent to read.
        PromptInjectionIndirect = "prompt_injection_indirect",
        /// Deceives the reader into giving up a secret.
        Phishing = "phishing",
        /// Deceives the reader into paying.
        Scam = "scam",
        /// Unwanted bulk mail.
        Spam = "spam",
    }
}

impl ThreatType {
    /// The role in grading that follows from the threat type; scam and spam are positives of the phishing task.
    #[must_use]
    pub const fn role(self) -> EvalRole {
        match self {
            Self::Benign => EvalRole::Negative,
            Self::PromptInjectionDirect | Self::PromptInjectionIndirect => EvalRole::PiPositive,
            Self::Phishing | Self::Scam | Self::Spam => EvalRole::Phishing,
        }
    }
}

names! {
    /// The role of a record in grading.
    EvalRole {
        /// A positive of the prompt-injection task.
        PiPositive = "pi_positive",
        /// A positive of the phishing task.
        Phishing = "phishing",
        /// A negative of both tasks.
        Negative = "negative",
    }
}

names! {
    /// The assigned result of the sender's authentication.
    SenderAuth {
        /// The sender is who the message says.
        Verified = "verified",
        /// Nothing is known of the sender.
        Unauthenticated = "unauthenticated",
        /// The sender is known not to be who the message says.
        Spoofed = "spoofed",
    }
}

names! {
    /// A place in a message.
    #[non_exhaustive]
    Surface {
        /// The subject.
        Subject = "subject",
        /// The text/plain body.
        PlaintextBody = "plaintext_body",
        /// Visible text of the HTML body.
        HtmlBody = "html_body",
        /// A link of the HTML body.
        Hyperlink = "hyperlink",
        /// Text of the HTML body that a style hides.
        HtmlHiddenCss = "html_hidden_css",
        /// A PDF attachment.
        PdfAttachment = "pdf_attachment",
        /// An image attachment.
        ImageAttachment = "image_attachment",
        /// An image in the HTML body.
        EmbeddedImageHtml = "embedded_image_html",
        /// A header.
        Header = "header",
        /// Quoted older mail.
        QuotedThread = "quoted_thread",
        /// Alternative parts that say different things.
        MultipartMismatch = "multipart_mismatch",
        /// Text that is encoded or cut up.
        EncodedObfuscated = "encoded_obfuscated",
        /// A plain text attachment; an extension of the published list.
        TextAttachment = "text_attachment",
        /// A calendar invitation; an extension of the published list.
        CalendarInvitation = "calendar_invitation",
        /// A DOCX attachment; an extension of the published list.
        DocxAttachment = "docx_attachment",
    }
}

/// Where a message comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// The source: `injecagent`, `agentdojo`, `llmail-inject`, `notinject`, `handcrafted`, `synthetic`, `ham_corpus`,
    /// `phishing_corpus`, or another name.
    pub source: String,
    /// Whether the message was made for a benchmark rather than received by somebody.
    pub synthetic: bool,
    /// The id in the source, or of the payload in this benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// The payload that several records carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_payload_id: Option<String>,
    /// The scenario that several payloads were made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_scenario_id: Option<String>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

impl Provenance {
    /// The provenance with only the source known.
    #[must_use]
    pub fn new(source: impl Into<String>, synthetic: bool) -> Self {
        Self {
            source: source.into(),
            synthetic,
            source_id: None,
            base_payload_id: None,
            base_scenario_id: None,
            extra: BTreeMap::new(),
        }
    }
}
