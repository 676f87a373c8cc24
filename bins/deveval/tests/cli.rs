//! What a user types and sees: outputs, errors and exit codes of `deveval` on the bundled scenarios.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn deveval(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_deveval")).args(args).env_remove("WARDLINE_DATA").output().unwrap()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn stdout(args: &[&str]) -> String {
    let output = deveval(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[args, &["--format", "json"]].concat())).unwrap()
}

/// The error line and the exit code; nothing else is printed.
fn error(args: &[&str]) -> (String, i32) {
    let output = deveval(args);
    let said = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.len() == 1 && lines[0].starts_with("error: "), "{args:?}: {said}");
    assert!(output.stdout.is_empty(), "{args:?}");
    (lines[0].to_owned(), output.status.code().unwrap())
}

fn row<'a>(results: &'a Value, defense: &str) -> &'a Value {
    results.as_array().unwrap().iter().find(|r| r["defense"] == defense).unwrap()
}

#[test]
fn without_arguments_the_bundled_scenarios_are_scored() {
    let text = stdout(&[]);
    for needed in ["flow-guard", "keyword-filter", "allow-all (control)", "deveval corpora build", "Wilson"] {
        assert!(text.contains(needed), "{needed}: {text}");
    }
}

#[test]
fn json_has_the_promised_fields() {
    let j = json(&[]);
    assert_eq!(j["schema"], "wardline-deveval/1");
    assert_eq!(j["corpus"], "bundled");
    let r = row(&j["results"], "flow-guard");
    for count in ["injections", "blocked", "attributable", "halted_in_task", "benign", "kept", "unscored", "errors"] {
        assert!(r[count].is_u64(), "{count}");
    }
    for rate in ["block_rate", "attributable_rate", "utility_rate"] {
        let (value, low, high) = (&r[rate]["value"], &r[rate]["low"], &r[rate]["high"]);
        assert!(low.as_f64() <= value.as_f64() && value.as_f64() <= high.as_f64(), "{rate}");
    }
    assert!(j["by_suite"].as_object().unwrap().values().all(|t| t.is_array()));
    let block: Vec<f64> =
        j["results"].as_array().unwrap().iter().map(|r| r["block_rate"]["value"].as_f64().unwrap()).collect();
    assert!(block.is_sorted_by(|a, b| a >= b), "{block:?}");
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let on = |threads: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deveval"));
        command.args(["--format", "json"]).env("RAYON_NUM_THREADS", threads).output().unwrap().stdout
    };
    assert_eq!(on("1"), on("7"));
}

#[test]
fn csv_and_markdown() {
    let csv = stdout(&["--format", "csv"]);
    let mut lines = csv.lines();
    let columns = lines.next().unwrap().split(',').count();
    assert!(lines.clone().count() >= 5 && lines.all(|l| l.split(',').count() == columns), "{csv}");
    assert!(stdout(&["--format", "markdown"]).contains("| defense "));
}

#[test]
fn the_page_holds_the_results_and_needs_nothing_else() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("page.html");
    let page = file.to_str().unwrap();
    let without = stdout(&["--versus", "flow-guard"]);
    assert_eq!(stdout(&["--versus", "flow-guard", "--html", page]), without);
    let html = std::fs::read_to_string(&file).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("<svg") && html.contains("On the Pareto front: "));
    let j = json(&[]);
    for r in j["results"].as_array().unwrap() {
        let rate = 100.0 * r["block_rate"]["value"].as_f64().unwrap();
        let counts = format!("{} of {}", r["blocked"], r["injections"]);
        for needed in [r["defense"].as_str().unwrap(), &format!("{rate:.1} %"), &counts] {
            assert!(html.contains(needed), "{needed}");
        }
    }
    for needed in [
        "an illustration",
        "Difference from flow-guard",
        j["corpus_sha256"].as_str().unwrap(),
        "wardline-deveval/1",
        "Wilson&#39;s interval",
    ] {
        assert!(html.contains(needed) || html.contains(&needed.replace("&#39;", "'")), "{needed}");
    }
    for word in ["http://", "https://", "src=", "url(", "@import"] {
        assert!(!html.contains(word), "{word}");
    }
    // The page is whole or not there; nothing lies beside it.
    let names = || std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(names(), ["page.html"]);
    std::fs::remove_file(&file).unwrap();
    let fails = "exec:python3 -c 'import sys; sys.stdin.readline(); sys.exit(5)'";
    assert_eq!(error(&["--defense", fails, "--html", page]).1, 3);
    assert!(names().is_empty(), "{:?}", names());
}

#[test]
fn names_on_the_page_are_text() {
    let folder = tempfile::TempDir::new().unwrap();
    let page = folder.path().join("page.html");
    let spec = format!("exec:python3 '{}' '<img src=x>'", root().join("examples/exec_defense.py").display());
    stdout(&["--defense", &spec, "--html", page.to_str().unwrap()]);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("&lt;img src=x&gt;") && !html.contains("<img"));
    // In Markdown too, in cells and in headings.
    let markdown = stdout(&["--defense", &spec, "--versus", &spec, "--format", "markdown"]);
    assert!(markdown.contains("| exec:python3 ") && markdown.contains("### difference from exec:"), "{markdown}");
    assert!(markdown.contains("&lt;img src=x&gt;") && !markdown.contains("<img"), "{markdown}");
}

