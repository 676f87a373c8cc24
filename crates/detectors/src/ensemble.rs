use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::time::Duration;

use serde_json::json;

use crate::runner::{DetectorState, ExternalSort, RunFolder, file_digest, file_name, sync_folder};
use crate::{DetectorError, Prediction, Task, Usage, Verdict, View, read_predictions};

/// What an ensemble covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnsembleSummary {
    /// Records that all members have a score for.
    pub covered: u64,
    /// Records that some member has no score for, left out.
    pub left_out: u64,
}

/// What a member says of a record.
struct Said {
    score: f64,
    pi: Option<f64>,
    phi: Option<f64>,
    latency_ms: f64,
}

/// Writes predictions whose score is the mean of the members' scores, over the records that all of them have a score for.
///
/// `pi_score` and `phi_score` are means too where every member has them; the latency is the sum, as of one after the other. The file
/// of an older ensemble of the same name is replaced in one step. Memory does not grow with the number of records.
///
/// # Errors
/// Fewer than two members, one named twice, one that the run does not have, or a name that is a member's; a file cannot be read or
/// written.
pub fn ensemble(folder: &mut RunFolder, members: &[String], name: &str) -> Result<EnsembleSummary, DetectorError> {
    let wrong = |message: String| DetectorError::detector(name, message);
    let unique: std::collections::BTreeSet<&String> = members.iter().collect();
    if unique.len() < 2 || unique.len() < members.len() {
        return Err(wrong("an ensemble needs two members or more, each named once".into()));
    }
    if members.iter().any(|m| m == name) {
        return Err(wrong("the ensemble cannot have a member's name".into()));
    }
    let mut sort = ExternalSort::new(folder.path());
    let mut digests = BTreeMap::new();
    let (mut task, mut view) = (None, View::Canonical);
    for (i, member) in members.iter().enumerate() {
        let state =
            folder.run().detectors.get(member).ok_or_else(|| wrong(format!("the run has no detector {member}")))?;
        task = Some(task.map_or(state.task, |t| if t == state.task { t } else { Task::Both }));
        view = state.view;
        let path = folder.path().join(&state.file);
        digests.insert(member.clone(), file_digest(&path)?);
        read_predictions(&path, |p| {
            if !p.is_good() {
                return Ok(());
            }
            let said = [Some(p.score.unwrap_or_default()), p.pi_score, p.phi_score, Some(p.latency_ms)];
            let mut payload = vec![u8::from(said[1].is_some()), u8::from(said[2].is_some())];
            said.iter().for_each(|s| payload.extend(s.unwrap_or_default().to_le_bytes()));
            payload.extend((i as u64).to_le_bytes());
            sort.push(p.id.as_bytes(), &payload).map_err(DetectorError::io(folder.path()))
        })?;
    }
    let file = file_name(name);
    let path = folder.path().join(&file);
    let partial = path.with_extension("jsonl.partial");
    let state = DetectorState {
        file,
        task: task.unwrap_or(Task::Both),
        view,
        segments_sha256: None,
        identity: json!({"ensemble": digests}).as_object().cloned().unwrap_or_default(),
        good: 0,
        failed: 0,
        complete: false,
        usage: Usage::default(),
    };
    let covered = write(sort, members.len(), name, &partial).and_then(|covered| {
        folder.replace(name, state)?;
        fs::rename(&partial, &path).map_err(DetectorError::io(&path))?;
        sync_folder(folder.path())?;
        Ok(covered)
    });
    if covered.is_err() {
        // It may not even have been made.
        let _ = fs::remove_file(&partial);
    }
    let covered = covered?;
    let records = folder.run().records;
    folder.update(name, |state| (state.good, state.complete) = (covered, covered == records))?;
    Ok(EnsembleSummary { covered, left_out: records.saturating_sub(covered) })
}

fn write(sort: ExternalSort, members: usize, name: &str, partial: &std::path::Path) -> Result<u64, DetectorError> {
    let io = || DetectorError::io(partial);
    let mut out = BufWriter::with_capacity(1 << 16, File::create(partial).map_err(io())?);
    let mut covered = 0;
    let mut group: (Vec<u8>, BTreeMap<u64, Said>) = Default::default();
    let mut entries = sort.finish().map_err(io())?;
    loop {
        let entry = entries.next().transpose().map_err(io())?;
        if entry.as_ref().is_none_or(|e| e.key != group.0) {
            if group.1.len() == members {
                let line = mean(&String::from_utf8_lossy(&group.0), name, group.1.values());
                let line = line.map_err(|e| DetectorError::file(partial, e))?;
                out.write_all(&line).map_err(io())?;
                covered += 1;
            }
            group = Default::default();
        }
        let Some(entry) = entry else { break };
        let number = |i: usize| u64::from_le_bytes(std::array::from_fn(|j| entry.payload[2 + i * 8 + j]));
        let float = |i: usize| f64::from_bits(number(i));
        let said = Said {
            score: float(0),
            pi: (entry.payload[0] == 1).then(|| float(1)),
            phi: (entry.payload[1] == 1).then(|| float(2)),
            latency_ms: float(3),
        };
        group.1.insert(number(4), said);
        group.0 = entry.key;
    }
    out.into_inner().map_err(|e| io()(e.into_error()))?.sync_all().map_err(io())?;
    Ok(covered)
}

