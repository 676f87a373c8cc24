//! The walk over a parsed document that puts each text on its side.

use std::borrow::Cow;
use std::collections::HashSet;

use html5ever::{LocalName, local_name};
use selectors::context::SelectorCaches;

use super::css::Display;
use super::data_url::DataUrl;
use super::matching::Matcher;
use super::parse::Document;
use super::style::{self, Hiding, Sheets, Style};
use super::text::{Writer, is_block};
use super::tree::{Data, Id, NONE, Tree};
use super::{Embedded, MAX_NESTING, Split, split_nested};
use crate::limits::Limits;
use crate::walk;

pub(super) fn render(document: Document, limits: &Limits, max_text: usize, nesting: usize) -> Split {
    let tree = &document.tree;
    let (texts, external) = style_sheets(tree);
    let sheets = Sheets::new(&texts, external);
    let matcher = Matcher::new(tree, limits.max_css_steps);
    let mut renderer = Renderer {
        tree,
        sheets: &sheets,
        matcher: &matcher,
        caches: SelectorCaches::default(),
        visible: Writer::with_capacity(tree.nodes.len() * 16),
        hidden: Writer::default(),
        extras: Vec::new(),
        extra_bytes: 0,
        seen: HashSet::new(),
        by_style: None,
        files: Vec::new(),
        limits,
        max_text,
        nesting,
        truncated: document.truncated,
        body_color: style::color_of(&Style::ROOT),
    };
    renderer.walk();
    renderer.visible.text(&document.rest, false);
    for raw in &document.dropped {
        renderer.extra(raw.as_str());
        // A reader that does not see the tag reads on behind it.
        if let Some(rest) = raw.get(1..).filter(|_| nesting < MAX_NESTING) {
            renderer.document(rest);
        }
    }
    document.beside.iter().for_each(|text| renderer.words(text.as_str()));
    renderer.truncated |= matcher.spent();
    renderer.finish()
}

/// The texts of `style` elements, and whether a sheet lies outside the message.
fn style_sheets(tree: &Tree) -> (Vec<String>, bool) {
    let mut texts = Vec::new();
    let mut external = false;
    for (id, node) in tree.nodes.iter().enumerate() {
        let Some((name, _)) = node.element() else { continue };
        match name.local {
            local_name!("style") if node.parent != NONE => {
                // Sheets in comments (`<style><!-- … --></style>`) are sheets all the same; cssparser skips the marks.
                let text = tree.own_text(id as Id);
                let media = tree.attr(id as Id, local_name!("media")).unwrap_or("all").to_ascii_lowercase();
                if !media.contains("print") || media.contains("screen") || media.contains("all") {
                    texts.push(text);
                }
            }
            local_name!("link") => {
                external |= tree
                    .attr(id as Id, local_name!("rel"))
                    .is_some_and(|r| r.to_ascii_lowercase().contains("stylesheet"))
            }
            _ => {}
        }
    }
    (texts, external)
}

struct Renderer<'a> {
    tree: &'a Tree,
    sheets: &'a Sheets,
    matcher: &'a Matcher<'a>,
    caches: SelectorCaches,
    visible: Writer,
    hidden: Writer,
    /// What is hidden by nature and belongs to no line of text: comments, attributes, scripts.
    extras: Vec<Cow<'a, str>>,
    extra_bytes: usize,
    seen: HashSet<Cow<'a, str>>,
    by_style: Option<(usize, &'static str)>,
    files: Vec<Embedded>,
    limits: &'a Limits,
    max_text: usize,
    nesting: usize,
    truncated: bool,
    body_color: super::color::Rgba,
}

impl<'a> Renderer<'a> {
    fn walk(&mut self) {
        let mut styles: Vec<Style> = vec![Style::ROOT];
        let mut id = self.tree.node(0).first;
        while id != NONE {
            if self.visible.len() + self.hidden.len() + self.extra_bytes > self.max_text.saturating_add(4096) {
                self.truncated = true;
                return;
            }
            let parent = styles.last().copied().unwrap_or(Style::ROOT);
            let descend = self.enter(id, &parent);
            let first = self.tree.node(id).first;
            if let (Some(style), true) = (descend, first != NONE) {
                styles.push(style);
                id = first;
                continue;
            }
            if let Some(style) = descend {
                self.leave(id, &style);
            }
            loop {
                let node = self.tree.node(id);
                if node.next != NONE {
                    id = node.next;
                    break;
                }
                id = node.parent;
                if id == NONE || id == 0 {
                    return;
                }
                let style = styles.pop().unwrap_or(Style::ROOT);
                self.leave(id, &style);
            }
        }
    }