#[test]
fn chosen_defenses_come_with_the_controls() {
    let j = json(&["--defense", "any:flow-guard,keyword-filter", "--defense", "all:flow-guard,keyword-filter"]);
    let names: Vec<&str> = j["results"].as_array().unwrap().iter().map(|r| r["defense"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    let blocked = |d| row(&j["results"], d)["blocked"].as_u64().unwrap();
    assert!(blocked("any:flow-guard,keyword-filter") > blocked("all:flow-guard,keyword-filter"));
}

#[test]
fn the_example_program_rules_as_flow_guard() {
    let example = root().join("examples/exec_defense.py");
    let spec = format!("exec:python3 '{}'", example.display());
    let j = json(&["--defense", &spec, "--defense", "flow-guard"]);
    let (mine, guard) = (row(&j["results"], &spec), row(&j["results"], "flow-guard"));
    for count in ["blocked", "attributable", "halted_in_task", "kept"] {
        assert_eq!(mine[count], guard[count], "{count}");
    }
}

#[test]
fn a_program_that_fails_names_scenario_and_call() {
    let (line, code) = error(&["--defense", "exec:python3 -c 'import sys; sys.stdin.readline(); sys.exit(5)'"]);
    assert_eq!(code, 3);
    assert!(line.contains("could not rule on") && line.contains("call 1") && line.contains("exit status: 5"), "{line}");
    let j =
        json(&["--defense", "exec:python3 -c 'import sys; sys.stdin.readline(); sys.exit(5)'", "--on-error", "deny"]);
    let r =
        j["results"].as_array().unwrap().iter().find(|r| r["defense"].as_str().unwrap().starts_with("exec:")).unwrap();
    assert!(r["errors"].as_u64().unwrap() > 0 && r["blocked"] == r["injections"]);
}

#[test]
fn wrong_input_is_one_line_and_exit_2() {
    let nowhere = std::env::temp_dir().join("no-such-data-folder-of-wardline");
    let nowhere_page = nowhere.join("page.html");
    let (nowhere, nowhere_page) = (nowhere.to_str().unwrap(), nowhere_page.to_str().unwrap());
    let cases: [(&[&str], &str); 25] = [
        (&["--corpus", "pair"], "pairs"),
        (&["--corpus", "pairs", "--data-dir", nowhere], "deveval corpora build"),
        (&["--suite", "casino"], "casino"),
        (&["--format", "yaml"], "yaml"),
        (&["--defense", "flowguard"], "flow-guard"),
        (&["--defense", "any:"], "unknown defense"),
        (&["--defense", "exec:"], "needs a command"),
        (&["--defense", "exec:python3 'x"], "exec:python3"),
        (&["--defense", "flow-guard", "--defense", "flow-guard"], "twice"),
        (&["--sweep"], "--corpus agentdojo"),
        (&["--versus", "flowguard"], "scored are deny-all"),
        (&["--versus", "flow-guard", "--format", "csv"], "not as csv"),
        (&["--html", nowhere_page], nowhere_page),
        (&["--html", root().to_str().unwrap()], "is a folder"),
        (&["--corpus", "egress-reach", "--html", "x.html"], "--html"),
        (&["--corpus", "attacks-leet", "--scores", "x", "--baseline-scores", "y", "--html", "x.html"], "--html"),
        (&["--corpus", "ground"], "possible values"),
        (&["--corpus", "egress-reach", "--defense", "flow-guard"], "--defense"),
        (&["--defense", "deny-egress", "--allow-destination", "x"], "flow-guard"),
        (&["--defense", "exec:./flow-guard.py", "--allow-destination", "x"], "goes with flow-guard"),
        (&["--corpus", "egress-reach", "--allow-destination", "x"], "--allow-destination does not go with"),
        (&["--corpus", "egress-reach", "--on-error", "deny"], "--on-error does not go with"),
        (&["--corpus", "egress-reach", "--exec-timeout", "5"], "--exec-timeout does not go with"),
        (&["--exec-timeout", "5"], "--exec-timeout goes with a defense exec:COMMAND"),
        (&["--defense", "any:flow-guard,deny-egress", "--exec-timeout", "5"], "goes with a defense exec:COMMAND"),
    ];
    for (args, needed) in cases {
        let (line, code) = error(args);
        assert_eq!(code, 2, "{args:?}: {line}");
        assert!(line.contains(needed), "{args:?}: {line}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    for format in ["csv", "json", "text"] {
        // The reader goes before anything is written.
        let script = format!("(sleep 0.3; \"$0\" --format {format}; echo $? >&2) | true");
        let output = Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_deveval")]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "0\n", "{format}");
    }
}

#[test]
fn completions_name_the_flags() {
    assert!(stdout(&["completions", "bash"]).contains("--corpus"));
}
