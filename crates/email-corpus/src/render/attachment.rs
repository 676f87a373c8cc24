use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::envelope::{Fixed, lines, one_line};
use super::html::escape;
use crate::seeds::Carrier;

/// A calendar invitation (RFC 5545) whose description is the text.
pub(super) fn calendar(carrier: &Carrier, text: &str, fixed: &Fixed) -> String {
    let start = utc(fixed.date() + 7 * 86_400);
    let rows = [
        "BEGIN:VCALENDAR".to_owned(),
        "VERSION:2.0".to_owned(),
        "PRODID:-//Wardline//Surface renderer//EN".to_owned(),
        "METHOD:REQUEST".to_owned(),
        "BEGIN:VEVENT".to_owned(),
        format!("UID:{}", fixed.message_id(&carrier.from_address)),
        format!("DTSTAMP:{}", utc(fixed.date())),
        format!("DTSTART:{start}"),
        "DURATION:PT45M".to_owned(),
        format!("SUMMARY:{}", value(&one_line(&carrier.subject))),
        format!("DESCRIPTION:{}", value(&lines(text))),
        format!("ORGANIZER:mailto:{}", carrier.from_address),
        format!("ATTENDEE:mailto:{}", carrier.to_address),
        "END:VEVENT".to_owned(),
        "END:VCALENDAR".to_owned(),
    ];
    rows.iter().map(|row| folded(row)).collect()
}

fn value(text: &str) -> String {
    text.replace('\\', "\\\\").replace(';', "\\;").replace(',', "\\,").replace('\n', "\\n")
}

/// Content lines are folded after at most 75 octets, never inside a character.
fn folded(row: &str) -> String {
    let mut out = String::with_capacity(row.len() + row.len() / 20 + 2);
    let mut used = 0;
    for c in row.chars() {
        if used + c.len_utf8() > 75 {
            out.push_str("\r\n ");
            used = 1;
        }
        out.push(c);
        used += c.len_utf8();
    }
    out.push_str("\r\n");
    out
}

/// `20250310T080000Z` for seconds since 1970, by way of the mail date `Mon, 10 Mar 2025 08:00:00 +0000`.
fn utc(seconds: i64) -> String {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let date = mail_builder::headers::date::Date::new(seconds).to_rfc822();
    let mut words = date.split(' ').skip(1);
    let mut next = || words.next().unwrap_or_default().to_owned();
    let (day, month, year, time) = (next(), next(), next(), next());
    let month = MONTHS.find(&month).unwrap_or(0) / 3 + 1;
    format!("{year}{month:02}{day:0>2}T{}Z", time.replace(':', ""))
}

/// A minimal WordprocessingML document: the title and one paragraph a line of the text. Members are stored, not compressed, so that
/// the bytes depend on no compressor.
pub(super) fn docx(title: &str, text: &str) -> Result<Vec<u8>, String> {
    let paragraph = |line: &str| format!("<w:p><w:r><w:t xml:space=\"preserve\">{}</w:t></w:r></w:p>", escape(line));
    let body: String =
        std::iter::once(one_line(title).as_str()).chain(lines(text).split('\n')).map(paragraph).collect();
    const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
    let members = [
        (
            "[Content_Types].xml",
            format!(
                "{HEAD}<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
                 ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override PartName=\"/word/document.xml\" \
                 ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>"
            ),
        ),
        (
            "_rels/.rels",
            format!(
                "{HEAD}<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" \
                 Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
                 Target=\"word/document.xml\"/></Relationships>"
            ),
        ),
        (
            "word/document.xml",
            format!(
                "{HEAD}<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>{body}\
                 <w:sectPr/></w:body></w:document>"
            ),
        ),
    ];
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for (name, content) in members {
        zip.start_file(name, options).map_err(|e| e.to_string())?;
        zip.write_all(content.as_bytes()).map_err(|e| e.to_string())?;
    }
    zip.finish().map(Cursor::into_inner).map_err(|e| e.to_string())
}