    /// Handles a node; gives the style of an element whose children are to be walked.
    fn enter(&mut self, id: Id, parent: &Style) -> Option<Style> {
        match &self.tree.node(id).data {
            Data::Text(text) => {
                self.text(text, parent);
                None
            }
            Data::Comment(text) => {
                self.comment(text);
                None
            }
            Data::Document => None,
            Data::Element { name, .. } => self.element(id, &name.local, parent),
        }
    }

    fn text(&mut self, text: &str, style: &Style) {
        match style.verdict {
            None => self.visible.text(text, style.preserves),
            Some(hiding) => {
                if let (Hiding::Style(how), None) = (hiding, self.by_style)
                    && text.contains(char::is_alphanumeric)
                {
                    self.by_style = Some((self.hidden.len(), how));
                }
                if text.bytes().all(|b| b.is_ascii_whitespace()) {
                    self.hidden.space();
                    self.visible.space();
                } else {
                    self.hidden.text(text, style.preserves);
                }
            }
        }
    }

    fn comment(&mut self, text: &'a str) {
        // Conditional comments hold whole documents, and a reader may take their text.
        if text.contains('<') && self.nesting < MAX_NESTING {
            let body = match (text.starts_with("[if"), text.find("]>")) {
                (true, Some(at)) => text[at + 2..].trim_end_matches("<![endif]").trim_end_matches("<![endif]--"),
                _ => text,
            };
            self.document(body);
        } else if !(text.starts_with("[if") || text.trim() == "[endif]") {
            self.extra(text);
        }
    }

    fn extra(&mut self, text: impl Into<Cow<'a, str>>) {
        let text = trim(text.into());
        if text.is_empty() || self.extra_bytes > self.max_text {
            return;
        }
        self.extra_bytes += text.len() + 1;
        self.extras.push(text);
    }

    /// An attribute's words; each distinct text once.
    fn words(&mut self, text: impl Into<Cow<'a, str>>) {
        let text = trim(text.into());
        if text.is_empty() || (self.seen.len() < 5000 && !self.seen.insert(text.clone())) {
            return;
        }
        self.extra(text);
    }

    fn element(&mut self, id: Id, local: &LocalName, parent: &Style) -> Option<Style> {
        let mut style =
            style::compute(self.tree, id, parent, self.body_color, self.sheets, self.matcher, &mut self.caches);
        self.attributes(id, local, &style);
        match *local {
            local_name!("body") => self.body_color = style::color_of(&style),
            local_name!("script") | local_name!("style") => {
                self.extra(self.tree.own_text(id));
                return None;
            }
            local_name!("title") => {
                self.words(self.tree.own_text(id));
                return None;
            }
            local_name!("dialog") if self.tree.attr(id, local_name!("open")).is_some() => {}
            local_name!("td") | local_name!("th") => self.both(Writer::space),
            _ if hidden_by_nature(local) => style.hide_by_nature(),
            _ => {}
        }
        if breaks(local, &style) {
            self.both(Writer::line);
        }
        Some(style)
    }

    fn leave(&mut self, id: Id, style: &Style) {
        let Some((name, _)) = self.tree.node(id).element() else { return };
        if breaks(&name.local, style) {
            self.both(Writer::line);
        } else if matches!(name.local, local_name!("td") | local_name!("th")) {
            self.both(Writer::space);
        }
    }

    fn both(&mut self, act: fn(&mut Writer)) {
        act(&mut self.visible);
        act(&mut self.hidden);
    }

    fn attributes(&mut self, id: Id, local: &LocalName, style: &Style) {
        let tree = self.tree;
        let Some((_, attrs)) = tree.node(id).element() else { return };
        for attr in attrs {
            let value = &*attr.value;
            if let Some(data) = DataUrl::parse(value)
                && self.data_url(&data, holds_file(local, &attr.name.local))
            {
                continue;
            }
            match attr.name.local {
                // Words that a model may read.
                local_name!("alt")
                | local_name!("title")
                | local_name!("aria-label")
                | local_name!("aria-description")
                | local_name!("aria-placeholder")
                | local_name!("placeholder")
                | local_name!("summary")
                | local_name!("label") => self.words(value),
                // Where something leads.
                local_name!("href") | local_name!("action") | local_name!("formaction") | local_name!("cite")
                    if leads(local) && !value.starts_with('#') =>
                {
                    // A browser takes line ends and tabs out of an address.
                    if value.trim().contains(['\n', '\r', '\t']) {
                        self.words(value.replace(['\n', '\r', '\t'], ""));
                    } else {
                        self.words(value);
                    }
                }
                local_name!("srcdoc") if self.nesting < MAX_NESTING => self.document(value),
                local_name!("srcdoc") => self.words(value),
                local_name!("content") if *local == local_name!("meta") => {
                    let names = [local_name!("name"), local_name!("property"), local_name!("http-equiv")];
                    let field = names.into_iter().find_map(|n| tree.attr(id, n)).unwrap_or_default();
                    // `refresh` leads somewhere, and the others describe the page.
                    if ["escription", "itle", "eywords", "efresh", "REFRESH"].iter().any(|w| field.contains(w)) {
                        self.words(value);
                    }
                    if let Some(data) = value.find("data:").and_then(|at| DataUrl::parse(&value[at..])) {
                        self.data_url(&data, false);
                    }
                }
                local_name!("value") => self.value(id, local, style, value),
                _ => {}
            }
        }
    }

