//! `mailbench grade`: precision, recall and areas of every detector of a run.

use std::path::PathBuf;

use wardline_analysis::{grade, grade_csv, grade_tables};
use wardline_cli::{Exit, Failure, Stdout};

use crate::results::{Format, Input, json, open_output, print, tables, warning_lines};

/// Grade every detector of a run: precision, recall, areas, slices, coverage.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: Input,
    /// Scores at or above it are flagged
    #[arg(long, default_value_t = 0.35)]
    threshold: f64,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also write grade.json, grade.csv and grade.md into this folder
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let output = open_output(args.output_dir.as_ref())?;
    let grade = grade(&args.input.request(), args.threshold)?;
    let titled = grade_tables(&grade);
    let own = grade.detectors.iter().flat_map(|d| &d.warnings);
    let warnings: Vec<&str> = grade.warnings.iter().chain(own).map(String::as_str).collect();
    if let Some(output) = output {
        output.write("grade.json", json(&grade)?.as_bytes())?;
        output.write("grade.csv", grade_csv(&grade).as_bytes())?;
        output.write("grade.md", (warning_lines(&warnings, true) + &tables(&titled, true)).as_bytes())?;
    }
    print(out, args.format, &grade, || grade_csv(&grade), &titled, &warnings)?;
    Ok(Exit::Ok)
}
