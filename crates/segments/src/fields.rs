use crate::extract::naive_bodies;
use crate::limits::Limits;
use crate::result::Extraction;
use crate::walk::{Collector, Mode, Place, parsed_fields};

/// A message that is already in fields, as a benchmark record without a raw message has it. Empty means absent.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Fields<'a> {
    /// The subject.
    pub subject: &'a str,
    /// The From field: names and addresses.
    pub from: &'a str,
    /// The Reply-To field.
    pub reply_to: &'a str,
    /// The To field, whole or one address each.
    pub to: Vec<&'a str>,
    /// The plain body.
    pub text: &'a str,
    /// The HTML body.
    pub html: &'a str,
}

/// [`crate::extract`] for a message in fields: the plain body is part `1`, the HTML body is part `2`.
///
/// ```
/// use wardline_segments::{Fields, Limits, extract_fields, flatten};
/// let mut fields = Fields::default();
/// fields.subject = "Hi";
/// fields.html = "<p>seen</p><p hidden>unseen</p>";
/// let extraction = extract_fields(&fields, &Limits::default());
/// assert_eq!(flatten(&extraction), "Hi\nseen\nunseen");
/// ```
#[must_use]
pub fn extract_fields(fields: &Fields<'_>, limits: &Limits) -> Extraction {
    gather(fields, limits, Mode::Canonical)
}

/// [`crate::naive_view`] for a message in fields.
#[must_use]
pub fn naive_fields(fields: &Fields<'_>, limits: &Limits) -> Extraction {
    naive_bodies(gather(fields, limits, Mode::Naive))
}

fn gather(fields: &Fields<'_>, limits: &Limits, mode: Mode) -> Extraction {
    let mut out = Collector::new(limits, mode, 0);
    parsed_fields(&mut out, fields, &Place::root());
    out.finish()
}
