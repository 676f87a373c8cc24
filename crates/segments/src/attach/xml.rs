//! Text of XML: office documents and plain XML files.

use quick_xml::Reader;
use quick_xml::events::Event;

/// Elements that end a line, by local name: paragraphs, headings, rows and breaks of the office formats.
const LINES: [&str; 10] = ["p", "h", "br", "cr", "row", "si", "table-row", "line-break", "tr", "div"];
/// Elements that part words.
const SPACES: [&str; 6] = ["tab", "s", "tc", "c", "table-cell", "td"];

/// All character data, with line ends where paragraphs end; and the targets of external relationships. Stops at the first error of
/// syntax, keeping what was read.
pub(crate) fn text(xml: &str, max: usize) -> String {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    let mut out = String::new();
    // In a spreadsheet, a cell of type `s` holds the number of a shared string.
    let mut index = false;
    let mut value = false;
    while out.len() < max {
        let event = match reader.read_event() {
            Ok(Event::Eof) | Err(_) => break,
            Ok(event) => event,
        };
        match event {
            Event::Start(e) | Event::Empty(e) => {
                let name = e.local_name();
                let name = name.as_ref();
                if name == "c" {
                    index = e.attributes().flatten().any(|a| a.key.as_ref() == "t" && &*a.value == "s");
                }
                value = name == "v";
                if name == "Relationship" {
                    let attr = |wanted: &str| {
                        e.attributes().flatten().find(|a| a.key.as_ref() == wanted).map(|a| a.value.to_string())
                    };
                    if attr("TargetMode").as_deref() == Some("External") {
                        out.push_str(&attr("Target").unwrap_or_default());
                        out.push('\n');
                    }
                }
                if SPACES.contains(&name) || name == "line-break" || name == "br" {
                    out.push(if name == "line-break" || name == "br" { '\n' } else { ' ' });
                }
            }
            Event::End(e) => {
                let name = e.local_name();
                value = false;
                if LINES.contains(&name.as_ref()) && !out.ends_with('\n') {
                    out.push('\n');
                }
            }
            Event::Text(e) if !(index && value) => {
                out.push_str(&e);
            }
            Event::CData(e) => out.push_str(&e),
            Event::GeneralRef(e) => match e.resolve_char_ref() {
                Ok(Some(c)) => out.push(c),
                _ => match &*e {
                    "lt" => out.push('<'),
                    "gt" => out.push('>'),
                    "amp" => out.push('&'),
                    "quot" => out.push('"'),
                    "apos" => out.push('\''),
                    other => out.push_str(other),
                },
            },
            Event::Comment(e) => {
                out.push_str(&e);
                out.push('\n');
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_join_and_paragraphs_end_lines() {
        let xml =
            "<w:p><w:r><w:t>Ign</w:t></w:r><w:r><w:t>ore &amp; &#97;ll</w:t></w:r></w:p><w:p><w:t>two</w:t></w:p>";
        assert_eq!(text(xml, 1000), "Ignore & all\ntwo\n");
        assert_eq!(text("<row><c t=\"s\"><v>3</v></c><c><v>4</v></c></row>", 1000).trim(), "4");
        assert_eq!(
            text("<Relationship TargetMode='External' Target='http://x.example/'/>", 1000),
            "http://x.example/\n"
        );
    }
}
