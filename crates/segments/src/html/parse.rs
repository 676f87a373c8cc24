//! Runs html5ever within bounds. It is quadratic in nesting depth, in the number of one tag's attributes, and in formatting elements
//! that are open when a block begins, and it can't be stopped from within: so tokens pass a gate on their way to the tree builder.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::{Tracer, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    CharacterTokens, CommentToken, DoctypeToken, EndTag, StartTag, TagToken, Token, TokenSink, TokenSinkResult,
    Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::tree::{Id, Sink, Tree};

/// Open elements, as Blink bounds them, but lower: no mail that a person wrote comes near.
const MAX_OPEN: usize = 256;
/// Attributes of one tag; a browser has no bound, but html5ever compares each with each.
const MAX_ATTRIBUTES: usize = 256;
/// Tags up to this length can't hold too many attributes to be quick.
const LONG_TAG: usize = 2048;
/// End tags whose attributes are kept.
const MAX_BESIDE: usize = 1000;
/// Put behind the document: when it does not arrive as text, the end of the document lies inside a tag.
const SENTINEL: char = '\u{10fffe}';

/// A parsed document.
pub(super) struct Document {
    pub(super) tree: Tree,
    /// Text behind the point where a bound was reached.
    pub(super) rest: String,
    /// Raw text that html5ever drops: a tag that never ends, and the attributes of a tag over the bound.
    pub(super) dropped: Vec<String>,
    /// What end tags and document types say beyond their names: the tree has no place for it.
    pub(super) beside: Vec<String>,
    pub(super) truncated: bool,
}

/// Parses a document.
pub(super) fn parse(text: &str, max_nodes: usize) -> Document {
    let (tame, dropped) = tame(text);
    let mut dropped: Vec<String> = dropped.into_iter().map(str::to_owned).collect();
    let mut truncated = !dropped.is_empty();
    let sink = Sink::new((tame.len() / 24).clamp(16, 1 << 16));
    let builder = TreeBuilder::new(sink, TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() });
    let all = StrTendril::from_slice(&tame);
    let gate = Gate {
        input: all.clone(),
        builder,
        max_nodes,
        starts: Cell::new(0),
        deep: Cell::new(false),
        stopped: Cell::new(false),
        bounded: Cell::new(false),
        ended: Cell::new(false),
        rest: RefCell::new(String::new()),
        text: RefCell::new(StrTendril::new()),
        beside: RefCell::new(Vec::new()),
    };
    let tokenizer = Tokenizer::new(gate, TokenizerOpts { discard_bom: true, ..TokenizerOpts::default() });
    let input = BufferQueue::default();
    input.push_back(all);
    let mut sentinel = [0; 4];
    input.push_back(StrTendril::from_slice(SENTINEL.encode_utf8(&mut sentinel)));
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    let gate = tokenizer.sink;
    if !gate.ended.get() {
        let start = unterminated(&tame);
        dropped.push(tame[start..].to_owned());
    }
    truncated |= gate.bounded.get();
    Document {
        rest: gate.rest.into_inner(),
        tree: gate.builder.sink.finish(),
        dropped,
        beside: gate.beside.into_inner(),
        truncated,
    }
}

struct Gate {
    input: StrTendril,
    builder: TreeBuilder<Id, Sink>,
    max_nodes: usize,
    starts: Cell<u32>,
    /// Too many elements are open: further start tags are passed over.
    deep: Cell<bool>,
    /// Too many nodes: only text is gathered.
    stopped: Cell<bool>,
    bounded: Cell<bool>,
    ended: Cell<bool>,
    rest: RefCell<String>,
    /// Text that is gathered until something else comes: html5ever cuts text at every line end.
    text: RefCell<StrTendril>,
    beside: RefCell<Vec<String>>,
}

struct Count(Cell<usize>);

impl Tracer for Count {
    type Handle = Id;

    fn trace_handle(&self, _: &Id) {
        self.0.set(self.0.get() + 1);
    }
}

