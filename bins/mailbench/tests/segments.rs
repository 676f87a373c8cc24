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
}

#[test]
fn a_path_that_leads_nowhere_fails_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.eml"), "Subject: a\n\n").expect("a file");
    let (code, lines, errors) = run(&["none.eml", "none.mbox", "a.eml"], folder.path(), "");
    assert_eq!((code, lines.len(), errors.lines().count()), (Some(1), 3, 1), "{errors}");
    assert!(lines[0]["error"].as_str().is_some_and(|e| e.starts_with("none.eml: ")), "{}", lines[0]);
    assert!(lines[1]["error"].as_str().is_some_and(|e| e.starts_with("none.mbox: ")), "{}", lines[1]);
    assert_eq!(lines[2]["segments"][0]["content"], "a");
}

#[test]
#[cfg(unix)]
fn pipes_and_circles_of_links_do_not_hold_up() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("in");
    fs::create_dir_all(inside.join("deep")).expect("a folder");
    fs::write(inside.join("deep/a.eml"), "Subject: a\n\n").expect("a file");
    symlink("..", inside.join("deep/up")).expect("a link");
    symlink("deep", inside.join("same")).expect("a link");
    for pipe in ["pipe.eml", "pipe.mbox"] {
        assert!(Command::new("mkfifo").arg(inside.join(pipe)).status().expect("mkfifo").success());
    }
    let (code, lines, _) = run(&["in"], folder.path(), "");
    let ids: Vec<&str> = lines.iter().filter_map(|l| l["id"].as_str()).collect();
    assert_eq!((code, ids), (Some(1), vec!["in/deep/a.eml", "in/pipe.eml", "in/pipe.mbox"]));
    for line in &lines[1..] {
        assert!(line["error"].as_str().is_some_and(|e| e.ends_with("is no regular file")), "{line}");
    }
    let (code, lines, _) = run(&["--base-dir", "in"], folder.path(), "{\"id\":\"p\",\"eml_path\":\"pipe.eml\"}\n");
    assert_eq!((code, lines[0]["segments"].as_array().map(Vec::len)), (Some(1), Some(0)), "{}", lines[0]);
}

#[test]
fn a_manifest_does_not_lead_out_of_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("in")).expect("a folder");
    for (file, subject) in [("out.eml", "out"), ("in/a.eml", "a")] {
        fs::write(folder.path().join(file), format!("Subject: {subject}\n\n")).expect("a file");
    }
    let absolute = folder.path().join("in/a.eml");
    let mut manifest = String::new();
    for path in ["../out.eml", &absolute.display().to_string(), "a.eml"] {
        manifest.push_str(&serde_json::json!({"id": "m", "eml_path": path}).to_string());
        manifest.push('\n');
    }
    let (code, lines, _) = run(&["--base-dir", "in"], folder.path(), &manifest);
    assert_eq!((code, lines.len()), (Some(1), 3));
    assert!(lines[0]["error"].as_str().is_some_and(|e| e.contains("leaves the base folder")), "{}", lines[0]);
    assert!(lines[1]["error"].as_str().is_some_and(|e| e.contains("is absolute")), "{}", lines[1]);
    assert_eq!(lines[2]["segments"][0]["content"], "a");
    let (code, _, errors) = run(&["--base-dir", "nowhere"], folder.path(), &manifest);
    assert_eq!((code, errors.starts_with("error: ")), (Some(2), true), "{errors}");
}