fn mean<'a>(id: &str, name: &str, said: impl Iterator<Item = &'a Said> + Clone) -> Result<Vec<u8>, String> {
    let count = said.clone().count() as f64;
    // Members are in the order of the call, so that the sum is the same on every machine.
    let of = |field: fn(&Said) -> Option<f64>| {
        let values: Option<Vec<f64>> = said.clone().map(field).collect();
        values.map(|v| (v.iter().sum::<f64>() / count).clamp(0.0, 1.0))
    };
    let latency = said.clone().map(|s| s.latency_ms).sum::<f64>();
    let verdict = Verdict::from_score(of(|s| Some(s.score)).unwrap_or(f64::NAN)).map(|mut verdict| {
        (verdict.pi_score, verdict.phi_score) = (of(|s| s.pi), of(|s| s.phi));
        verdict
    });
    let prediction = Prediction::new(id, name, verdict, Duration::from_secs_f64((latency / 1000.0).clamp(0.0, 1e9)));
    let mut line = serde_json::to_vec(&prediction).map_err(|e| e.to_string())?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn run(folder: &std::path::Path, files: &[(&str, &str)]) -> RunFolder {
        let manifest = folder.join("m.jsonl");
        let line = |id: &str| {
            format!(
                r#"{{"id":"{id}","label":{{"is_malicious":false,"threat_type":"benign"}},"provenance":{{"source":"s","synthetic":true}},"sender_auth_condition":"verified"}}"#
            ) + "\n"
        };
        fs::write(&manifest, ["a", "b", "c"].map(line).concat()).unwrap();
        let mut run = RunFolder::open(&folder.join("run"), &manifest, None).unwrap();
        for (name, lines) in files {
            let state: Value = json!({"file": file_name(name), "task": "injection", "view": "canonical", "identity": {},
                "good": 3, "failed": 0, "complete": true});
            run.replace(name, serde_json::from_value(state).unwrap()).unwrap();
            fs::write(run.path().join(file_name(name)), lines).unwrap();
        }
        run
    }

    fn line(id: &str, score: f64) -> String {
        format!("{{\"id\":\"{id}\",\"detector\":\"d\",\"score\":{score},\"latency_ms\":2}}\n")
    }

    #[test]
    fn the_mean_over_what_all_cover() {
        let folder = tempfile::tempdir().unwrap();
        let x = line("c", 0.25) + &line("a", 0.5) + &line("b", 1.0);
        let y =
            line("a", 0.75) + "{\"id\":\"b\",\"detector\":\"d\",\"score\":null,\"error\":\"429\"}\n" + &line("c", 0.25);
        let mut run = run(folder.path(), &[("x", &x), ("y", &y)]);
        let members = ["x".to_owned(), "y".to_owned()];
        for _ in 0..2 {
            let summary = ensemble(&mut run, &members, "both").unwrap();
            assert_eq!((summary.covered, summary.left_out), (2, 1));
        }
        let mut lines = Vec::new();
        read_predictions(&run.path().join("both.jsonl"), |p| {
            lines.push((p.id, p.score, p.latency_ms, p.detector));
            Ok(())
        })
        .unwrap();
        let both = || "both".to_owned();
        assert_eq!(lines, [("a".into(), Some(0.625), 4.0, both()), ("c".into(), Some(0.25), 4.0, both())]);
        assert!(run.run().detectors["both"].identity["ensemble"]["x"].is_string());
    }

    #[test]
    fn wrong_members() {
        let folder = tempfile::tempdir().unwrap();
        let mut run = run(folder.path(), &[("x", &line("a", 0.5))]);
        for (members, name) in [(&["x"][..], "e"), (&["x", "x"], "e"), (&["x", "z"], "e"), (&["x", "e"], "e")] {
            let members: Vec<String> = members.iter().map(|m| (*m).to_owned()).collect();
            assert!(ensemble(&mut run, &members, name).is_err(), "{members:?}");
        }
    }
}
