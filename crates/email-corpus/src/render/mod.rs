//! A text and a carrier in, a byte-exact message out.

mod adaptive;
mod attachment;
mod envelope;
mod handwritten;
mod html;
mod pdf;
mod placement;

pub use adaptive::{Structure, render_adaptive};
pub use envelope::{check_text, defang};
pub use handwritten::render_handwritten;
pub use pdf::pdf_of_text;
pub use placement::{Placement, render};
pub(crate) use placement::{hidden_by, subject_of};
