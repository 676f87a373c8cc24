//! What must stop a run, with a message that names the place, and what may go on with a warning.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::num::NonZeroU64;

use common::{folder, good, ids, manifest, predictions, record, row, score, write};
use wardline_analysis::{
    Analysis, AnalysisError, IntervalMethod, OutputFolder, Prepared, Run, RunRequest, Settings, Task, analysis_csv,
    analysis_tables, carry_forward, grade,
};

fn settings() -> Settings {
    Settings { replicates: 50, ..Settings::default() }
}

fn analyze(request: &RunRequest) -> Result<Analysis, AnalysisError> {
    let (run, settings) = (Run::read(request)?, settings());
    Prepared::new(&run, &settings)?.analyze(None)
}

/// The same refusal from `analyze` and from `grade`.
fn refused(request: &RunRequest) -> String {
    let error = analyze(request).unwrap_err().to_string();
    assert_eq!(grade(request, 0.35).unwrap_err().to_string(), error);
    error
}

#[test]
fn a_missing_file() {
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &good("a"))]);
    let mut request = RunRequest { detectors: vec!["a".into(), "b".into()], ..RunRequest::new(run.path()) };
    assert!(refused(&request).ends_with("no predictions file of b"));
    request.allow_missing = true;
    let analysis = analyze(&request).unwrap();
    assert_eq!(analysis.detectors.len(), 1);
    assert!(analysis.warnings.contains(&"no predictions of b".to_owned()));

    let named = format!(
        r#"{{"manifest_sha256":"{}","detectors":{{"a":{{"file":"a.jsonl"}},"b":{{"file":"b.jsonl"}}}}}}"#,
        analysis.manifest_sha256
    );
    write(run.path(), &[("run.json", &named)]);
    assert!(refused(&RunRequest::new(run.path())).ends_with("no predictions file of b"));

    let empty = folder(&[("manifest_used.jsonl", &manifest())]);
    assert!(refused(&RunRequest::new(empty.path())).ends_with("holds no predictions file"));
    let bare = folder(&[("a.jsonl", &good("a"))]);
    assert!(refused(&RunRequest::new(bare.path())).contains("manifest_used.jsonl: "));
}

#[test]
fn an_absent_id() {
    let without = predictions(|n, id| (n != 7).then(|| row(id, "a", &format!("{:?}", score(n, id)))));
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &without)]);
    let request = RunRequest::new(run.path());
    assert!(refused(&request).ends_with("a.jsonl: 1 of 180 ids are absent, the first is \"ham_007\""));
    let request = RunRequest { allow_missing: true, ..request };
    let result = analyze(&request).unwrap();
    let coverage = result.detectors[0].tasks[&Task::Injection].coverage;
    assert_eq!((coverage.expected, coverage.scored, coverage.absent), (160, 159, 1));
    let graded = grade(&request, 0.35).unwrap();
    assert_eq!(graded.detectors[0].tasks[&Task::Injection].coverage, coverage);
}

#[test]
fn an_unknown_id_and_an_id_twice() {
    let extra = good("a") + &row("zzz", "a", "0.5") + "\n";
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &extra)]);
    assert!(refused(&RunRequest::new(run.path())).ends_with("a.jsonl: line 181: id \"zzz\" is not in the manifest"));
    let twice = good("a") + &row("pi_000", "a", "0.5") + "\n";
    write(run.path(), &[("a.jsonl", &twice)]);
    assert!(refused(&RunRequest::new(run.path())).ends_with("line 181: id \"pi_000\" stands a second time"));
    let manifest = manifest() + &record("ham_000", "benign", "", "ham_corpus", None);
    write(run.path(), &[("a.jsonl", &good("a")), ("manifest_used.jsonl", &manifest)]);
    assert!(refused(&RunRequest::new(run.path())).contains("line 181: id \"ham_000\" stands a second time"));
}

#[test]
fn a_failed_row_that_a_later_one_makes_good() {
    let failed = r#"{"id":"pi_000","detector":"a","score":null,"error":"timed out"}"#;
    let log = format!("{failed}\n{}", good("a"));
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &log)]);
    let read = Run::read(&RunRequest::new(run.path())).unwrap();
    assert_eq!((read.columns[0].retried, read.columns[0].pi.iter().filter(|r| r.is_ok()).count()), (1, 180));
}

