use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::{Block, HtmlCell, HtmlTable, Page};
use crate::Plot;
use crate::plot::palette;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

impl Page {
    /// The page as one HTML file.
    ///
    /// Only this crate's own style sheet, script and drawings are put in as they are; a content security policy forbids every
    /// other script and every request.
    ///
    /// ```
    /// use wardline_report::{Block, Page, Section};
    /// let mut section = Section::new("Results");
    /// section.push(Block::Text("<script>alert(1)</script>".into()));
    /// let page = Page { title: "A run".into(), lead: String::new(), sections: vec![section], footer: String::new() };
    /// assert!(page.to_html().contains("&lt;script&gt;alert(1)"));
    /// ```
    #[must_use]
    pub fn to_html(&self) -> String {
        let style = style();
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'",
            BASE64_STANDARD.encode(Sha256::digest(SCRIPT))
        );
        let mut plots = 0;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (visible(&self.title)) }
                    style { (PreEscaped(&style)) }
                }
                body {
                    a class="skip" href="#main" { "Skip to the results" }
                    header {
                        h1 { (visible(&self.title)) }
                        p class="lead" { (visible(&self.lead)) }
                        nav aria-label="Contents" {
                            ul {
                                @for (n, section) in self.sections.iter().enumerate() {
                                    li { a href={ "#s" (n + 1) } { (visible(&section.title)) } }
                                }
                            }
                        }
                    }
                    main id="main" {
                        @for (n, section) in self.sections.iter().enumerate() {
                            section aria-labelledby={ "s" (n + 1) } {
                                h2 id={ "s" (n + 1) } { (visible(&section.title)) }
                                @for block in &section.blocks { (render(block, &mut plots)) }
                            }
                        }
                    }
                    footer { p { (visible(&self.footer)) } }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
        .into_string()
    }
}

/// The style sheet with the series' colours for a dark ground and their dashes.
fn style() -> String {
    let mut style = STYLE.to_owned();
    let mut dark = String::new();
    for n in 0..palette::STYLES {
        let colour = palette::hex(palette::series(n));
        let dash = palette::DASHES[n / palette::DARK.len() % palette::DASHES.len()];
        let bright = palette::DARK[n % palette::DARK.len()];
        // Writing to a string cannot fail.
        let _ = writeln!(
            style,
            "svg polyline[stroke=\"{colour}\"],.legend line[stroke=\"{colour}\"]{{stroke-dasharray:{dash}}}"
        );
        let _ = writeln!(dark, "svg [stroke=\"{colour}\"]{{stroke:{bright}}}svg [fill=\"{colour}\"]{{fill:{bright}}}");
    }
    let _ = write!(style, "@media screen and (prefers-color-scheme:dark){{{dark}}}");
    style
}

/// Shows control characters and those that change the direction of text or have no width, which escaping alone leaves to act.
fn visible(text: &str) -> String {
    let acts = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    text.chars().map(|c| if acts(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

fn render(block: &Block, plots: &mut usize) -> Markup {
    html! {
        @match block {
            Block::Heading(text) => h3 { (visible(text)) },
            Block::Text(text) => p { (visible(text)) },
            Block::Warnings(texts) => {
                @if !texts.is_empty() {
                    ul class="warnings" { @for text in texts { li class="warning" { (visible(text)) } } }
                }
            },
            Block::Table(t) => (table(t)),
            Block::Plots { plots: all, small } => {
                div class=(if *small { "grid small" } else { "grid wide" }) {
                    @for p in all { (plot(p, *small, plots)) }
                }
            },
            Block::Facts(facts) => dl {
                @for (name, value) in facts { dt { (visible(name)) } dd { (visible(value)) } }
            },
            Block::Folded { summary, blocks } => details {
                summary { (visible(summary)) }
                @for block in blocks { (render(block, plots)) }
            },
        }
    }
}

fn plot(plot: &Plot, small: bool, plots: &mut usize) -> Markup {
    *plots += 1;
    let n = *plots;
    let (width, height) = plot.size;
    html! {
        figure {
            figcaption { (visible(&plot.title)) }
            // On a narrow screen a large drawing scrolls, and the keyboard has to reach it.
            div class="plot" tabindex=[(!small).then_some("0")] role=[(!small).then_some("group")]
                aria-label=[(!small).then(|| format!("{}, drawing", visible(&plot.title)))] {
                svg viewBox={ "0 0 " (width) " " (height) } role="img" aria-labelledby={ "p" (n) "t p" (n) "d" } {
                    title id={ "p" (n) "t" } { (visible(&plot.title)) }
                    desc id={ "p" (n) "d" } { (visible(&plot.description)) }
                    (PreEscaped(&plot.drawing))
                }
            }
            @if !plot.legend.is_empty() {
                ul class="legend" {
                    @for (i, name) in plot.legend.iter().enumerate() {
                        @let colour = palette::hex(palette::series(i));
                        li data-c=(colour) {
                            svg viewBox="0 0 28 12" aria-hidden="true" {
                                line x1="1" y1="6" x2="27" y2="6" stroke=(colour) stroke-width="3";
                            }
                            span { (visible(name)) }
                        }
                    }
                }
            }
        }
    }
}

fn table(table: &HtmlTable) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(visible(&table.caption)) {
            table class=[table.sortable.then_some("sortable")] {
                caption { (visible(&table.caption)) }
                thead { tr {
                    @for column in &table.columns {
                        th scope="col" class=[column.is_number().then_some("n")] { (visible(column.heading())) }
                    }
                } }
                tbody {
                    @for (control, cells) in &table.rows {
                        tr class=[control.then_some("control")] {
                            @for (n, (cell, column)) in cells.iter().zip(&table.columns).enumerate() {
                                @if n == 0 { th scope="row" { (inner(cell)) } }
                                @else { (td(cell, column.is_number())) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn td(cell: &HtmlCell, number: bool) -> Markup {
    let mut classes: Vec<&str> = Vec::new();
    if cell.heat.is_some() {
        classes.push("heat");
    } else if number {
        classes.push("n");
    }
    if cell.undefined {
        classes.push("u");
    }
    let value = cell.value.map(|v| if v.is_finite() { v.to_string() } else { String::new() });
    // At most half opaque, so that text keeps its contrast.
    let shade = cell.heat.filter(|h| h.is_finite()).map(|h| format!("--a:{:.2}", h.clamp(0.0, 1.0) * 0.5));
    html! {
        td class=[(!classes.is_empty()).then(|| classes.join(" "))] data-v=[value] style=[shade] { (inner(cell)) }
    }
}

fn inner(cell: &HtmlCell) -> Markup {
    html! {
        @if cell.few { span class="few" title="fewer than 30 rows" { (visible(&cell.text)) } }
        @else { (visible(&cell.text)) }
        @for line in cell.below.iter().flat_map(|b| b.split('\n')) { span class="sub" { (visible(line)) } }
    }
}
