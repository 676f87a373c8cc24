use std::collections::HashMap;

use lopdf::{Dictionary, Document, Encoding, Object};

/// A font, as far as text and its width go.
pub(super) struct Font<'a> {
    encoding: Option<Encoding<'a>>,
    /// Two bytes a character.
    pub(super) wide: bool,
    widths: HashMap<u32, f32>,
    default_width: Option<f32>,
}

impl<'a> Font<'a> {
    pub(super) fn new(document: &'a Document, dict: &'a Dictionary, max: usize, arena: &'a [Dictionary]) -> Self {
        // ToUnicode first, as every text extractor has it; lopdf looks at it only when there is no Encoding.
        let bare =
            arena.iter().find(|d| d.get(b"ToUnicode").ok() == dict.get(b"ToUnicode").ok() && d.has(b"ToUnicode"));
        let by_table = bare.and_then(|d| d.get_font_encoding_with_limit(document, max).ok());
        let by_table = by_table.filter(|e| matches!(e, Encoding::UnicodeMapEncoding(_)));
        let encoding = by_table.or_else(|| dict.get_font_encoding_with_limit(document, max).ok());
        let wide = super::name_is(dict, b"Subtype", b"Type0");
        let mut font = Self { encoding, wide, widths: HashMap::new(), default_width: None };
        font.read_widths(document, dict);
        font
    }

    fn read_widths(&mut self, document: &Document, dict: &Dictionary) {
        if self.wide {
            let descendant = dict
                .get_deref(b"DescendantFonts", document)
                .and_then(Object::as_array)
                .ok()
                .and_then(|a| a.first())
                .and_then(|d| document.dereference(d).ok())
                .and_then(|(_, d)| d.as_dict().ok());
            let Some(descendant) = descendant else { return };
            self.default_width = descendant.get(b"DW").and_then(Object::as_float).ok().or(Some(1000.0));
            if let Ok(list) = descendant.get_deref(b"W", document).and_then(Object::as_array) {
                self.read_cid_widths(list);
            }
            return;
        }
        let first = dict.get_deref(b"FirstChar", document).and_then(Object::as_i64).unwrap_or(0);
        if let Ok(list) = dict.get_deref(b"Widths", document).and_then(Object::as_array) {
            for (i, width) in list.iter().take(256).enumerate() {
                if let (Ok(width), Ok(code)) = (width.as_float(), u32::try_from(first + i as i64)) {
                    self.widths.insert(code, width);
                }
            }
        }
    }

    /// `c [w1 w2 …]` and `first last w`.
    fn read_cid_widths(&mut self, list: &[Object]) {
        let mut at = 0;
        while at + 1 < list.len() && self.widths.len() < 65_536 {
            let Ok(start) = list[at].as_i64() else { return };
            if let Ok(inner) = list[at + 1].as_array() {
                for (i, width) in inner.iter().enumerate() {
                    if let (Ok(width), Ok(code)) = (width.as_float(), u32::try_from(start + i as i64)) {
                        self.widths.insert(code, width);
                    }
                }
                at += 2;
            } else {
                let (Some(Ok(end)), Some(Ok(width))) =
                    (list.get(at + 1).map(Object::as_i64), list.get(at + 2).map(Object::as_float))
                else {
                    return;
                };
                for code in start.max(0)..=end.min(start.saturating_add(4096)) {
                    self.widths.insert(code as u32, width);
                }
                at += 3;
            }
        }
    }

    /// The text of a string, and its width in thousandths of the font size.
    pub(super) fn show(&self, bytes: &[u8]) -> (String, f32) {
        let text = match &self.encoding {
            Some(encoding) => Document::decode_text(encoding, bytes).unwrap_or_default(),
            None => String::new(),
        };
        let text = if text.is_empty() && !bytes.is_empty() && !self.wide {
            bytes.iter().map(|b| *b as char).collect()
        } else {
            text.replace('\0', "")
        };
        let width = if self.wide {
            bytes.chunks(2).map(|c| self.width(c.iter().fold(0, |n, b| n << 8 | u32::from(*b)), 'n')).sum()
        } else {
            let chars = text.chars().chain(std::iter::repeat('n'));
            bytes.iter().zip(chars).map(|(b, c)| self.width(u32::from(*b), c)).sum()
        };
        (text, width)
    }

    fn width(&self, code: u32, c: char) -> f32 {
        if let Some(width) = self.widths.get(&code) {
            return *width;
        }
        // About Helvetica's, for fonts that need no table.
        self.default_width.unwrap_or(match c {
            'i' | 'j' | 'l' | 't' | 'f' | 'I' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '/' => 270.0,
            'm' | 'M' | 'W' | '@' | '%' => 850.0,
            'A'..='Z' | 'w' => 690.0,
            _ => 540.0,
        })
    }
}

/// The fonts' dictionaries without their Encoding, so that lopdf reads their ToUnicode tables.
pub(super) fn without_encoding<'a>(fonts: impl Iterator<Item = &'a Dictionary>) -> Vec<Dictionary> {
    fonts
        .filter(|f| f.has(b"ToUnicode") && f.has(b"Encoding"))
        .map(|f| {
            let mut bare = f.clone();
            bare.remove(b"Encoding");
            bare
        })
        .collect()
}
