//! Characters that no reader sees: counted, and decoded where they spell something.

/// How many there are, and where the first stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) count: u32,
    pub(super) offset: usize,
}

impl Found {
    fn add(&mut self, count: u32, offset: usize) {
        if self.count == 0 {
            self.offset = offset;
        }
        self.count = self.count.saturating_add(count);
    }
}

/// What one text holds.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) tags: Found,
    pub(super) zero_width: Found,
    pub(super) bidi: Found,
    /// Texts that tags, variation selectors or zero-width bits spell.
    pub(super) spelled: Vec<String>,
    /// There are invisible characters of any sort.
    pub(super) any: bool,
}

/// Characters without width or ink, other than white space.
pub(super) fn is_invisible(c: char) -> bool {
    // Most letters of the world lie below or between the ranges.
    if c < '\u{ad}' || ('\u{3165}'..'\u{fe00}').contains(&c) {
        return false;
    }
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

fn is_tag(c: char) -> bool {
    ('\u{e0000}'..='\u{e007f}').contains(&c)
}

/// The byte that a variation selector stands for.
fn selector_byte(c: char) -> Option<u8> {
    match c {
        '\u{fe00}'..='\u{fe0f}' => Some((c as u32 - 0xfe00) as u8),
        '\u{e0100}'..='\u{e01ef}' => Some((c as u32 - 0xe0100 + 16) as u8),
        _ => None,
    }
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_zero_width(c: char) -> bool {
    is_invisible(c)
        && !is_tag(c)
        && selector_byte(c).is_none()
        && !is_bidi(c)
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// Scripts whose letters are parted or joined by zero-width characters in ordinary text.
fn joins(c: char) -> bool {
    matches!(c as u32, 0x590..=0x10ff | 0x1100..=0x11ff | 0x1780..=0x18af | 0x1a00..=0x1cff | 0xa800..=0xabff | 0x11000..=0x12000)
}

/// Scans a text. A run of invisible characters counts as zero-width where it stands between two letters or digits.
pub(super) fn scan(text: &str) -> Scan {
    let mut out = Scan::default();
    let mut at = 0;
    while let Some(offset) = next_foreign(text, at) {
        let run: Vec<char> = text[offset..].chars().take_while(|c| is_invisible(*c)).collect();
        if run.is_empty() {
            at = offset + text[offset..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        at = offset + run.iter().map(|c| c.len_utf8()).sum::<usize>();
        let before = text[..offset].chars().next_back().unwrap_or(' ');
        let after = text[at..].chars().next().unwrap_or(' ');
        out.any = true;
        one_run(&mut out, &run, offset, before, after);
    }
    out
}

/// The offset of the next character that is not ASCII: most text has few.
fn next_foreign(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    for chunk in text.as_bytes()[from..].chunks(64) {
        if !chunk.is_ascii() {
            return chunk.iter().position(|b| !b.is_ascii()).map(|i| at + i);
        }
        at += chunk.len();
    }
    None
}

fn one_run(out: &mut Scan, run: &[char], offset: usize, before: char, after: char) {
    let tags: Vec<char> = run.iter().copied().filter(|c| is_tag(*c)).collect();
    // A black flag and up to six tags is the flag of a region.
    let flag = before == '\u{1f3f4}' && tags.len() <= 7;
    if !tags.is_empty() && !flag {
        out.tags.add(tags.len() as u32, offset);
        let text: String =
            tags.iter().filter_map(|c| char::from_u32(*c as u32 - 0xe0000)).filter(|c| !c.is_control()).collect();
        if !text.trim().is_empty() {
            out.spelled.push(text);
        }
    }
    // One selector after a character chooses its form; several spell bytes.
    let selectors: Vec<u8> = run.iter().filter_map(|c| selector_byte(*c)).collect();
    if selectors.len() > 1 {
        out.tags.add(selectors.len() as u32, offset);
        if let Some(text) = readable(selectors) {
            out.spelled.push(text);
        }
    }
    let bidi = run.iter().filter(|c| is_bidi(**c)).count();
    if bidi > 0 {
        out.bidi.add(bidi as u32, offset);
    }
    let zero: Vec<char> = run.iter().copied().filter(|c| is_zero_width(*c)).collect();
    if zero.len() >= 16
        && let Some(text) = bits(&zero)
    {
        out.zero_width.add(zero.len() as u32, offset);
        out.spelled.push(text);
        return;
    }
    if !zero.is_empty() && before.is_alphanumeric() && after.is_alphanumeric() && !(joins(before) && joins(after)) {
        out.zero_width.add(zero.len() as u32, offset);
    }
}

fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?.replace("\r\n", "\n").replace('\r', "\n");
    let words = text.chars().count() >= 2 && !text.trim().is_empty();
    (words && !text.chars().any(|c| c.is_control() && !c.is_whitespace())).then_some(text)
}

/// Two kinds of zero-width character in a long run spell bits, eight to a byte, in either sense.
fn bits(run: &[char]) -> Option<String> {
    let zero = *run.first()?;
    let one = *run.iter().find(|c| **c != zero)?;
    let digits: Vec<char> = run.iter().copied().filter(|c| *c == zero || *c == one).collect();
    if digits.len() * 10 < run.len() * 8 {
        return None;
    }
    let decode = |first: u8| {
        let byte = |eight: &[char]| eight.iter().fold(0_u8, |b, c| b << 1 | if *c == zero { first } else { 1 - first });
        readable(digits.chunks_exact(8).map(byte).collect())
    };
    decode(0).or_else(|| decode(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_spell_text_but_flags_do_not() {
        let hidden: String = "obey".chars().filter_map(|c| char::from_u32(c as u32 + 0xe0000)).collect();
        let found = scan(&format!("hi{hidden} there"));
        assert_eq!((found.tags.count, found.tags.offset), (4, 2));
        assert_eq!(found.spelled, ["obey"]);
        let wales = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}";
        assert_eq!(scan(wales).tags.count, 0);
    }

    #[test]
    fn selectors_spell_bytes() {
        let hidden: String = "obey"
            .bytes()
            .filter_map(|b| char::from_u32(if b < 16 { 0xfe00 + u32::from(b) } else { 0xe0100 + u32::from(b) - 16 }))
            .collect();
        assert_eq!(scan(&format!("\u{1f600}{hidden}")).spelled, ["obey"]);
        assert_eq!(scan("\u{2764}\u{fe0f} ok").tags.count, 0);
    }

    #[test]
    fn blanks_are_nothing_spelled_and_line_ends_are_as_elsewhere() {
        // The selectors of two vertical tabs, then those of `.`, a carriage return and `.`.
        let blank = scan("a\u{fe0b}\u{fe0b}");
        assert_eq!((blank.tags.count, blank.spelled.len()), (2, 0));
        assert_eq!(scan("a\u{e011e}\u{fe0d}\u{e011e}").spelled, [".\n."]);
    }

    #[test]
    fn zero_width_bits_spell_bytes() {
        let hidden: String = b"obey"
            .iter()
            .flat_map(|b| (0..8).rev().map(move |i| if b >> i & 1 == 0 { '\u{200b}' } else { '\u{200c}' }))
            .collect();
        assert_eq!(scan(&format!("a{hidden}b")).spelled, ["obey"]);
    }

    #[test]
    fn spacers_and_joiners_are_ordinary() {
        assert_eq!(scan("ig\u{200b}nore").zero_width.count, 1);
        assert_eq!(scan("\u{a0}\u{200c}\u{a0}\u{200c} x").zero_width.count, 0);
        assert_eq!(scan("می\u{200c}خواهم").zero_width.count, 0);
        assert_eq!(scan("\u{1f468}\u{200d}\u{1f469}").zero_width.count, 0);
        assert_eq!(scan("abc\u{202e}cba").bidi.count, 1);
    }
}
