use crate::table::{Column, Table};

/// A cell of a table on a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HtmlCell {
    pub(super) text: String,
    pub(super) below: Option<String>,
    pub(super) value: Option<f64>,
    pub(super) heat: Option<f64>,
    pub(super) few: bool,
    pub(super) undefined: bool,
}

impl HtmlCell {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number: how it reads, and the value that rows are sorted by.
    #[must_use]
    pub fn number(text: impl Into<String>, value: f64) -> Self {
        Self { text: text.into(), value: Some(value), ..Self::default() }
    }

    /// A number that has no value.
    #[must_use]
    pub fn undefined() -> Self {
        Self { text: "undefined".into(), value: Some(f64::NAN), undefined: true, ..Self::default() }
    }

    /// Adds smaller lines below, such as an interval.
    #[must_use]
    pub fn below(mut self, text: impl Into<String>) -> Self {
        self.below = Some(text.into());
        self
    }

    /// Shades the cell, 0 (none) to 1.
    #[must_use]
    pub fn heat(mut self, share: f64) -> Self {
        self.heat = Some(share);
        self
    }

    /// Marks the cell as resting on few rows.
    #[must_use]
    pub fn few(mut self, few: bool) -> Self {
        self.few = few;
        self
    }
}

/// A table on a page; the first cell of a row is its heading.
#[derive(Debug, Clone, PartialEq)]
pub struct HtmlTable {
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<(bool, Vec<HtmlCell>)>,
    pub(super) sortable: bool,
}

impl HtmlTable {
    /// A table without rows.
    #[must_use]
    pub fn new(caption: impl Into<String>, columns: impl IntoIterator<Item = Column>) -> Self {
        Self { caption: caption.into(), columns: columns.into_iter().collect(), rows: Vec::new(), sortable: true }
    }

    /// A table of text under a caption; its rows stay in their order.
    #[must_use]
    pub fn from_table(caption: impl Into<String>, table: &Table) -> Self {
        let mut html = Self::new(caption, table.columns().iter().cloned()).fixed();
        for row in table.rows() {
            html.row(row.iter().map(HtmlCell::text));
        }
        html
    }

    /// Rows stay in their order: the script adds no buttons.
    #[must_use]
    pub fn fixed(mut self) -> Self {
        self.sortable = false;
        self
    }

    /// Adds a row; cells beyond the last column are dropped, missing ones are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = HtmlCell>) {
        self.push(false, cells);
    }

    /// Adds the row of a control, which is set apart.
    pub fn control(&mut self, cells: impl IntoIterator<Item = HtmlCell>) {
        self.push(true, cells);
    }

    fn push(&mut self, control: bool, cells: impl IntoIterator<Item = HtmlCell>) {
        let mut cells: Vec<HtmlCell> = cells.into_iter().take(self.columns.len()).collect();
        cells.resize(self.columns.len(), HtmlCell::default());
        self.rows.push((control, cells));
    }
}