#[test]
fn two_runs_mixed_in_one_folder() {
    let mixed = predictions(|n, id| Some(row(id, if n < 90 { "a" } else { "b" }, "0.5")));
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &mixed)]);
    let error = refused(&RunRequest::new(run.path()));
    assert!(
        error.ends_with("line 91: is of detector \"b\", the rows before it of \"a\": two runs are mixed"),
        "{error}"
    );

    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &good("a")), ("a2.jsonl", &good("a"))]);
    assert!(refused(&RunRequest::new(run.path())).ends_with("two files are of detector \"a\": two runs are mixed"));

    let digest = analyze(&RunRequest {
        detectors: vec!["a".into()],
        ..RunRequest::new({
            fs::remove_file(run.path().join("a2.jsonl")).unwrap();
            run.path()
        })
    })
    .unwrap()
    .manifest_sha256;
    let named = format!(r#"{{"manifest_sha256":"{digest}","detectors":{{"a":{{"file":"a.jsonl"}}}}}}"#);
    write(run.path(), &[("run.json", &named), ("b.jsonl", &good("b"))]);
    assert!(refused(&RunRequest::new(run.path())).ends_with("b.jsonl: is not in run.json: two runs are mixed"));
    fs::remove_file(run.path().join("b.jsonl")).unwrap();
    write(run.path(), &[("run.json", &named.replace(&digest, "00"))]);
    assert!(
        refused(&RunRequest::new(run.path())).ends_with("is not the manifest that run.json names: two runs are mixed")
    );
}

#[test]
fn a_changed_population() {
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &good("a")), ("b.jsonl", &good("b"))]);
    let both = analyze(&RunRequest::new(run.path())).unwrap();
    fs::remove_file(run.path().join("b.jsonl")).unwrap();
    let request = RunRequest {
        allow_missing: true,
        detectors: vec!["a".into(), "b".into(), "c".into()],
        ..RunRequest::new(run.path())
    };
    let absent = Run::read(&request).unwrap().absent;
    assert_eq!(absent, ["b", "c"]);
    let mut one = analyze(&request).unwrap();
    carry_forward(&mut one, &both, &absent, false).unwrap();
    assert_eq!(one.detectors.iter().map(|d| d.carried_forward).collect::<Vec<_>>(), [false, true]);
    assert_eq!(one.detectors[1].tasks, both.detectors[1].tasks);
    // Every table says so, and the rows for programs too.
    for titled in analysis_tables(&one) {
        let text = titled.table.unwrap().to_markdown();
        assert_eq!(text.matches("| b ").count(), text.matches("| b (carried forward) ").count(), "{}", titled.title);
    }
    assert!(analysis_tables(&one)[0].table.as_ref().unwrap().to_markdown().contains("| b (carried forward) "));
    let csv = analysis_csv(&one);
    assert!(csv.lines().next().unwrap().ends_with(",carried_forward"));
    assert!(csv.lines().skip(1).all(|l| l.ends_with(if l.contains(",b,") { ",true" } else { ",false" })), "{csv}");
    // A detector that nobody asked for is not carried.
    let mut alone = analyze(&RunRequest::new(run.path())).unwrap();
    carry_forward(&mut alone, &both, &[], true).unwrap();
    assert_eq!(alone.detectors.len(), 1);

    let relabelled = manifest().replacen("ham_corpus", "notinject", 1);
    write(run.path(), &[("manifest_used.jsonl", &relabelled)]);
    let mut other = analyze(&request).unwrap();
    assert_ne!(other.population_signature, both.population_signature);
    carry_forward(&mut other, &both, &absent, false).unwrap();
    assert_eq!(other.detectors.len(), 1);
    assert!(other.warnings.iter().any(|w| w.contains("no row is carried forward; dropped: b")), "{:?}", other.warnings);
    let error = carry_forward(&mut other, &both, &absent, true).unwrap_err().to_string();
    assert!(error.starts_with("the reference was read from another population"), "{error}");
}

