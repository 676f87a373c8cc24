//! Rendered text: white space collapsed, blocks on lines of their own.

use html5ever::{LocalName, local_name};

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
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { out: String::with_capacity(bytes), ..Self::default() }
    }

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
            // Words that one space parts are copied together.
            let ends = |i: &usize| {
                let blank = |i: usize| bytes.get(i).is_none_or(u8::is_ascii_whitespace);
                blank(*i) && (bytes.get(*i) != Some(&b' ') || blank(i + 1))
            };
            let end = (at..bytes.len()).find(ends).unwrap_or(bytes.len());
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
pub(super) fn is_block(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("address")
            | local_name!("article")
            | local_name!("aside")
            | local_name!("blockquote")
            | local_name!("body")
            | local_name!("caption")
            | local_name!("center")
            | local_name!("dd")
            | local_name!("details")
            | local_name!("dialog")
            | local_name!("dir")
            | local_name!("div")
            | local_name!("dl")
            | local_name!("dt")
            | local_name!("fieldset")
            | local_name!("figcaption")
            | local_name!("figure")
            | local_name!("footer")
            | local_name!("form")
            | local_name!("frameset")
            | local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("h5")
            | local_name!("h6")
            | local_name!("header")
            | local_name!("hgroup")
            | local_name!("hr")
            | local_name!("html")
            | local_name!("legend")
            | local_name!("li")
            | local_name!("main")
            | local_name!("menu")
            | local_name!("nav")
            | local_name!("ol")
            | local_name!("optgroup")
            | local_name!("option")
            | local_name!("p")
            | local_name!("pre")
            | local_name!("listing")
            | local_name!("xmp")
            | local_name!("plaintext")
            | local_name!("section")
            | local_name!("summary")
            | local_name!("table")
            | local_name!("tbody")
            | local_name!("tfoot")
            | local_name!("thead")
            | local_name!("tr")
            | local_name!("ul")
            | local_name!("br")
            | local_name!("select")
            | local_name!("textarea")
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
