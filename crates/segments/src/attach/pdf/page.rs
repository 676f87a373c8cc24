use std::collections::BTreeMap;

use lopdf::content::Content;
use lopdf::{Dictionary, Document, Object, ObjectId};

use super::Pdf;
use super::font::{Font, without_encoding};
use super::state::{IDENTITY, Matrix, State, multiply, numbers};
use crate::limits::Limits;

/// Smaller than this, in points on the page, nobody reads.
const MIN_POINTS: f32 = 1.5;
/// Form objects inside form objects.
const MAX_FORMS: usize = 6;

/// A piece of text on a page.
#[derive(Debug, Clone)]
struct Run {
    text: String,
    x: f32,
    y: f32,
    end: f32,
    points: f32,
}

/// Reads the pages of a document.
pub(super) struct Pages<'a> {
    document: &'a Document,
    limits: &'a Limits,
    unpack: usize,
    operators: usize,
    max_text: usize,
    text_bytes: usize,
    visible: Vec<String>,
    by_place: Vec<String>,
    differs: bool,
    hidden: Vec<String>,
    truncated: bool,
}

/// One page's runs, in drawing order.
#[derive(Default)]
struct Drawn {
    visible: Vec<Run>,
    hidden: Vec<Run>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(document: &'a Document, limits: &'a Limits, unpack: usize, max_text: usize) -> Self {
        Self {
            document,
            limits,
            unpack,
            operators: limits.max_pdf_operators,
            max_text,
            text_bytes: 0,
            visible: Vec::new(),
            by_place: Vec::new(),
            differs: false,
            hidden: Vec::new(),
            truncated: false,
        }
    }

    pub(super) fn unpack_left(&self) -> usize {
        self.unpack
    }

    pub(super) fn read(&mut self) {
        for (number, id) in self.document.page_iter().enumerate() {
            if number >= self.limits.max_pdf_pages || self.operators == 0 || self.text_bytes > self.max_text {
                self.truncated = true;
                return;
            }
            self.page(id);
        }
    }

    pub(super) fn finish(self, pdf: &mut Pdf) {
        pdf.visible = self.visible.join("\n");
        pdf.by_place = self.differs.then(|| self.by_place.join("\n"));
        pdf.hidden = self.hidden.join("\n");
        pdf.truncated |= self.truncated;
    }

    fn page(&mut self, id: ObjectId) {
        let bound = self.unpack.min(8 << 20);
        let Ok(content) = self.document.get_page_content_with_limit(id, bound) else {
            self.truncated = true;
            return;
        };
        self.unpack -= content.len().min(self.unpack);
        let mut resources: Vec<&Dictionary> = Vec::new();
        if let Ok((own, inherited)) = self.document.get_page_resources(id) {
            resources.extend(own);
            resources.extend(inherited.iter().filter_map(|id| self.document.get_dictionary(*id).ok()));
        }
        let mut drawn = Drawn::default();
        let media = self.media_box(id);
        self.content(&content, &resources, IDENTITY, media, &mut drawn, 0);
        let in_order = lines_in_order(&drawn.visible);
        let by_place = lines_by_place(&drawn.visible);
        let squeezed = |t: &str| t.split_whitespace().collect::<String>();
        self.differs |= squeezed(&in_order) != squeezed(&by_place);
        self.text_bytes += in_order.len();
        self.visible.push(in_order);
        self.by_place.push(by_place);
        if !drawn.hidden.is_empty() {
            let hidden = lines_in_order(&drawn.hidden);
            self.text_bytes += hidden.len();
            self.hidden.push(hidden);
        }
    }

    /// The page's box, from the page or what it inherits from.
    fn media_box(&self, id: ObjectId) -> [f32; 4] {
        let mut dict = self.document.get_dictionary(id).ok();
        for _ in 0..20 {
            let Some(d) = dict else { break };
            if let Ok(found) = d.get_deref(b"MediaBox", self.document).and_then(Object::as_array)
                && let Some(found) = numbers::<4>(found)
            {
                return [
                    found[0].min(found[2]),
                    found[1].min(found[3]),
                    found[0].max(found[2]),
                    found[1].max(found[3]),
                ];
            }
            dict = d.get_deref(b"Parent", self.document).and_then(Object::as_dict).ok();
        }
        [0.0, 0.0, 612.0, 792.0]
    }