impl Gate {
    /// Looks at the bounds now and then; both counts are linear to take.
    fn check(&self) {
        let count = self.starts.get().wrapping_add(1);
        self.starts.set(count);
        if !count.is_multiple_of(32) {
            return;
        }
        let open = Count(Cell::new(0));
        self.builder.trace_handles(&open);
        self.deep.set(open.0.get() > MAX_OPEN);
        self.stopped.set(self.builder.sink.len() > self.max_nodes);
        if self.deep.get() || self.stopped.get() {
            self.bounded.set(true);
        }
    }

    fn gather(&self, text: StrTendril) {
        if self.stopped.get() {
            self.rest.borrow_mut().push_str(&text);
            return;
        }
        let mut gathered = self.text.borrow_mut();
        match self.as_input(&gathered, &text) {
            _ if gathered.is_empty() => *gathered = text,
            Some(joined) => *gathered = joined,
            None => gathered.push_tendril(&text),
        }
    }

    /// Two texts joined, as a part of the input where they stand there one behind the other: that takes no copy.
    fn as_input(&self, a: &StrTendril, b: &StrTendril) -> Option<StrTendril> {
        let input = self.input.as_bytes();
        let place = |t: &StrTendril| {
            let at = (t.as_ptr() as usize).checked_sub(input.as_ptr() as usize)?;
            (at + t.len() <= input.len()).then_some(at)
        };
        let start = match place(a) {
            Some(start) => start,
            // A short text is a copy, wherever it stood.
            None if a.len() <= 8 => {
                place(b)?.checked_sub(a.len()).filter(|at| input[*at..].starts_with(a.as_bytes()))?
            }
            None => return None,
        };
        let there = input.get(start + a.len()..)?.starts_with(b.as_bytes());
        there.then(|| self.input.subtendril(start as u32, (a.len() + b.len()) as u32))
    }

    fn beside(&self, text: String) {
        let mut beside = self.beside.borrow_mut();
        if beside.len() < MAX_BESIDE {
            beside.push(text);
        } else {
            self.bounded.set(true);
        }
    }

    fn without_sentinel(&self, text: StrTendril) -> StrTendril {
        match text.strip_suffix(SENTINEL) {
            Some(rest) => {
                self.ended.set(true);
                StrTendril::from_slice(rest)
            }
            None => text,
        }
    }
}

