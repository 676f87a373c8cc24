//! Text as a PDF, without a clock, an embedded font or a library's choice of compressor.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, ObjectId, Stream, StringFormat, dictionary};

use super::envelope::lines;

/// Points.
const FONT_SIZE: i64 = 10;
const LEADING: i64 = 13;
const MARGIN: i64 = 56;
const PAGE_WIDTH: i64 = 595;
const PAGE_HEIGHT: i64 = 842;
/// The widest page that readers take.
const MAX_WIDTH: i64 = 14_400;
/// A Courier glyph is 600 thousandths of the font size wide.
const GLYPH: i64 = 6;
const LINES_A_PAGE: usize = 55;

/// A PDF with the title on the first line and the text under it, as many pages as it takes.
///
/// Text in the characters of Windows-1252 is set in Courier. Any other text is set in a composite font with Identity-H encoding, one
/// code a character, and a ToUnicode map: readers extract every character, but no font program is embedded, so a viewer without a
/// font of its own for the script shows blanks. Lines break at spaces, and between characters of scripts that write without them; a
/// longer word widens the page. Streams are compressed by a compressor whose version the lock file pins.
///
/// # Errors
/// The PDF library refuses an object; not known to happen.
///
/// ```
/// use wardline_email_corpus::pdf_of_text;
///
/// let pdf = pdf_of_text("Terms", "Net thirty (30) days \\ 100 %")?;
/// assert!(pdf.starts_with(b"%PDF-1.5"));
/// assert_eq!(pdf, pdf_of_text("Terms", "Net thirty (30) days \\ 100 %")?);
/// # Ok::<(), String>(())
/// ```
pub fn pdf_of_text(title: &str, text: &str) -> Result<Vec<u8>, String> {
    let text = lines(text).replace('\t', "    ");
    let width = page_width(&text);
    let columns = usize::try_from((width - 2 * MARGIN) / GLYPH).unwrap_or(1);
    let mut rows = vec![title.to_owned(), String::new()];
    for line in text.split('\n') {
        wrap(line, columns, &mut rows);
    }
    let mut document = Document::with_version("1.5");
    let font = Font::choose(&rows);
    let font_id = font.add_to(&mut document);
    let pages_id = document.new_object_id();
    let mut pages = Vec::new();
    for rows in rows.chunks(LINES_A_PAGE) {
        let content = page_content(rows, &font).encode().map_err(|e| e.to_string())?;
        let content_id = document.add_object(compressed(Dictionary::new(), &content));
        let page = dictionary! {
            "Type" => "Page",
            "Parent" => pages_id,
            "MediaBox" => vec![0.into(), 0.into(), width.into(), PAGE_HEIGHT.into()],
            "Resources" => dictionary! { "Font" => dictionary! { "F1" => font_id } },
            "Contents" => content_id,
        };
        pages.push(Object::from(document.add_object(page)));
    }
    let count = i64::try_from(pages.len()).unwrap_or(i64::MAX);
    document.objects.insert(pages_id, dictionary! { "Type" => "Pages", "Kids" => pages, "Count" => count }.into());
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages_id });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

fn page_width(text: &str) -> i64 {
    let longest = text.split([' ', '\n']).map(|word| pieces(word).map(|p| p.chars().count()).max().unwrap_or(0)).max();
    let longest = i64::try_from(longest.unwrap_or(0)).unwrap_or(MAX_WIDTH);
    (2 * MARGIN + (longest + 1) * GLYPH).clamp(PAGE_WIDTH, MAX_WIDTH)
}

/// Whether a line may end after the character without a space: ideographs, kana, Hangul, Thai, Lao, Khmer and full-width forms.
fn breaks_after(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x1780..=0x17ff | 0x2e80..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0xff00..=0xffef | 0x20000..=0x3ffff)
}

/// The parts of a word that are kept on one line.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    word.split_inclusive(breaks_after)
}

fn wrap(line: &str, columns: usize, rows: &mut Vec<String>) {
    let mut row = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        for piece in pieces(word) {
            let visible = piece.trim_end_matches(' ').chars().count();
            if used > 0 && used + visible > columns {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push_str(piece);
            used += piece.chars().count();
        }
    }
    rows.push(row);
}

fn page_content(rows: &[String], font: &Font) -> Content<Vec<Operation>> {
    let mut operations = vec![
        Operation::new("BT", vec![]),
        Operation::new("Tf", vec!["F1".into(), FONT_SIZE.into()]),
        Operation::new("TL", vec![LEADING.into()]),
        Operation::new("Td", vec![MARGIN.into(), (PAGE_HEIGHT - MARGIN - FONT_SIZE).into()]),
    ];
    for row in rows {
        if !row.is_empty() {
            operations.push(Operation::new("Tj", vec![font.encode(row)]));
        }
        operations.push(Operation::new("T*", vec![]));
    }
    operations.push(Operation::new("ET", vec![]));
    Content { operations }
}

