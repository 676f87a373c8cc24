//! Rendered text: white space collapsed, blocks on lines of their own.

use crate::signals::addresses;

/// Writes text as a page shows it.
#[derive(Debug, Default)]
pub(super) struct Writer {
    out: String,
    space: bool,
    line: bool,
    /// Where one text node follows another without a gap.
    seams: Vec<usize>,
}

impl Writer {
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Begins a new line before the next text.
    pub(super) fn line(&mut self) {
        self.line = true;
    }

    /// Parts words, as a table cell's edge does.
    pub(super) fn space(&mut self) {
        self.space = true;
    }

    fn gap(&mut self) {
        if self.line {
            if !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push('\n');
            }
        } else if self.space && !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        (self.line, self.space) = (false, false);
    }

    /// Adds text; `preserve` keeps its white space.
    pub(super) fn text(&mut self, text: &str, preserve: bool) {
        if !self.line && !self.space && !self.out.is_empty() && !text.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.seams.push(self.out.len());
        }
        if preserve {
            if !text.is_empty() {
                self.gap();
                self.out.push_str(text);
            }
            return;
        }
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at].is_ascii_whitespace() {
                self.space = true;
                at += 1;
                continue;
            }
            let end = bytes[at..].iter().position(u8::is_ascii_whitespace).map_or(bytes.len(), |i| at + i);
            self.gap();
            self.out.push_str(&text[at..end]);
            at = end;
        }
    }

    /// The offset of a web address that is put together from more than two text nodes.
    pub(super) fn fragmented_url(&self) -> Option<usize> {
        if self.seams.len() < 2 {
            return None;
        }
        let inside = |start: usize, end: usize| {
            let from = self.seams.partition_point(|s| *s <= start);
            self.seams[from..].iter().take_while(|s| **s < end).count()
        };
        addresses(&self.out).find(|(start, end)| inside(*start, *end) > 1).map(|(start, _)| start)
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// Elements that begin and end lines.
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "frameset"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "optgroup"
            | "option"
            | "p"
            | "pre"
            | "listing"
            | "xmp"
            | "plaintext"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "tfoot"
            | "thead"
            | "tr"
            | "ul"
            | "br"
            | "select"
            | "textarea"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space() {
        let mut writer = Writer::default();
        writer.text("  one\n two", false);
        writer.text("three ", false);
        writer.line();
        writer.text(" four", false);
        writer.space();
        writer.text("five", false);
        assert_eq!(writer.finish(), "one twothree\nfour five");
    }
}
