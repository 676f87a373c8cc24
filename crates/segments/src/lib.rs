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
