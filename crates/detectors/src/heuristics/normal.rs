//! Text as rules see it.

use unicode_normalization::UnicodeNormalization;

/// Text in lower case, without accents, invisible characters, quote marks at the start of lines, and emphasis, with single spaces, and
/// with letters that look Latin made Latin.
#[derive(Debug, Default)]
pub(super) struct Normal {
    pub(super) text: String,
    /// For each byte of `text`, the byte of the original that it comes from.
    at: Vec<u32>,
}

impl Normal {
    pub(super) fn of(original: &str) -> Self {
        let mut out = Self { text: String::with_capacity(original.len()), at: Vec::with_capacity(original.len()) };
        let mut line_start = true;
        for (i, c) in original.char_indices() {
            let i = i as u32;
            match c {
                '\n' => {
                    line_start = true;
                    out.space(i);
                }
                '>' if line_start => {}
                '*' | '`' => {}
                '|' | ' ' | '\t' | '\r' | '\x0b' | '\x0c' => out.space(i),
                _ if c.is_ascii() => {
                    line_start = false;
                    out.push(c.to_ascii_lowercase(), i);
                }
                _ => {
                    line_start = false;
                    out.other(c, i);
                }
            }
        }
        out
    }

    /// The place in the original of a place in the normalised text.
    pub(super) fn original(&self, offset: usize) -> usize {
        self.at.get(offset).or(self.at.last()).map_or(0, |i| *i as usize)
    }

    fn push(&mut self, c: char, i: u32) {
        self.text.push(c);
        self.at.resize(self.text.len(), i);
    }

    fn space(&mut self, i: u32) {
        if !self.text.ends_with(' ') {
            self.push(' ', i);
        }
    }

    fn other(&mut self, c: char, i: u32) {
        // Tag characters spell ASCII.
        if let Some(ascii) = (c as u32).checked_sub(0xE0000).filter(|n| (0x20..0x7F).contains(n)) {
            return self.push(char::from(ascii as u8).to_ascii_lowercase(), i);
        }
        if is_invisible(c) {
            return;
        }
        if c.is_whitespace() {
            return self.space(i);
        }
        if let Some(latin) = lookalike(c) {
            return self.push(latin, i);
        }
        for part in std::iter::once(c).nfkd().filter(|p| !is_mark(*p)) {
            for lower in part.to_lowercase() {
                match lookalike(lower) {
                    Some(latin) => self.push(latin, i),
                    None if lower.is_whitespace() => self.space(i),
                    None if lower == 'ß' => {
                        self.push('s', i);
                        self.push('s', i);
                    }
                    None if is_mark(lower) => {}
                    None => self.push(lower, i),
                }
            }
        }
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}')
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Cyrillic and Greek letters that look like Latin ones in both cases, so that text in those alphabets stays the same in either, and
/// typographic punctuation.
pub(super) fn lookalike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'А' | 'α' | 'Α' => 'a',
        'с' | 'С' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'Ε' | 'є' => 'e',
        'ɡ' => 'g',
        'һ' => 'h',
        'і' | 'І' | 'Ι' | 'ι' | 'ı' => 'i',
        'ј' | 'Ј' => 'j',
        'К' | 'Κ' | 'κ' | 'к' => 'k',
        'ӏ' | 'Ӏ' => 'l',
        'о' | 'О' | 'ο' | 'Ο' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ԛ' => 'q',
        'ѕ' | 'Ѕ' => 's',
        'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' => 'y',
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{2032}' | '\u{60}' => '\'',
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '«' | '»' => '"',
        '\u{2010}'..='\u{2015}' => '-',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised() {
        for (original, expected) in [
            ("Ignore  ALL\n> > previous\r\n\tinstructions", "ignore all previous instructions"),
            ("Igno\u{200B}re prev\u{AD}ious", "ignore previous"),
            ("Іgnоrе", "ignore"),
            ("ｉｇｎｏｒｅ 𝐩𝐫𝐞𝐯𝐢𝐨𝐮𝐬", "ignore previous"),
            ("Élève, Straße, Größe", "eleve, strasse, grosse"),
            ("a\u{3000}b\u{A0}c | d **e**", "a b c d e"),
            ("it\u{2019}s", "it's"),
            ("\u{E0049}\u{E0067}\u{E006E}", "ign"),
            ("メール", "メール"),
            ("a > b", "a > b"),
        ] {
            assert_eq!(Normal::of(original).text, expected, "{original:?}");
        }
    }

    #[test]
    fn places_lead_back() {
        let original = "\u{200B}Élan  ignоre";
        let normal = Normal::of(original);
        let at = normal.text.find("ignore").unwrap();
        assert_eq!(normal.original(at), original.find("ign").unwrap());
        assert_eq!(normal.text.len(), normal.at.len());
        assert_eq!(Normal::of("").original(7), 0);
    }
}
