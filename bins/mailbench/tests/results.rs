//! The commands that read results: exit codes, messages, and what they write.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn mailbench(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mailbench")).args(args).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A refusal: exit code 2, one line on standard error, nothing on standard output.
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = mailbench(folder, args);
    let error = text(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {error}");
    assert!(error.starts_with("error: ") && error.trim_end().lines().count() == 1, "{args:?}: {error}");
    error
}

/// A run of a good and a poor detector: 100 injections over 50 payloads, 400 negatives.
fn run_folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    let (mut manifest, mut good, mut poor) = (String::new(), String::new(), String::new());
    for n in 0..500_u32 {
        let injection = n >= 400;
        let payload = if injection { format!(r#","base_payload_id":"p{}""#, n / 2) } else { String::new() };
        manifest += &format!(
            r#"{{"id":"m{n:03}","label":{{"is_malicious":{injection},"threat_type":"{}"}},"surface":[],"provenance":{{"source":"own","synthetic":true{payload}}},"sender_auth_condition":"verified"}}"#,
            if injection { "prompt_injection_direct" } else { "benign" }
        );
        manifest += "\n";
        let caught = injection && n % 20 != 0;
        let spread = f64::from(n * 37 % 100) / 1000.0;
        let row = |name: &str, score: f64| {
            format!(r#"{{"id":"m{n:03}","detector":"{name}","flagged":{},"score":{score}}}"#, score >= 0.35) + "\n"
        };
        good += &row("good", if caught { 0.8 } else { 0.1 } + spread);
        poor += &row("poor", if n % 3 == 0 { 0.5 } else { 0.2 } + spread);
    }
    for (name, file) in [("manifest_used.jsonl", manifest), ("good.jsonl", good), ("poor.jsonl", poor)] {
        fs::write(run.join(name), file).unwrap();
    }
    folder
}

#[test]
fn usage_errors() {
    let folder = run_folder();
    let here = folder.path();
    fs::write(here.join("file"), "").unwrap();
    for command in ["grade", "analyze"] {
        for limit in ["0", "-1", "-0", "1.5", "all"] {
            let error = refused(here, &[command, "run", "--limit", limit]);
            assert!(error.contains("--limit"), "{error}");
        }
        assert!(refused(here, &[command, "nowhere"]).contains("nowhere"));
        assert!(refused(here, &[command, "run", "--detector", "other"]).contains("no predictions file of other"));
        assert!(refused(here, &[command, "run", "--output-dir", "file/out"]).contains("file/out"));
        assert!(refused(here, &[command, "run", "--threshold", "2"]).contains("threshold"));
    }
    assert!(refused(here, &["analyze", "run", "--replicates", "-5"]).contains("--replicates"));
    assert!(refused(here, &["analyze", "run", "--replicates", "0"]).contains("replicates"));
    assert!(refused(here, &["analyze", "run", "--ensemble", "x"]).contains("NAME=A,B"));
    assert!(refused(here, &["analyze", "run", "--ensemble", "x=good,other"]).contains("\"other\""));
    assert!(refused(here, &["gate", "run"]).contains("--min"));
    assert!(refused(here, &["gate", "run", "--min", "f1=.5"]).contains("no condition"));
    assert!(refused(here, &["gate", "run", "--min", "auc=.5"]).contains("--gate"));
    assert!(refused(here, &["diff", "file", "file"]).contains("is no analysis"));
}

#[test]
fn nothing_is_written_unless_asked() {
    let folder = run_folder();
    let here = folder.path();
    let listing = || {
        let mut names: Vec<_> = walk(here);
        names.sort();
        names
    };
    let before = listing();
    for command in ["grade", "analyze"] {
        for format in ["text", "json", "csv", "markdown"] {
            let output = mailbench(here, &[command, "run", "--format", format]);
            assert!(output.status.success() && !output.stdout.is_empty(), "{}", text(&output.stderr));
        }
    }
    assert_eq!(listing(), before);
    let output =
        mailbench(here, &["analyze", "run", "--replicates", "50", "--baseline", "poor", "--output-dir", "out"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut written: Vec<String> = walk(&here.join("out"));
    written.sort();
    assert_eq!(written, ["analysis.csv", "analysis.json", "analysis.md", "index.html"]);
    let analysis: Value = serde_json::from_slice(&fs::read(here.join("out/analysis.json")).unwrap()).unwrap();
    assert_eq!(analysis["schema"], "wardline-mail-analysis/1");
}

fn walk(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_same_bytes_every_time() {
    let folder = run_folder();
    let args = ["analyze", "run", "--replicates", "100", "--format", "json", "--baseline", "poor"];
    let once = mailbench(folder.path(), &args).stdout;
    let again = Command::new(env!("CARGO_BIN_EXE_mailbench"))
        .args(args)
        .current_dir(folder.path())
        .env("RAYON_NUM_THREADS", "1")
        .env("LC_ALL", "de_DE.UTF-8")
        .env("TZ", "Asia/Kathmandu")
        .output()
        .unwrap()
        .stdout;
    assert!(!once.is_empty() && once == again);
}

#[test]
fn the_gate_decides_on_bounds() {
    let folder = run_folder();
    let here = folder.path();
    let code = |args: &[&str]| {
        let mut all = vec!["gate", "run", "--gate", "good"];
        all.extend(args);
        let output = mailbench(here, &all);
        (output.status.code().unwrap(), text(&output.stdout))
    };
    // Recall is .95 of 100: about .89 to .98.
    assert_eq!(code(&["--min", "recall@.35=.8", "--max", "fpr@.35=.02", "--confidence", ".95"]).0, 0);
    assert_eq!(code(&["--min", "recall@.35=.995"]).0, 1);
    assert_eq!(code(&["--max", "fpr@.35=.02", "--min", "recall@.35=.95"]).0, 4);
    assert_eq!(code(&["--min", "recall@.35=.995", "--min", "recall@.35=.95"]).0, 1);
    let (exit, found) = code(&["--min", "auc=.5", "--task", "phishing"]);
    assert_eq!(exit, 4, "{found}");
    assert!(found.contains("undefined") && found.contains("too few samples to say"));
    let (_, found) = code(&["--min", "auc=.5", "--task", "phishing", "--format", "csv"]);
    assert!(found.contains("auc >= 0.5,,,,0,400,0,"), "{found}");

    // An answer that never came does not pass the gate.
    let path = here.join("run/good.jsonl");
    let rows = fs::read_to_string(&path).unwrap();
    let failed: String = rows
        .lines()
        .enumerate()
        .map(|(n, l)| {
            if n >= 440 {
                format!("{{\"id\":\"m{n:03}\",\"detector\":\"good\",\"error\":\"timed out\"}}\n")
            } else {
                format!("{l}\n")
            }
        })
        .collect();
    fs::write(&path, failed).unwrap();
    assert_eq!(code(&["--min", "recall@.35=.8"]).0, 1);
}

/// Runs a command that must succeed.
fn succeeds(folder: &Path, args: &[&str]) -> String {
    let output = mailbench(folder, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn what_stops_a_run_stops_both_commands() {
    let folder = run_folder();
    let here = folder.path();
    let found: Value = serde_json::from_str(&succeeds(here, &["grade", "run", "--format", "json"])).unwrap();
    let manifest = found["manifest_sha256"].as_str().unwrap().to_owned();
    let run_file = |detectors: &str| {
        let text = format!(r#"{{"manifest_sha256":"{manifest}","detectors":{{{detectors}}}}}"#);
        fs::write(here.join("run/run.json"), text).unwrap();
    };
    let both = r#""good":{"file":"good.jsonl"},"poor":{"file":"poor.jsonl"}"#;
    let refusal = |needed: &str| {
        for command in ["grade", "analyze"] {
            let error = refused(here, &[command, "run", "--output-dir", "out"]);
            assert!(error.contains(needed), "{command}: {error}");
            assert!(walk(&here.join("out")).is_empty(), "{command} wrote something");
        }
        let error = refused(here, &["gate", "run", "--gate", "good", "--min", "auc=.5"]);
        assert!(error.contains(needed), "{error}");
    };
    // A file that the run names and that is missing.
    run_file(&format!(r#"{both},"third":{{"file":"third.jsonl"}}"#));
    refusal("no predictions file of third");
    for command in ["grade", "analyze"] {
        succeeds(here, &[command, "run", "--allow-missing-predictions"]);
    }
    // A file that the run does not name, and a manifest that it was not made with: two runs in one folder.
    run_file(r#""good":{"file":"good.jsonl"}"#);
    refusal("poor.jsonl: is not in run.json: two runs are mixed");
    run_file(both);
    let path = here.join("run/manifest_used.jsonl");
    let kept = fs::read_to_string(&path).unwrap();
    fs::write(&path, kept.replacen("verified", "spoofed", 1)).unwrap();
    refusal("is not the manifest that run.json names: two runs are mixed");
    fs::write(&path, &kept).unwrap();
    // Rows of another detector in a file.
    let path = here.join("run/good.jsonl");
    let rows = fs::read_to_string(&path).unwrap();
    fs::write(&path, rows.replacen(r#""detector":"good","flagged":false"#, r#""detector":"x","flagged":false"#, 1))
        .unwrap();
    refusal("two runs are mixed");
    // An id that is absent.
    let without: String = rows.lines().skip(1).map(|l| format!("{l}\n")).collect();
    fs::write(&path, without).unwrap();
    refusal("good.jsonl: 1 of 500 ids are absent, the first is \"m000\"");
    fs::write(&path, &rows).unwrap();
    succeeds(here, &["analyze", "run", "--replicates", "50", "--output-dir", "out"]);
}

#[test]
fn a_changed_population_carries_nothing_forward() {
    let folder = run_folder();
    let here = folder.path();
    succeeds(here, &["analyze", "run", "--replicates", "50", "--output-dir", "before"]);
    fs::remove_file(here.join("run/poor.jsonl")).unwrap();
    let allowed = |reference: &str| {
        let args = ["analyze", "run", "--replicates", "50", "--allow-missing-predictions", "--format", "json"];
        let found = succeeds(
            here,
            &[&args[..], &["--detector", "good", "--detector", "poor", "--reference", reference]].concat(),
        );
        serde_json::from_str::<Value>(&found).unwrap()
    };
    // Rows of other settings would stand under headings that are not theirs.
    let other = ["analyze", "run", "--replicates", "50", "--allow-missing-predictions", "--detector", "poor"];
    let other =
        [&other[..], &["--detector", "good", "--reference", "before/analysis.json", "--threshold", ".5"]].concat();
    assert!(refused(here, &other).contains("made with another threshold (0.35 there, 0.5 here)"));
    // Without the flag, or unasked, nothing is carried.
    let alone = ["analyze", "run", "--replicates", "50", "--format", "json", "--reference", "before/analysis.json"];
    for more in [&[][..], &["--allow-missing-predictions"]] {
        let found: Value = serde_json::from_str(&succeeds(here, &[&alone[..], more].concat())).unwrap();
        assert_eq!(found["detectors"].as_array().unwrap().len(), 1);
    }
    let same = allowed("before/analysis.json");
    assert_eq!(same["detectors"][1]["detector"], "poor");
    assert_eq!(same["detectors"][1]["carried_forward"], true);
    // One record more makes another population.
    let path = here.join("run/manifest_used.jsonl");
    let manifest = fs::read_to_string(&path).unwrap();
    fs::write(&path, manifest.replacen("verified", "spoofed", 1)).unwrap();
    let changed = allowed("before/analysis.json");
    assert_eq!(changed["detectors"].as_array().unwrap().len(), 1);
    assert_ne!(changed["population_signature"], same["population_signature"]);
    let warned = changed["warnings"].as_array().unwrap().iter().any(|w| w.as_str().unwrap().contains("dropped: poor"));
    assert!(warned, "{}", changed["warnings"]);
    let error = refused(here, &["analyze", "run", "--replicates", "50", "--reference", "before/analysis.json"]);
    assert!(error.contains("another population"), "{error}");
}

#[test]
fn warnings_stand_in_every_format() {
    let folder = run_folder();
    let here = folder.path();
    let path = here.join("run/good.jsonl");
    let rows = fs::read_to_string(&path).unwrap();
    fs::write(&path, rows.replacen("\"score\":0.1", "\"score\":\"x\",\"was\":0.1", 1)).unwrap();
    for (command, written) in [("grade", "grade.md"), ("analyze", "analysis.md")] {
        let output = mailbench(here, &[command, "run", "--format", "csv", "--output-dir", "out"]);
        let (table, said) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && table.starts_with("task,rows,") && !table.contains("warning"), "{said}");
        assert!(said.lines().all(|l| l.starts_with("warning: ")), "{said}");
        assert!(said.contains("warning: good, pi: 1 of 500 records have no score (1 not a number)"), "{said}");
        let file = fs::read_to_string(here.join("out").join(written)).unwrap();
        assert!(file.starts_with("> warning: "), "{file}");
        let first_table = file.find("## ").unwrap();
        assert!(file[..first_table].contains("> warning: good, pi: 1 of 500 records have no score"), "{file}");
    }
    let named = fs::read_to_string(&path).unwrap().replace("\"detector\":\"good\"", "\"detector\":\"<img src=x>\"");
    fs::write(here.join("run/hostile.jsonl"), named).unwrap();
    succeeds(here, &["grade", "run", "--output-dir", "hostile"]);
    let file = fs::read_to_string(here.join("hostile/grade.md")).unwrap();
    assert!(file.contains("> warning: &lt;img src=x") && !file.contains("<img"), "{file}");
    fs::remove_file(here.join("run/hostile.jsonl")).unwrap();
    let file = fs::read_to_string(here.join("out/analysis.md")).unwrap();
    assert!(file.contains(" by source, whole population\n"));
    let page = fs::read_to_string(here.join("out/index.html")).unwrap();
    assert!(page.contains(">Sources</h2>") && page.contains("2 detectors on 500 of 500"));
    let alone = ["analyze", "run", "--replicates", "50", "--detector", "poor", "--output-dir", "out"];
    succeeds(here, &alone);
    assert!(fs::read_to_string(here.join("out/index.html")).unwrap().contains("1 detector on 500 of 500"));
}

#[test]
fn an_empty_manifest_is_no_run() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    fs::create_dir(here.join("run")).unwrap();
    for name in ["manifest_used.jsonl", "good.jsonl"] {
        fs::write(here.join("run").join(name), "").unwrap();
    }
    for command in ["grade", "analyze"] {
        assert!(refused(here, &[command, "run"]).ends_with("manifest_used.jsonl: holds no record\n"));
    }
}

#[test]
fn the_naive_view_is_of_the_same_messages() {
    let folder = run_folder();
    let here = folder.path();
    fs::create_dir(here.join("naive")).unwrap();
    for name in ["good.jsonl", "manifest_used.jsonl"] {
        fs::copy(here.join("run").join(name), here.join("naive").join(name)).unwrap();
    }
    let all = ["analyze", "run", "--naive", "naive", "--replicates", "50"];
    assert!(refused(here, &all).ends_with("naive: no predictions file of poor\n"));
    let allowed = succeeds(here, &[&all[..], &["--allow-missing-predictions"]].concat());
    assert!(allowed.contains("warning: not on the naive view, and absent from its tables: poor"), "{allowed}");
    let analyze = [&all[..], &["--detector", "good"]].concat();
    let found = succeeds(here, &analyze);
    assert!(found.contains("What structure alone costs by surface, test half"), "{found}");
    let about = r#"{"manifest_sha256":"00","detectors":{"good":{"file":"good.jsonl"}}}"#;
    fs::write(here.join("naive/run.json"), about).unwrap();
    assert!(refused(here, &analyze).contains("made with another manifest"));
    fs::remove_file(here.join("naive/run.json")).unwrap();

    // A change on the naive view alone is a change.
    let written = |out: &str| {
        succeeds(here, &[&analyze[..], &["--output-dir", out]].concat());
        format!("{out}/analysis.json")
    };
    let before = written("a");
    let path = here.join("naive/good.jsonl");
    fs::write(&path, fs::read_to_string(&path).unwrap().replace(":0.8", ":0.3")).unwrap();
    let after = written("b");
    let output = mailbench(here, &["diff", &before, &after, "--exit-code", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let changes: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(changes["causes"][0]["what"], "good: predictions on the naive view");
    let moved = |measure: &str| changes["movements"].as_array().unwrap().iter().any(|m| m["measure"] == measure);
    assert!(moved("recall_lost") && moved("recall"), "{changes}");
}

#[test]
fn a_judge_does_not_choose_what_the_gate_measures() {
    let folder = run_folder();
    let here = folder.path();
    let judge = |fails: bool| {
        let rows: String = (0..500_u32)
            .map(|n| match (n >= 400, fails && n >= 450) {
                (_, true) => format!("{{\"id\":\"m{n:03}\",\"detector\":\"judge:x\",\"error\":\"timed out\"}}\n"),
                (injection, false) => {
                    let score = f64::from(u8::from(injection));
                    format!("{{\"id\":\"m{n:03}\",\"detector\":\"judge:x\",\"pi_score\":{score},\"phi_score\":0.0}}\n")
                }
            })
            .collect();
        fs::write(here.join("run/judge.jsonl"), rows).unwrap();
        mailbench(here, &["gate", "run", "--gate", "judge:x", "--min", "recall@.35=.8"]).status.code().unwrap()
    };
    assert_eq!((judge(false), judge(true)), (0, 1));
}

#[test]
fn a_target_below_one_false_alarm_is_undefined() {
    let folder = run_folder();
    let here = folder.path();
    let code = |condition: &str| {
        mailbench(here, &["gate", "run", "--gate", "good", "--min", condition]).status.code().unwrap()
    };
    // 400 negatives: one false alarm is .25 %.
    assert_eq!((code("tpr@1%fpr=.8"), code("tpr@.25%fpr=.8"), code("tpr@.1%fpr=.8")), (0, 0, 4));
}

#[test]
fn diff_names_what_changed() {
    let folder = run_folder();
    let here = folder.path();
    let analyze = |out: &str, more: &[&str]| {
        let mut args = vec!["analyze", "run", "--replicates", "50", "--output-dir", out];
        args.extend(more);
        assert!(mailbench(here, &args).status.success());
        format!("{out}/analysis.json")
    };
    let before = analyze("a", &[]);
    let same = mailbench(here, &["diff", &before, &analyze("b", &[]), "--exit-code"]);
    assert_eq!((same.status.code(), text(&same.stdout).as_str()), (Some(0), "nothing changed\n"));
    let path = here.join("run/good.jsonl");
    let changed = fs::read_to_string(&path).unwrap().replace(":0.8", ":0.3");
    fs::write(&path, changed).unwrap();
    let after = analyze("c", &["--seed", "5"]);
    let output = mailbench(here, &["diff", &before, &after, "--exit-code", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let changes: Value = serde_json::from_slice(&output.stdout).unwrap();
    let causes: Vec<&str> = changes["causes"].as_array().unwrap().iter().map(|c| c["what"].as_str().unwrap()).collect();
    assert_eq!(causes, ["settings: seed", "good: predictions"]);
    let moved = changes["movements"].as_array().unwrap();
    assert!(moved.iter().any(|m| m["measure"] == "recall" && m["outside_interval"] == true));
    assert!(moved.iter().all(|m| m["detector"] == "good"));
    assert!(moved.iter().any(|m| m["measure"] == "brier"));

    let csv = text(&mailbench(here, &["diff", &before, &after, "--format", "csv"]).stdout);
    let begins = |begin: &str| csv.lines().filter(|l| l.starts_with(begin)).count();
    assert_eq!(begins("kind,what,task,rows,slice,detector,measure,before,after,difference,outside_interval"), 1);
    assert_eq!((begins("cause,"), begins("cause,settings: seed,,,,,,0,5,,")), (2, 1), "{csv}");
    assert_eq!(begins("movement,"), moved.len());
}

#[test]
fn the_demo_goes_the_whole_way() {
    let folder = TempDir::new().unwrap();
    let output = mailbench(folder.path(), &["demo", "--output-dir", "out", "--replicates", "50"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("heuristics") && said.contains("What structure alone costs"), "{said}");
    let page = fs::read_to_string(folder.path().join("out/index.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"));
}