enum Font {
    Simple,
    /// The code of each character.
    Composite(BTreeMap<char, u16>),
}

impl Font {
    fn choose(rows: &[String]) -> Self {
        let characters = || rows.iter().flat_map(|row| row.chars());
        if characters().all(|c| windows_1252(c).is_some()) {
            return Self::Simple;
        }
        let mut codes = BTreeMap::new();
        for c in characters() {
            let next = u16::try_from(codes.len() + 1).unwrap_or(u16::MAX);
            codes.entry(c).or_insert(next);
        }
        Self::Composite(codes)
    }

    fn encode(&self, row: &str) -> Object {
        match self {
            Self::Simple => Object::String(row.chars().filter_map(windows_1252).collect(), StringFormat::Literal),
            Self::Composite(codes) => {
                let bytes = row.chars().filter_map(|c| codes.get(&c)).flat_map(|code| code.to_be_bytes()).collect();
                Object::String(bytes, StringFormat::Hexadecimal)
            }
        }
    }

    fn add_to(&self, document: &mut Document) -> ObjectId {
        let Self::Composite(codes) = self else {
            return document.add_object(dictionary! {
                "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier", "Encoding" => "WinAnsiEncoding",
            });
        };
        let descriptor = document.add_object(dictionary! {
            "Type" => "FontDescriptor", "FontName" => "NotoSansMono", "Flags" => 4,
            "FontBBox" => vec![0.into(), (-250).into(), 1000.into(), 1000.into()],
            "ItalicAngle" => 0, "Ascent" => 900, "Descent" => -250, "CapHeight" => 700, "StemV" => 80,
        });
        let descendant = document.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "CIDFontType2", "BaseFont" => "NotoSansMono", "DW" => 600,
            "CIDSystemInfo" => dictionary! {
                "Registry" => Object::string_literal("Adobe"), "Ordering" => Object::string_literal("Identity"),
                "Supplement" => 0,
            },
            "FontDescriptor" => descriptor, "CIDToGIDMap" => "Identity",
        });
        let map = document.add_object(compressed(Dictionary::new(), to_unicode(codes).as_bytes()));
        document.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "Type0", "BaseFont" => "NotoSansMono", "Encoding" => "Identity-H",
            "DescendantFonts" => vec![descendant.into()], "ToUnicode" => map,
        })
    }
}

/// The map from codes to UTF-16, in blocks of at most 100 as the format asks.
fn to_unicode(codes: &BTreeMap<char, u16>) -> String {
    let mut by_code: Vec<(u16, char)> = codes.iter().map(|(c, code)| (*code, *c)).collect();
    by_code.sort_unstable();
    let mut map = String::from(
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) \
         /Supplement 0 >> def\n/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\n\
         endcodespacerange\n",
    );
    for block in by_code.chunks(100) {
        let _ = writeln!(map, "{} beginbfchar", block.len());
        for (code, c) in block {
            let units: String = c.encode_utf16(&mut [0; 2]).iter().fold(String::new(), |mut hex, unit| {
                let _ = write!(hex, "{unit:04X}");
                hex
            });
            let _ = writeln!(map, "<{code:04X}> <{units}>");
        }
        map.push_str("endbfchar\n");
    }
    map.push_str("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
    map
}

/// A compressed stream. The library's own compression takes whatever back end another crate has chosen for it; this one is fixed.
fn compressed(mut dictionary: Dictionary, content: &[u8]) -> Stream {
    dictionary.set("Filter", "FlateDecode");
    Stream::new(dictionary, miniz_oxide::deflate::compress_to_vec_zlib(content, 6)).with_compression(false)
}

/// The code of a character in Windows-1252.
fn windows_1252(c: char) -> Option<u8> {
    const HIGH: [(char, u8); 27] = [
        ('€', 0x80),
        ('‚', 0x82),
        ('ƒ', 0x83),
        ('„', 0x84),
        ('…', 0x85),
        ('†', 0x86),
        ('‡', 0x87),
        ('ˆ', 0x88),
        ('‰', 0x89),
        ('Š', 0x8a),
        ('‹', 0x8b),
        ('Œ', 0x8c),
        ('Ž', 0x8e),
        ('‘', 0x91),
        ('’', 0x92),
        ('“', 0x93),
        ('”', 0x94),
        ('•', 0x95),
        ('–', 0x96),
        ('—', 0x97),
        ('˜', 0x98),
        ('™', 0x99),
        ('š', 0x9a),
        ('›', 0x9b),
        ('œ', 0x9c),
        ('ž', 0x9e),
        ('Ÿ', 0x9f),
    ];
    match u32::from(c) {
        // 0xAD, the soft hyphen, prints as a hyphen in WinAnsiEncoding.
        code @ (0x20..=0x7e | 0xa1..=0xac | 0xae..=0xff) => u8::try_from(code).ok(),
        _ => HIGH.iter().find(|(high, _)| *high == c).map(|(_, code)| *code),
    }
}