impl TokenSink for Gate {
    type Handle = Id;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Id> {
        let token = match token {
            Token::ParseError(_) => return TokenSinkResult::Continue,
            CharacterTokens(text) => {
                self.gather(self.without_sentinel(text));
                return TokenSinkResult::Continue;
            }
            CommentToken(text) => CommentToken(self.without_sentinel(text)),
            token => token,
        };
        let text = self.text.take();
        if !text.is_empty() {
            let _ = self.builder.process_token(CharacterTokens(text), line);
        }
        if let TagToken(tag) = &token {
            match tag.kind {
                StartTag => {
                    self.check();
                    if self.deep.get() {
                        return TokenSinkResult::Continue;
                    }
                }
                EndTag => {
                    if self.deep.get() {
                        self.check();
                    }
                    if !tag.attrs.is_empty() {
                        let words = tag.attrs.iter().flat_map(|a| [&*a.name.local, &*a.value]);
                        self.beside(words.filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" "));
                    }
                }
            }
        }
        if let DoctypeToken(doctype) = &token {
            let standard = ["-//W3C//", "-//IETF//", "http://www.w3.org/", "about:legacy-compat"];
            for id in [&doctype.public_id, &doctype.system_id].into_iter().flatten() {
                if !standard.iter().any(|s| id.get(..s.len()).is_some_and(|start| start.eq_ignore_ascii_case(s))) {
                    self.beside(id.to_string());
                }
            }
        }
        if self.stopped.get() && !matches!(token, Token::EOFToken) {
            return TokenSinkResult::Continue;
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Cuts attributes over the bound out of long tags; gives what was cut.
fn tame(text: &str) -> (Cow<'_, str>, Vec<&str>) {
    let bytes = text.as_bytes();
    // Without a long stretch that has no `>` there is no long tag.
    if bytes.chunks_exact(LONG_TAG / 2).all(|chunk| memchr::memchr(b'>', chunk).is_some()) {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'<', &bytes[at..]).map(|i| i + at) {
        at = open + 1;
        if !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let close = memchr::memchr(b'>', &bytes[at..]).map_or(bytes.len(), |i| i + at);
        if close - open <= LONG_TAG {
            at = close;
            continue;
        }
        let (end, over) = attributes(bytes, at);
        if let Some(over) = over {
            cuts.push((over, end));
        }
        at = end;
    }
    if cuts.is_empty() {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in &cuts {
        out.push_str(&text[from..*start]);
        from = *end;
    }
    out.push_str(&text[from..]);
    (Cow::Owned(out), cuts.into_iter().map(|(start, end)| &text[start..end]).collect())
}

/// Where a tag ends, and where the attribute begins that is one too many.
fn attributes(bytes: &[u8], start: usize) -> (usize, Option<usize>) {
    let mut count = 0;
    let mut over = None;
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'>' => return (at, over),
            b'=' => {
                at += 1;
                while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                    at += 1;
                }
                if let Some(quote @ (b'"' | b'\'')) = bytes.get(at).copied() {
                    at = memchr::memchr(quote, &bytes[at + 1..]).map_or(bytes.len(), |i| at + i + 2);
                    // The next attribute may follow without a space.
                    count += 1;
                } else {
                    while bytes.get(at).is_some_and(|b| !b.is_ascii_whitespace() && *b != b'>') {
                        at += 1;
                    }
                }
                if count > MAX_ATTRIBUTES && over.is_none() && at < bytes.len() {
                    over = Some(at);
                }
                continue;
            }
            b if b.is_ascii_whitespace() || b == b'/' => {
                count += usize::from(bytes.get(at + 1).is_some_and(|b| !b.is_ascii_whitespace()));
                if count > MAX_ATTRIBUTES && over.is_none() {
                    over = Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    (bytes.len(), over)
}

/// The start of the tag or declaration in whose middle the text ends.
fn unterminated(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut last = bytes.len();
    while let Some(open) = memchr::memchr(b'<', &bytes[at..]).map(|i| i + at) {
        at = open + 1;
        match bytes.get(at) {
            Some(b) if b.is_ascii_alphabetic() || *b == b'/' => {
                let (end, _) = attributes(bytes, at);
                if end >= bytes.len() {
                    return open;
                }
                at = end;
            }
            Some(b'!') if bytes[at..].starts_with(b"!--") => match memchr::memmem::find(&bytes[at..], b"-->") {
                Some(i) => at += i + 3,
                None => return open,
            },
            Some(b'!' | b'?') => match memchr::memchr(b'>', &bytes[at..]) {
                Some(i) => at += i,
                None => return open,
            },
            _ => {}
        }
        last = open;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_that_never_ends_is_not_lost() {
        let document = parse("<p>seen</p><a title=\"swallowed <b>text</b>", 1000);
        assert_eq!(document.dropped, ["<a title=\"swallowed <b>text</b>"]);
        assert!(parse("<p>seen</p>", 1000).dropped.is_empty());
        assert!(parse("<p>seen</p> 1 < 2", 1000).dropped.is_empty());
        assert!(parse("<!-- open", 1000).dropped.is_empty());
    }

    #[test]
    fn bounds_stop_the_tree_but_lose_no_text() {
        let deep = format!("{}deep{}tail", "<div>".repeat(5000), "</div>".repeat(5000));
        let document = parse(&deep, 100_000);
        assert!(document.truncated);
        let all: String = document
            .tree
            .nodes
            .iter()
            .filter_map(|n| match &n.data {
                super::super::tree::Data::Text(t) => Some(t.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(all, "deeptail");
        let wide = format!("{}end", "<p>x".repeat(5000));
        let document = parse(&wide, 1000);
        assert!(document.truncated && document.rest.ends_with("end"));
        let many: String = (0..5000).map(|i| format!(" a{i}=1")).collect();
        let document = parse(&format!("<p{many}>text"), 1000);
        assert_eq!(document.dropped.len(), 1);
    }
}