#[test]
fn a_reference_of_other_settings() {
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &good("a")), ("b.jsonl", &good("b"))]);
    let both = analyze(&RunRequest::new(run.path())).unwrap();
    let refusal = |change: fn(&mut Settings)| {
        let mut other = both.clone();
        other.detectors.retain(|d| d.detector == "a");
        change(&mut other.settings);
        let error = carry_forward(&mut other, &both, &["b".into()], false).unwrap_err().to_string();
        assert_eq!(other.detectors.len(), 1);
        error
    };
    for (change, message) in [
        ((|s| s.threshold = 0.5) as fn(&mut Settings), "threshold (0.35 there, 0.5 here)"),
        (|s| s.target_fpr = 0.02, "target false-positive rate (0.01 there, 0.02 here)"),
        (|s| s.confidence = 0.9, "confidence (0.95 there, 0.9 here)"),
        (|s| s.interval = IntervalMethod::Bca, "interval (\"percentile\" there, \"bca\" here)"),
        (|s| s.replicates = 51, "number of replicates (50 there, 51 here)"),
        (|s| s.seed = 1, "seed (0 there, 1 here)"),
    ] {
        assert_eq!(refusal(change), format!("the reference was made with another {message}"));
    }
}

#[test]
fn an_empty_manifest() {
    let run = folder(&[("manifest_used.jsonl", ""), ("a.jsonl", "")]);
    assert!(refused(&RunRequest::new(run.path())).ends_with("manifest_used.jsonl: holds no record"));
    write(run.path(), &[("a.jsonl", &good("a"))]);
    assert!(refused(&RunRequest::new(run.path())).ends_with("manifest_used.jsonl: holds no record"));
}

#[test]
fn a_limit_reads_the_first_records_only() {
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &good("a"))]);
    let limited = |n| RunRequest { limit: NonZeroU64::new(n), ..RunRequest::new(run.path()) };
    assert_eq!(analyze(&limited(150)).unwrap().population.manifest, 150);
    assert_eq!(analyze(&limited(1_000_000)).unwrap().population.manifest, 180);
    assert_eq!(grade(&limited(150), 0.35).unwrap().detectors[0].tasks[&Task::AnyMalicious].coverage.expected, 150);
}

#[test]
fn an_output_folder_that_cannot_be_written() {
    let place = folder(&[("file", "")]);
    let error = OutputFolder::open(&place.path().join("file/out")).unwrap_err().to_string();
    assert!(error.contains("file/out: "), "{error}");
    let out = OutputFolder::open(&place.path().join("out")).unwrap();
    let written = out.write("a.json", b"{}").unwrap();
    assert_eq!(fs::read(written).unwrap(), b"{}");
    assert_eq!(fs::read_dir(place.path().join("out")).unwrap().count(), 1);
}

#[test]
fn wrong_lines_are_named() {
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &good("a"))]);
    for (text, message) in [
        ("\n", "line 1: is empty"),
        ("not json\n", "line 1: expected"),
        (r#"{"detector":"a","score":0.5}"#, "line 1: missing field `id`"),
        (r#"{"id":"ham_000","score":0.5"#, "line 1: the file is cut in this line"),
    ] {
        write(run.path(), &[("a.jsonl", text)]);
        let error = refused(&RunRequest::new(run.path()));
        assert!(error.contains(message), "{error}");
    }
    write(
        run.path(),
        &[("a.jsonl", &good("a")), ("manifest_used.jsonl", &manifest().replacen("benign", "harmless", 1))],
    );
    let error = refused(&RunRequest::new(run.path()));
    assert!(error.contains("line 1: field `label.threat_type`: unknown variant `harmless`"), "{error}");
}

#[test]
fn settings_out_of_range() {
    let run = folder(&[("manifest_used.jsonl", &manifest()), ("a.jsonl", &good("a"))]);
    let run = Run::read(&RunRequest::new(run.path())).unwrap();
    let with = |change: fn(&mut Settings)| {
        let mut settings = settings();
        change(&mut settings);
        Prepared::new(&run, &settings).err().unwrap().to_string()
    };
    assert_eq!(with(|s| s.threshold = 1.5), "the threshold is not between 0 and 1");
    assert_eq!(with(|s| s.confidence = 1.0), "the confidence is not between 0 and 1");
    assert_eq!(with(|s| s.replicates = 1), "the number of replicates is not 2 or more");
    assert_eq!(with(|s| s.baseline = Some("x".into())), "no predictions of detector \"x\"");
    assert_eq!(ids().len(), 180);
}
