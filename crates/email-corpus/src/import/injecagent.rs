use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::CorpusError;

/// An attacker's instruction of InjecAgent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttackerCase {
    /// `dh_NN` or `ds_NN`, counted from 1 in the order of the file.
    pub id: String,
    /// `harm` or `data_stealing`.
    pub scenario: &'static str,
    /// The instruction.
    pub text: String,
    /// The kind of attack, as the source names it.
    pub attack_type: String,
    /// The tools the attacker wants called.
    pub tools: Vec<String>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "Attacker Instruction")]
    instruction: String,
    #[serde(rename = "Attack Type")]
    attack_type: String,
    #[serde(rename = "Attacker Tools")]
    tools: Vec<String>,
}

/// Reads the attacker cases of InjecAgent: `attacker_cases_dh.jsonl` (direct harm), then `attacker_cases_ds.jsonl` (data stealing).
///
/// # Errors
/// A file is missing, or a line is not of the expected form; the error names the line.
pub fn read_injecagent(direct_harm: &Path, data_stealing: &Path) -> Result<Vec<AttackerCase>, CorpusError> {
    let mut cases = Vec::new();
    for (path, prefix, scenario) in [(direct_harm, "dh", "harm"), (data_stealing, "ds", "data_stealing")] {
        let text = fs::read_to_string(path).map_err(CorpusError::io(path))?;
        for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let row: Row = json_line(path, n, line)?;
            cases.push(AttackerCase {
                id: format!("{prefix}_{:02}", n + 1),
                scenario,
                text: row.instruction,
                attack_type: row.attack_type,
                tools: row.tools,
            });
        }
    }
    Ok(cases)
}

/// Parses one line of a file of JSON lines; `n` counts from 0.
pub(super) fn json_line<'a, T: Deserialize<'a>>(path: &Path, n: usize, line: &'a str) -> Result<T, CorpusError> {
    serde_json::from_str(line).map_err(|e| CorpusError::Line {
        file: path.to_owned(),
        line: n as u64 + 1,
        field: String::new(),
        message: e.to_string().replace(" at line 1 column ", " at column "),
    })
}
