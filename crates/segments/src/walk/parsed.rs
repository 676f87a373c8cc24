//! Messages that come in fields.

use super::collect::Collector;
use super::entity::Place;
use super::{leaf, names};
use crate::fields::Fields;
use crate::result::SegmentKind;

/// Gathers the segments of a message in fields.
pub(crate) fn parsed_fields(out: &mut Collector<'_>, fields: &Fields<'_>, place: &Place) {
    let at = |reference: &str| Place { reference: reference.to_owned(), base: None, ..place.clone() };
    out.text(SegmentKind::Subject, &at("subject"), fields.subject);
    if out.canonical() {
        let from = std::slice::from_ref(&fields.from);
        let reply_to = std::slice::from_ref(&fields.reply_to);
        for (reference, values) in [("from", from), ("reply-to", reply_to), ("to", fields.to.as_slice())] {
            for value in values {
                let found = names::display_names(value.as_bytes());
                if found.cut {
                    out.truncate(reference, 0, "display names");
                }
                for name in found.names {
                    out.text(SegmentKind::Subject, &at(reference), name);
                }
            }
        }
    } else {
        out.text(SegmentKind::Subject, &at("from"), fields.from);
    }
    if out.canonical() {
        out.text(SegmentKind::TextPlain, &at("1"), fields.text);
        leaf::split(out, fields.html, &at("2"));
    } else {
        out.text(SegmentKind::TextPlain, &at("1"), fields.text);
        let html = &fields.html[..leaf::floor(fields.html, out.limits.max_html)];
        out.text(SegmentKind::HtmlVisible, &at("2"), mail_parser::decoders::html::html_to_text(html));
    }
}
