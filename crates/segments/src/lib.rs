//! Canonical text segments of hostile e-mail: what a person sees, what is hidden from them but read by a model, and what is
//! attached.
//!
//! ```
//! use wardline_segments::{Limits, SegmentKind, extract, flatten};
//!
//! let raw = b"Subject: =?utf-8?Q?Lunch=3F?=\r\nContent-Type: text/html\r\n\r\n<p>At noon.</p>";
//! let extraction = extract(raw, &Limits::default());
//! assert_eq!(extraction.contents(SegmentKind::HtmlVisible).collect::<Vec<_>>(), ["At noon."]);
//! assert_eq!(flatten(&extraction), "Lunch?\nAt noon.");
//! ```
//!
//! It never fails and never panics on input: malformed mail gives what can be read of it, with signals that say what is odd. Where
//! readers of a message would differ, every reading is given. Work is bounded by [`Limits`].
//!
//! # What it does not do
//!
//! It renders nothing, follows no link, and reads no pictures, sound or encrypted files; what it can't read is named in
//! [`Signals::unscannable`]. It judges nothing: detectors do.
//!
//! # Features
//!
//! * `pdf`: text of PDF attachments. Without it they are `unscannable` with the reason `pdf feature off`.
//! * `archives`: ZIP and gzip archives and office documents. Without it: `archives feature off`.
//!
//! Both are off by default, so that the crate alone pulls in no PDF library. The JSON form of [`Extraction`] is stable; fields may be
//! added. The minimum Rust version is the workspace's, and raising it is a minor change.

mod attach;
mod decode;
mod extract;
mod fields;
mod flatten;
mod html;
mod limits;
mod result;
mod signals;
mod walk;

pub use extract::{extract, naive_view};
pub use fields::{Fields, extract_fields, naive_fields};
pub use flatten::flatten;
pub use limits::Limits;
pub use result::{Evidence, Extraction, Segment, SegmentKind, Signals, Span, Unscannable};