    fn content(
        &mut self,
        content: &[u8],
        resources: &[&'a Dictionary],
        ctm: Matrix,
        media: [f32; 4],
        drawn: &mut Drawn,
        depth: usize,
    ) {
        let Ok(content) = Content::decode(content) else { return };
        let document = self.document;
        let mut dicts: BTreeMap<&[u8], &Dictionary> = BTreeMap::new();
        for resource in resources {
            let Ok(list) = resource.get_deref(b"Font", document).and_then(Object::as_dict) else { continue };
            for (name, font) in list.iter().take(200) {
                if let Ok(font) = document.dereference(font).and_then(|(_, f)| f.as_dict()) {
                    dicts.entry(name.as_slice()).or_insert(font);
                }
            }
        }
        let bare = without_encoding(dicts.values().copied());
        let names: Vec<&[u8]> = dicts.keys().copied().collect();
        let fonts: Vec<Font<'_>> =
            dicts.values().map(|d| Font::new(document, d, self.unpack.clamp(1 << 16, 1 << 20), &bare)).collect();
        let mut state = State::new(ctm);
        let mut stack: Vec<State> = Vec::new();
        let (mut text, mut line) = (IDENTITY, IDENTITY);
        for operation in &content.operations {
            if self.operators == 0 || self.text_bytes > self.max_text {
                self.truncated = true;
                return;
            }
            self.operators -= 1;
            let operands = operation.operands.as_slice();
            match operation.operator.as_str() {
                "q" if stack.len() < 512 => stack.push(state.clone()),
                "Q" => state = stack.pop().unwrap_or(state),
                "cm" => {
                    if let Some(m) = numbers::<6>(operands) {
                        state.ctm = multiply(&m, &state.ctm);
                    }
                }
                "BT" => (text, line) = (IDENTITY, IDENTITY),
                "Tf" => {
                    let name = operands.first().and_then(|o| o.as_name().ok());
                    state.font = name.and_then(|n| names.binary_search(&n).ok());
                    state.size = operands.get(1).and_then(|o| o.as_float().ok()).unwrap_or(0.0);
                }
                "Tr" => state.mode = operands.first().and_then(|o| o.as_i64().ok()).unwrap_or(0),
                "TL" => state.leading = float(operands),
                "Tc" => state.char_space = float(operands),
                "Tw" => state.word_space = float(operands),
                "Tz" => state.scale = float(operands) / 100.0,
                "Ts" => state.rise = float(operands),
                "g" | "rg" | "k" | "sc" | "scn" => state.fill(operands),
                "cs" => state.white = false,
                "gs" => {
                    let name = operands.first().and_then(|o| o.as_name().ok()).unwrap_or_default();
                    let alpha = resources.iter().find_map(|r| {
                        let list = r.get_deref(b"ExtGState", document).and_then(Object::as_dict).ok()?;
                        let dict = list.get_deref(name, document).and_then(Object::as_dict).ok()?;
                        dict.get_deref(b"ca", document).and_then(Object::as_float).ok()
                    });
                    if let Some(alpha) = alpha {
                        state.transparent = alpha < 0.03;
                    }
                }
                "Td" | "TD" => {
                    if let Some([x, y]) = numbers::<2>(operands) {
                        if operation.operator == "TD" {
                            state.leading = -y;
                        }
                        line = multiply(&[1.0, 0.0, 0.0, 1.0, x, y], &line);
                        text = line;
                    }
                }
                "Tm" => {
                    if let Some(m) = numbers::<6>(operands) {
                        (text, line) = (m, m);
                    }
                }
                "T*" | "'" | "\"" => {
                    line = multiply(&[1.0, 0.0, 0.0, 1.0, 0.0, -state.leading], &line);
                    text = line;
                    if operation.operator != "T*" {
                        let shown = operands.last().map(std::slice::from_ref).unwrap_or_default();
                        self.show(shown, &state, &fonts, &mut text, media, drawn);
                    }
                }
                "Tj" | "TJ" => self.show(operands, &state, &fonts, &mut text, media, drawn),
                "Do" if depth < MAX_FORMS => {
                    let name = operands.first().and_then(|o| o.as_name().ok()).unwrap_or_default();
                    self.form(name, resources, state.ctm, media, drawn, depth);
                }
                _ => {}
            }
        }
    }

    /// Draws a form object.
    fn form(
        &mut self,
        name: &[u8],
        resources: &[&'a Dictionary],
        ctm: Matrix,
        media: [f32; 4],
        drawn: &mut Drawn,
        depth: usize,
    ) {
        let document = self.document;
        let found = resources.iter().find_map(|r| {
            let list = r.get_deref(b"XObject", document).and_then(Object::as_dict).ok()?;
            list.get_deref(name, document).and_then(Object::as_stream).ok()
        });
        let Some(stream) = found.filter(|s| super::name_is(&s.dict, b"Subtype", b"Form")) else { return };
        let Ok(content) = stream.get_plain_content_with_limit(self.unpack.min(4 << 20)) else {
            self.truncated = true;
            return;
        };
        // A form may be drawn again and again: each time costs.
        self.unpack -= content.len().min(self.unpack);
        self.operators = self.operators.saturating_sub(100);
        let matrix = stream.dict.get_deref(b"Matrix", document).and_then(Object::as_array).ok();
        let ctm = matrix.and_then(|m| numbers::<6>(m)).map_or(ctm, |m| multiply(&m, &ctm));
        let own = stream.dict.get_deref(b"Resources", document).and_then(Object::as_dict).ok();
        let inner: Vec<&Dictionary> = own.into_iter().chain(resources.iter().copied()).take(8).collect();
        self.content(&content, &inner, ctm, media, drawn, depth + 1);
    }

    fn show(
        &mut self,
        operands: &[Object],
        state: &State,
        fonts: &[Font<'_>],
        text: &mut Matrix,
        media: [f32; 4],
        drawn: &mut Drawn,
    ) {
        let items: &[Object] = match operands.first() {
            Some(Object::Array(items)) => items,
            Some(_) => &operands[..1],
            None => return,
        };
        let full = multiply(text, &state.ctm);
        let stretch = |m: &Matrix| (m[0] * m[0] + m[1] * m[1]).sqrt().max((m[2] * m[2] + m[3] * m[3]).sqrt());
        let points = state.size.abs() * stretch(&full);
        let mut shown = String::new();
        let mut advance = 0.0_f32;
        for item in items {
            match item {
                Object::String(bytes, _) => {
                    let (piece, width) = match state.font.and_then(|i| fonts.get(i)) {
                        Some(font) => font.show(bytes),
                        None => (bytes.iter().map(|b| *b as char).collect(), 540.0 * bytes.len() as f32),
                    };
                    let count = piece.chars().count() as f32;
                    let spaces = piece.chars().filter(|c| *c == ' ').count() as f32;
                    advance += (width / 1000.0 * state.size + count * state.char_space + spaces * state.word_space)
                        * state.scale;
                    shown.push_str(&piece);
                }
                other => {
                    if let Ok(kern) = other.as_float() {
                        // A wide gap inside one operator parts words.
                        if kern < -200.0 && !shown.ends_with(' ') && !shown.is_empty() {
                            shown.push(' ');
                        }
                        advance -= kern / 1000.0 * state.size * state.scale;
                    }
                }
            }
        }
        let start = multiply(&[1.0, 0.0, 0.0, 1.0, 0.0, state.rise], &full);
        *text = multiply(&[1.0, 0.0, 0.0, 1.0, advance, 0.0], text);
        let end = multiply(text, &state.ctm);
        if shown.is_empty() {
            return;
        }
        let outside =
            start[4] < media[0] - points || start[4] > media[2] || start[5] < media[1] - points || start[5] > media[3];
        let unseen = matches!(state.mode, 3 | 7)
            || points < MIN_POINTS
            || state.white
            || state.transparent
            || outside
            || state.scale.abs() < 0.02;
        let run = Run { text: shown, x: start[4], y: start[5], end: end[4], points: points.max(1.0) };
        self.text_bytes += run.text.len();
        if unseen { drawn.hidden.push(run) } else { drawn.visible.push(run) }
    }
}

fn float(operands: &[Object]) -> f32 {
    operands.first().and_then(|o| o.as_float().ok()).unwrap_or(0.0)
}

/// Joins runs as they were drawn: a new line where the height changes, a space where there is a gap.
fn lines_in_order(runs: &[Run]) -> String {
    join(runs.iter())
}

/// Joins runs from the top of the page to its foot, and from left to right.
fn lines_by_place(runs: &[Run]) -> String {
    let mut sorted: Vec<&Run> = runs.iter().collect();
    // Whole lines first: heights that differ by less than half the size are one line.
    sorted.sort_by(|a, b| b.y.total_cmp(&a.y));
    let mut lines: Vec<Vec<&Run>> = Vec::new();
    for run in sorted {
        match lines.last_mut() {
            Some(line) if (line[0].y - run.y).abs() < run.points.max(line[0].points) * 0.4 => line.push(run),
            _ => lines.push(vec![run]),
        }
    }
    for line in &mut lines {
        line.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    join(lines.into_iter().flatten())
}

fn join<'r>(runs: impl Iterator<Item = &'r Run>) -> String {
    let mut out = String::new();
    let mut last: Option<&Run> = None;
    for run in runs {
        if let Some(before) = last {
            let size = run.points.max(before.points);
            if (run.y - before.y).abs() > size * 0.4 {
                out.push('\n');
            } else if !out.ends_with(' ')
                && !run.text.starts_with(' ')
                && (run.x > before.end + size * 0.18 || run.x < before.x - size * 0.5)
            {
                out.push(' ');
            }
        }
        out.push_str(&run.text);
        last = Some(run);
    }
    out
}
