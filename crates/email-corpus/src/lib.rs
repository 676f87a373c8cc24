//! Records, manifests and builders of an e-mail security benchmark.
//!
//! A manifest is a file of [`EmailRecord`]s, one JSON object a line, each naming a raw message beside it. This crate reads and
//! writes manifests as streams, freezes and verifies them, and builds the benchmark from seeds and public corpora.
//!
//! ```
//! use wardline_email_corpus::{EvalRole, ManifestReader, Surface};
//!
//! let line = r#"{"id":"pi_0001_plaintext","eml_path":"eml/pi_0001_plaintext.eml",
//!   "label":{"is_malicious":true,"threat_type":"prompt_injection_direct"},"surface":["plaintext_body"],
//!   "provenance":{"source":"handcrafted","synthetic":true,"base_payload_id":"pi_0001"},
//!   "sender_auth_condition":"verified","house_rule":7}"#.replace('\n', "");
//! let record = ManifestReader::new(line.as_bytes(), "manifest.jsonl").next().unwrap()?;
//! assert_eq!(record.role(), EvalRole::PiPositive);
//! assert_eq!(record.surface, [Surface::PlaintextBody]);
//! assert_eq!(record.extra["house_rule"], 7);
//! # Ok::<(), wardline_email_corpus::CorpusError>(())
//! ```
//!
//! Nothing here scores a message, resolves a link or opens a socket.

#[cfg(feature = "build")]
mod build;
mod error;
#[cfg(feature = "build")]
mod import;
mod manifest;
mod paths;
mod record;
#[cfg(feature = "build")]
mod render;
#[cfg(feature = "build")]
mod seeds;
#[cfg(feature = "build")]
mod select;

#[cfg(feature = "build")]
pub use build::{
    BuildInputs, BuiltDifference, Corpus, Item, Lock, LockDifference, OwnMail, Profile, assemble, compare_with_built,
    own_mail, write_corpus,
};
pub use error::CorpusError;
#[cfg(feature = "build")]
pub use import::{
    AttackerCase, InboxPayload, Input, MailFile, Mbox, Probe, Source, Submission, Upstream, UsedInput,
    read_agentdojo_inbox, read_archive, read_injecagent, read_llmail, read_mail, read_mail_folder, read_mbox,
    read_notinject, sources,
};
pub use manifest::{
    Digests, FileDigest, ManifestDiff, ManifestReader, ManifestWriter, Paths, Problem, Stats, Verification, combine,
    diff, digest_path, freeze, read_manifest, verify, write_atomically,
};
pub use paths::BaseFolder;
#[cfg(feature = "schema")]
pub use record::json_schema;
pub use record::{
    Addresses, Body, DetectorInput, Difficulty, EmailRecord, EvalRole, Label, Provenance, SenderAuth, Surface,
    ThreatType,
};
#[cfg(feature = "build")]
pub use render::{Placement, Structure, check_text, defang, pdf_of_text, render, render_adaptive, render_handwritten};
#[cfg(feature = "build")]
pub use seeds::{
    AdaptiveSeed, Carrier, ControlSeed, HandwrittenMessage, Participant, PayloadSeed, Seeds, ThreadMessage,
};
#[cfg(feature = "build")]
pub use select::{Fingerprint, FoundMail, assigned_auth, draw, near_duplicates};