    /// A document inside this one; all of it is hidden, as no mail reader shows it.
    fn document(&mut self, html: &str) {
        let inner = split_nested(html, self.limits, self.max_text, self.nesting + 1);
        self.extra(inner.visible);
        self.extra(inner.hidden);
        inner.files.into_iter().for_each(|file| self.file(file));
        self.truncated |= inner.truncated;
    }

    /// A document or file inside an address; whether it was taken for a file.
    fn data_url(&mut self, data: &DataUrl<'_>, holds_file: bool) -> bool {
        let says_text = data.says_text();
        if !says_text && !holds_file {
            return false;
        }
        let bytes = data.bytes(if holds_file { self.limits.max_decoded } else { self.max_text });
        if holds_file && (!says_text || walk::is_file(&bytes)) {
            self.file(Embedded { media: data.media.clone(), bytes });
            return true;
        }
        let text = data.text(&bytes[..bytes.len().min(self.max_text)]);
        if data.markup && self.nesting < MAX_NESTING {
            self.document(&text);
        } else {
            self.extra(text);
        }
        false
    }

    fn file(&mut self, file: Embedded) {
        // One more than may be read, so that reading them notices the bound.
        if self.files.len() <= self.limits.max_parts && !self.files.contains(&file) {
            self.files.push(file);
        }
    }

    /// What a field of a form holds.
    fn value(&mut self, id: Id, local: &LocalName, style: &Style, value: &'a str) {
        if !matches!(*local, local_name!("input") | local_name!("button") | local_name!("param")) {
            return;
        }
        let kind = self.tree.attr(id, local_name!("type")).unwrap_or_default().to_ascii_lowercase();
        if *local == local_name!("param") || kind == "hidden" || style.verdict.is_some() {
            self.words(value);
        } else if !matches!(kind.as_str(), "checkbox" | "radio" | "password") {
            self.visible.space();
            self.visible.text(value, false);
            self.visible.space();
        }
    }

    fn finish(self) -> Split {
        let fragmented_url = self.visible.fragmented_url();
        let visible = self.visible.finish();
        let mut hidden = self.hidden.finish();
        for extra in self.extras {
            if !hidden.is_empty() {
                hidden.push('\n');
            }
            hidden.push_str(&extra);
        }
        let hidden_by_style = self.by_style.map(|(at, how)| (at, how.to_owned()));
        Split { visible, hidden, hidden_by_style, fragmented_url, files: self.files, truncated: self.truncated }
    }
}

fn trim(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

/// Elements whose content no reader shows, or shows only where something else fails.
fn hidden_by_nature(local: &LocalName) -> bool {
    matches!(
        *local,
        local_name!("head")
            | local_name!("template")
            | local_name!("noscript")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("iframe")
            | local_name!("object")
            | local_name!("video")
            | local_name!("audio")
            | local_name!("canvas")
            | local_name!("datalist")
            | local_name!("dialog")
            | local_name!("rp")
            | local_name!("applet")
            | local_name!("map")
    )
}

/// Attributes whose address a reader may load or follow. Icons of the page, and backgrounds, are decoration.
fn holds_file(element: &LocalName, attribute: &LocalName) -> bool {
    *element != local_name!("link")
        && matches!(
            *attribute,
            local_name!("src")
                | local_name!("srcset")
                | local_name!("data")
                | local_name!("href")
                | local_name!("poster")
        )
}

/// Elements whose addresses a person may follow.
fn leads(local: &LocalName) -> bool {
    matches!(
        *local,
        local_name!("a")
            | local_name!("area")
            | local_name!("form")
            | local_name!("button")
            | local_name!("input")
            | local_name!("blockquote")
            | local_name!("q")
    )
}

fn breaks(local: &LocalName, style: &Style) -> bool {
    match style.display {
        Some(Display::Block) => true,
        Some(Display::Inline) => *local == local_name!("br"),
        _ => is_block(local),
    }
}
