//! The walk over a parsed document that puts each text on its side.

use std::collections::HashSet;

use selectors::context::SelectorCaches;

use super::css::Display;
use super::matching::Matcher;
use super::parse::Document;
use super::style::{self, Hiding, Sheets, Style};
use super::text::{Writer, is_block};
use super::tree::{Data, Id, NONE, Tree};
use super::{MAX_NESTING, Split, split_nested};
use crate::limits::Limits;

/// Attributes with words in them that a model may read.
const WORDS: [&str; 8] =
    ["alt", "title", "aria-label", "aria-description", "aria-placeholder", "placeholder", "summary", "label"];
/// Attributes that say where something leads.
const TARGETS: [&str; 4] = ["href", "action", "formaction", "cite"];

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
        visible: Writer::default(),
        hidden: Writer::default(),
        extras: Vec::new(),
        extra_bytes: 0,
        seen: HashSet::new(),
        by_style: None,
        limits,
        max_text,
        nesting,
        truncated: document.truncated,
        body_color: style::color_of(&Style::ROOT),
    };
    renderer.walk();
    renderer.visible.text(&document.rest, false);
    for raw in &document.dropped {
        renderer.extra(raw);
        // A reader that does not see the tag reads on behind it.
        if let Some(rest) = raw.get(1..).filter(|_| nesting < MAX_NESTING) {
            let inner = split_nested(rest, limits, max_text, nesting + 1);
            renderer.extra(&inner.visible);
            renderer.extra(&inner.hidden);
        }
    }
    renderer.truncated |= matcher.spent();
    renderer.finish()
}

/// The texts of `style` elements, and whether a sheet lies outside the message.
fn style_sheets(tree: &Tree) -> (Vec<String>, bool) {
    let mut texts = Vec::new();
    let mut external = false;
    for (id, node) in tree.nodes.iter().enumerate() {
        let Some((name, _)) = node.element() else { continue };
        match &*name.local {
            "style" if node.parent != NONE => {
                // Sheets in comments (`<style><!-- … --></style>`) are sheets all the same; cssparser skips the marks.
                let text = tree.own_text(id as Id);
                let media = tree.attr(id as Id, "media").unwrap_or("all").to_ascii_lowercase();
                if !media.contains("print") || media.contains("screen") || media.contains("all") {
                    texts.push(text);
                }
            }
            "link" => {
                external |= tree.attr(id as Id, "rel").is_some_and(|r| r.to_ascii_lowercase().contains("stylesheet"))
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
    extras: Vec<String>,
    extra_bytes: usize,
    seen: HashSet<String>,
    by_style: Option<(usize, &'static str)>,
    limits: &'a Limits,
    max_text: usize,
    nesting: usize,
    truncated: bool,
    body_color: super::color::Rgba,
}

impl Renderer<'_> {
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

    fn comment(&mut self, text: &str) {
        // Conditional comments hold whole documents, and a reader may take their text.
        if text.contains('<') && self.nesting < MAX_NESTING {
            let body = match (text.starts_with("[if"), text.find("]>")) {
                (true, Some(at)) => text[at + 2..].trim_end_matches("<![endif]").trim_end_matches("<![endif]--"),
                _ => text,
            };
            let inner = split_nested(body, self.limits, self.max_text, self.nesting + 1);
            self.extra(&inner.visible);
            self.extra(&inner.hidden);
        } else if !(text.starts_with("[if") || text.trim() == "[endif]") {
            self.extra(text);
        }
    }

    fn extra(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() || self.extra_bytes > self.max_text {
            return;
        }
        self.extra_bytes += text.len() + 1;
        self.extras.push(text.to_owned());
    }

    /// An attribute's words; each distinct text once.
    fn words(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() || (self.seen.len() < 5000 && !self.seen.insert(text.to_owned())) {
            return;
        }
        self.extra(text);
    }

    fn element(&mut self, id: Id, local: &str, parent: &Style) -> Option<Style> {
        let mut style =
            style::compute(self.tree, id, parent, self.body_color, self.sheets, self.matcher, &mut self.caches);
        if local == "body" {
            self.body_color = style::color_of(&style);
        }
        self.attributes(id, local, &style);
        match local {
            "script" | "style" => {
                let text = self.tree.own_text(id);
                self.extra(&text);
                return None;
            }
            "title" => {
                let text = self.tree.own_text(id);
                self.words(&text);
                return None;
            }
            "head" | "template" | "noscript" | "noembed" | "noframes" | "iframe" | "object" | "video" | "audio"
            | "canvas" | "datalist" | "dialog" | "rp" | "applet" | "map"
                if !(local == "dialog" && self.tree.attr(id, "open").is_some()) =>
            {
                style.hide_by_nature();
            }
            "td" | "th" => self.both(Writer::space),
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
        } else if matches!(&*name.local, "td" | "th") {
            self.both(Writer::space);
        }
    }

    fn both(&mut self, act: fn(&mut Writer)) {
        act(&mut self.visible);
        act(&mut self.hidden);
    }

    fn attributes(&mut self, id: Id, local: &str, style: &Style) {
        let Some((_, attrs)) = self.tree.node(id).element() else { return };
        for attr in attrs {
            let name = &*attr.name.local;
            let value = &*attr.value;
            if matches!(
                name,
                "style"
                    | "class"
                    | "width"
                    | "height"
                    | "border"
                    | "align"
                    | "color"
                    | "size"
                    | "face"
                    | "bgcolor"
                    | "src"
            ) {
                continue;
            }
            if WORDS.contains(&name) {
                self.words(value);
            } else if TARGETS.contains(&name) {
                if !value.starts_with('#')
                    && matches!(local, "a" | "area" | "form" | "button" | "input" | "blockquote" | "q")
                {
                    // A browser takes line ends and tabs out of an address.
                    let split = value.trim().contains(['\n', '\r', '\t']);
                    if split {
                        self.words(&value.replace(['\n', '\r', '\t'], ""));
                    } else {
                        self.words(value);
                    }
                }
            } else if name == "srcdoc" && self.nesting < MAX_NESTING {
                let inner = split_nested(value, self.limits, self.max_text, self.nesting + 1);
                self.extra(&inner.visible);
                self.extra(&inner.hidden);
            } else if name == "content" && local == "meta" {
                let field = self.tree.attr(id, "name").or(self.tree.attr(id, "property")).unwrap_or_default();
                if field.contains("escription") || field.contains("itle") || field.contains("eywords") {
                    self.words(value);
                }
            } else if name == "value" && matches!(local, "input" | "button" | "param") {
                let kind = self.tree.attr(id, "type").unwrap_or_default().to_ascii_lowercase();
                if local == "param" || kind == "hidden" || style.verdict.is_some() {
                    self.words(value);
                } else if !matches!(kind.as_str(), "checkbox" | "radio" | "password") {
                    self.visible.space();
                    self.visible.text(value, false);
                    self.visible.space();
                }
            }
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
        Split { visible, hidden, hidden_by_style, fragmented_url, truncated: self.truncated }
    }
}

fn breaks(local: &str, style: &Style) -> bool {
    match style.display {
        Some(Display::Block) => true,
        Some(Display::Inline) => local == "br",
        _ => is_block(local),
    }
}
