//! Tables of results, as text, Markdown and CSV.
//!
//! It sees plain cells and knows nothing of mail or agents.
//!
//! ```
//! use wardline_report::{Column, Table};
//!
//! let mut table = Table::new([Column::text("defense"), Column::number("blocked")]);
//! table.row(["flow-guard", "22 of 26"]);
//! assert_eq!(table.to_markdown(), "| defense    |  blocked |\n|------------|---------:|\n| flow-guard | 22 of 26 |\n");
//! assert_eq!(table.to_csv(), "defense,blocked\nflow-guard,22 of 26\n");
//! ```

mod table;

pub use table::{Column, Table};
