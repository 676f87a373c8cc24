//! From predictions of e-mail detectors to graded, compared and explained results.
//!
//! [`Run::read`] reads a manifest and one predictions file a detector, in any of the published layouts. [`grade`] gives the plain
//! metrics, [`Prepared::analyze`] the published protocol: population, dev and test halves, areas, operating points and intervals,
//! and beyond it comparisons, slices, calibration and the split's audit. [`analysis_page`] puts all of it on one page.
//!
//! ```
//! use std::path::Path;
//! use wardline_analysis::{Column, Fault, Manifest, Prepared, Run, Settings, Task};
//!
//! let line = |id: &str, threat: &str| {
//!     format!(r#"{{"id":"{id}","label":{{"threat_type":"{threat}"}},"provenance":{{"source":"own"}},"sender_auth_condition":"verified"}}"#)
//! };
//! let threat = |n: u32| if n % 2 == 0 { "prompt_injection_direct" } else { "benign" };
//! let lines: Vec<String> = (0..40).map(|n| line(&format!("m{n:02}"), threat(n)) + "\n").collect();
//! let manifest = Manifest::parse(lines.concat().into_bytes(), Path::new("own.jsonl"))?;
//! let scores = (0..40).map(|n| if n == 3 { [Err(Fault::Timeout); 3] } else { [Ok(if n % 2 == 0 { 0.9 } else { 0.1 }); 3] });
//! let run = Run::new(manifest, vec![Column::new("mine", scores)])?;
//!
//! let settings = Settings::default();
//! let analysis = Prepared::new(&run, &settings)?.analyze(None)?;
//! let test = &analysis.detectors[0].tasks[&Task::Injection].whole;
//! assert_eq!((test.auc.value, test.missing_neg), (Some(1.0), 1));
//! assert_eq!(test.auc.worst, Some(0.95)); // the one missing negative above every positive
//! # Ok::<(), wardline_analysis::AnalysisError>(())
//! ```
//!
//! A missing or bad score is never 0: it is counted by kind, and every figure says what it would be at worst and at best. A figure that
//! is undefined is `None`. Nothing here opens a socket, reads a clock or renders mail.

mod analyze;
mod diff;
mod entries;
mod error;
mod fault;
mod figure;
mod gate;
mod grade;
mod input;
mod output;
mod render;
mod task;

pub use analyze::{
    ANALYSIS_SCHEMA, Analysis, Calibrated, Comparison, Cost, DetectorCurves, DetectorResult, Difference, Ensemble,
    GroupBy, Headline, IntervalMethod, Points, Population, Prepared, RecipePart, Settings, Slice, Slices, SplitAudit,
    TaskCounts, TaskCurves, TaskResult, TierResult, Tuned, ViewResult, ViewSlice, carry_forward, read_analysis,
};
pub use diff::{Cause, Changes, Movement};
pub use error::AnalysisError;
pub use fault::{Coverage, Fault};
pub use figure::Figure;
pub use gate::{Condition, GateMeasure, GateResult, GateRows, Verdict};
pub use grade::{GRADE_SCHEMA, Grade, Graded, GradedSlice, GradedTask, grade};
pub use input::{Column, Layout, Manifest, Predictions, Reading, Record, Row, Run, RunRequest};
pub use output::OutputFolder;
pub use render::{TitledTable, analysis_csv, analysis_page, analysis_tables, grade_csv, grade_tables};
pub use task::Task;
