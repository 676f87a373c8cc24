use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{CellAlignment, ContentArrangement, TableStyle};

/// A column's heading and alignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    heading: String,
    right: bool,
}

impl Column {
    /// A column of words, flush left.
    pub fn text(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), right: false }
    }

    /// A column of numbers, flush right.
    pub fn number(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), right: true }
    }

    pub(crate) fn heading(&self) -> &str {
        &self.heading
    }

    pub(crate) fn is_number(&self) -> bool {
        self.right
    }
}

/// A table of cells that are already formatted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row; cells beyond the last column are dropped, missing ones are empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).take(self.columns.len()).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(crate) fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Aligned columns for a terminal, two spaces between them; control characters in cells are shown as `\u{…}`.
    pub fn to_text(&self) -> String {
        let mut table = self.grid(NOTHING, |s| s.to_owned());
        let last = self.columns.len().saturating_sub(1);
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if i == last { 0 } else { 2 }));
        }
        table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// A GitHub-flavoured Markdown table; pipes in cells are escaped, and what a page would take for HTML, as
    /// [`markdown_text`] does.
    pub fn to_markdown(&self) -> String {
        let table = self.grid(ASCII_MARKDOWN, |s| markdown_text(s).replace('|', "\\|"));
        let mut lines: Vec<String> = table.lines().collect();
        if let Some(rule) = lines.get_mut(1) {
            let cells = rule.trim_matches('|').split('|').zip(&self.columns).map(|(cell, column)| {
                let dashes = cell.len().saturating_sub(usize::from(column.right));
                format!("{}{}", "-".repeat(dashes), if column.right { ":" } else { "" })
            });
            *rule = format!("|{}|", cells.collect::<Vec<_>>().join("|"));
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// Comma-separated values as RFC 4180 has them, with LF line ends and a heading row.
    pub fn to_csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let headings = self.columns.iter().map(|c| c.heading.as_str());
        let written =
            writer.write_record(headings).and_then(|()| self.rows.iter().try_for_each(|row| writer.write_record(row)));
        debug_assert!(written.is_ok(), "writing to memory, rows of equal length");
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }

    fn grid(&self, style: TableStyle, escape: impl Fn(&str) -> String) -> comfy_table::Table {
        let visible = |s: &str| {
            escape(s)
                .chars()
                .map(|c| if c.is_control() { c.escape_unicode().to_string() } else { c.to_string() })
                .collect::<String>()
        };
        let mut table = comfy_table::Table::new();
        table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.columns.iter().map(|c| visible(&c.heading)));
        for row in &self.rows {
            table.add_row(row.iter().map(|c| visible(c)));
        }
        for (column, spec) in table.column_iter_mut().zip(&self.columns) {
            column.set_cell_alignment(if spec.right { CellAlignment::Right } else { CellAlignment::Left });
        }
        table
    }
}

/// Text for a Markdown page in which `<`, `>` and `&` stand for themselves and begin no HTML.
///
/// ```
/// assert_eq!(wardline_report::markdown_text("a <b> & c"), "a &lt;b&gt; &amp; c");
/// ```
pub fn markdown_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::{Column, Table};

    fn table() -> Table {
        let mut table = Table::new([Column::text("name"), Column::number("n")]);
        table.row(["a|b,\"c\"", "7"]);
        table.row(["esc\u{1b}[31m", "1234"]);
        table.row(["short"]);
        table
    }

    #[test]
    fn text_is_aligned_and_harmless() {
        assert_eq!(table().to_text(), "name              n\na|b,\"c\"           7\nesc\\u{1b}[31m  1234\nshort\n");
    }

    #[test]
    fn markdown_escapes_pipes() {
        assert!(table().to_markdown().contains("| a\\|b,\"c\"      |"));
    }

    #[test]
    fn markdown_holds_no_html() {
        let mut table = Table::new([Column::text("<b>"), Column::number("n")]);
        table.row(["<script>alert(1)</script> & | &lt;", "7"]);
        let shown = table.to_markdown();
        assert!(shown.contains("| &lt;script&gt;alert(1)&lt;/script&gt; &amp; \\| &amp;lt; | 7 |"), "{shown}");
        assert!(shown.starts_with("| &lt;b&gt; ") && !shown.contains(['<', '>']), "{shown}");
    }

    #[test]
    fn csv_quotes() {
        assert_eq!(table().to_csv(), "name,n\n\"a|b,\"\"c\"\"\",7\nesc\u{1b}[31m,1234\nshort,\n");
    }
}
