//! `mailbench segments` as a user runs it.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

fn run(args: &[&str], folder: &std::path::Path, input: &str) -> (Option<i32>, Vec<serde_json::Value>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mailbench"))
        .arg("segments")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mailbench");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("its output");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    (output.status.code(), lines, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_manifest_is_answered_in_order_and_one_bad_record_does_not_stop_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut manifest = String::new();
    for i in 0..200 {
        fs::write(folder.path().join(format!("{i}.eml")), format!("Subject: number {i}\n\nbody {i}\n"))
            .expect("a file");
        manifest.push_str(&format!("{{\"id\":\"m{i}\",\"eml_path\":\"{i}.eml\"}}\n"));
    }
    manifest.push_str("{\"id\":\"inline\",\"detector_input\":{\"subject\":\"S\",\"body\":{\"text\":\"T\"}}}\n");
    let (code, lines, _) = run(&["--base-dir", "."], folder.path(), &manifest);
    assert_eq!((code, lines.len()), (Some(0), 201));
    assert!(lines.iter().take(200).enumerate().all(|(i, l)| l["id"] == format!("m{i}")));
    assert_eq!(lines[7]["segments"][1]["content"], "body 7");
    assert_eq!(lines[7]["segments"][1]["type"], "text_plain");
    assert_eq!(lines[7]["segments"][1]["ref"], "1");
    assert_eq!(lines[200]["segments"][1]["content"], "T");
    assert!(lines[7].get("spans").is_none());

    fs::remove_file(folder.path().join("5.eml")).expect("removed");
    let (code, lines, errors) = run(&["--base-dir", ".", "--explain"], folder.path(), &manifest);
    assert_eq!((code, lines.len()), (Some(1), 201));
    assert!(lines[5]["error"].as_str().is_some_and(|e| e.contains("5.eml")));
    assert_eq!(lines[6]["segments"][0]["content"], "number 6");
    assert_eq!(lines[6]["spans"][0]["fate"], "headers");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

#[test]
fn files_folders_and_mailboxes() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("in")).expect("a folder");
    fs::write(folder.path().join("in/b.eml"), "Subject: b\n\n").expect("a file");
    fs::write(folder.path().join("in/a.eml"), "Subject: a\n\n").expect("a file");
    fs::write(folder.path().join("c.mbox"), "From x\nSubject: c1\n\n\nFrom y\nSubject: c2\n\n").expect("a file");
    let (code, lines, _) = run(&["in", "c.mbox", "--view", "naive", "--threads", "1"], folder.path(), "");
    assert_eq!(code, Some(0));
    let ids: Vec<&str> = lines.iter().filter_map(|l| l["id"].as_str()).collect();
    assert_eq!(ids, ["in/a.eml", "in/b.eml", "c.mbox#1", "c.mbox#2"]);
    assert_eq!(lines[3]["segments"][0]["content"], "c2");
    let (code, _, errors) = run(&["nowhere.eml"], folder.path(), "");
    assert_eq!((code, errors.starts_with("error: nowhere.eml")), (Some(2), true), "{errors}");
}
