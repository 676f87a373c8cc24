//! Results as tables and as a page.

mod csv;
mod format;
mod grade;
mod methods;
mod page;
mod tables;

pub use csv::{analysis_csv, grade_csv};
pub use grade::grade_tables;
pub use page::analysis_page;
pub use tables::analysis_tables;

use wardline_report::Table;

/// A table under a heading, with a remark below it where one is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TitledTable {
    /// The heading.
    pub title: String,
    /// The table; without rows when the remark says it all.
    pub table: Option<Table>,
    /// Lines below the table.
    pub notes: Vec<String>,
}

impl TitledTable {
    fn new(title: impl Into<String>, table: Table) -> Self {
        Self { title: title.into(), table: Some(table), notes: Vec::new() }
    }
}
