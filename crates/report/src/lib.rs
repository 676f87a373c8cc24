//! Tables, plots and pages of results.
//!
//! It sees plain cells and numbers, and knows nothing of mail or agents.
//!
//! ```
//! use wardline_report::{Column, Table};
//!
//! let mut table = Table::new([Column::text("defense"), Column::number("blocked")]);
//! table.row(["flow-guard", "22 of 26"]);
//! assert_eq!(table.to_markdown(), "| defense    |  blocked |\n|------------|---------:|\n| flow-guard | 22 of 26 |\n");
//! assert_eq!(table.to_csv(), "defense,blocked\nflow-guard,22 of 26\n");
//! ```

mod error;
mod page;
mod plot;
mod table;

pub use error::ReportError;
pub use page::{AgentPage, Block, DefenseRow, HtmlCell, HtmlTable, Page, Section, Share, ThresholdSweep};
pub use plot::{Axis, Curve, Lines, Plot, Scatter, ScatterPoint, histogram};
pub use table::{Column, Table, markdown_text};
