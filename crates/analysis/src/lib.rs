//! From predictions of e-mail detectors to graded, compared and explained results.

mod analyze;
mod diff;
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
