use super::envelope::{Fixed, lines};

/// Text as HTML text.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// Text as paragraphs: a blank line parts them, a line break is `<br>`.
pub(super) fn block(text: &str) -> String {
    lines(text)
        .split("\n\n")
        .map(|p| p.trim_matches('\n'))
        .filter(|p| !p.is_empty())
        .map(|p| format!("<p>{}</p>\n", escape(p).replace('\n', "<br>\n")))
        .collect()
}

/// A whole page around the inner HTML.
pub(super) fn page(inner: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\">\n</head>\n\
         <body style=\"font-family:Arial,Helvetica,sans-serif;font-size:14px;color:#1f1f1f;background-color:#ffffff\">\n\
         {inner}</body>\n</html>\n"
    )
}

/// The ways a style hides text from a reader, in turn.
const HIDING: [(&str, &str); 8] = [
    ("display", "display:none"),
    ("visibility", "visibility:hidden"),
    ("opacity", "opacity:0"),
    ("font_size", "font-size:0;line-height:0"),
    ("colour", "color:#ffffff;background-color:#ffffff"),
    ("off_screen", "position:absolute;left:-9999px;top:0"),
    ("overflow", "max-height:0;overflow:hidden"),
    ("indent", "text-indent:-9999px;white-space:nowrap;overflow:hidden"),
];

/// Wraps the text so that a style hides it; the way follows from the record's id.
pub(super) fn hidden(fixed: &Fixed, text: &str) -> String {
    let (_, style) = HIDING[hiding(fixed)];
    format!("<div style=\"{style}\">{}</div>\n", escape(&lines(text)).replace('\n', "<br>\n"))
}

/// The name of the way that [`hidden`] takes.
pub(super) fn hidden_by(fixed: &Fixed) -> &'static str {
    HIDING[hiding(fixed)].0
}

fn hiding(fixed: &Fixed) -> usize {
    usize::try_from(fixed.pick(1, HIDING.len() as u64)).unwrap_or(0)
}

/// Text that a browser shows whole and a search for its words in the source does not find: words cut by inline elements and empty
/// comments, and every third letter a character reference, decimal and hexadecimal in turn.
pub(super) fn fragmented(text: &str) -> String {
    let mut out = String::from("<div>");
    for (n, line) in lines(text).split('\n').enumerate() {
        if n > 0 {
            out.push_str("<br>\n");
        }
        for (w, piece) in line.split_inclusive(' ').enumerate() {
            let word = piece.trim_end_matches(' ');
            let half = word.char_indices().nth(word.chars().count() / 2).map_or(0, |(at, _)| at);
            let (first, second) = word.split_at(half);
            if first.is_empty() {
                out.push_str(&references(word));
            } else if w % 2 == 0 {
                out.push_str(&format!("<span>{}</span><span>{}</span>", references(first), references(second)));
            } else {
                out.push_str(&format!("{}<!---->{}", references(first), references(second)));
            }
            out.push_str(&piece[word.len()..]);
        }
    }
    out.push_str("</div>\n");
    out
}

fn references(text: &str) -> String {
    let mut out = String::new();
    for (n, c) in text.chars().enumerate() {
        let code = u32::from(c);
        match n % 6 {
            1 => out.push_str(&format!("&#{code};")),
            4 => out.push_str(&format!("&#x{code:x};")),
            _ => out.push_str(&escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}
