//! `mailbench corpus` as its users call it: what it prints, and how it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn mailbench(args: &[&str], data: &Path) -> (i32, String, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_mailbench"))
        .args(args)
        .env("WARDLINE_DATA", data)
        .current_dir(data)
        .output()
        .expect("mailbench runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code().expect("an exit code"), text(stdout), text(stderr))
}

/// A data folder with the seeds profile.
fn seeds() -> (TempDir, PathBuf) {
    let data = TempDir::new().expect("a folder");
    let (exit, out, err) = mailbench(&["corpus", "build", "--profile", "seeds"], data.path());
    assert_eq!((exit, err.as_str()), (0, ""), "{out}");
    assert!(
        out.ends_with("mail/seeds/manifest.jsonl: 1138 records (560 negative, 40 phishing, 538 pi_positive)\n"),
        "{out}"
    );
    let manifest = data.path().join("mail/seeds/manifest.jsonl");
    (data, manifest)
}

fn verify(data: &Path, manifest: &Path) -> (i32, String, String) {
    mailbench(&["corpus", "verify", manifest.to_str().expect("UTF-8")], data)
}

#[test]
fn a_built_profile_verifies_and_each_harm_is_named() {
    let (data, manifest) = seeds();
    let (exit, out, err) = verify(data.path(), &manifest);
    assert_eq!((exit, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("1138 records, 1138 with a message"), "{out}");

    let eml = data.path().join("mail/seeds/eml/prompt-injection/pi_0343_plaintext.eml");
    let whole = fs::read(&eml).expect("read");
    let mut changed = whole.clone();
    let last = changed.len() - 3;
    changed[last] ^= 1;
    fs::write(&eml, changed).expect("written");
    let (exit, out, err) = verify(data.path(), &manifest);
    assert_eq!(exit, 1);
    assert!(out.contains("line 1: pi_0343_plaintext: eml/prompt-injection/pi_0343_plaintext.eml has changed"), "{out}");
    assert!(err.starts_with("error: ") && err.ends_with(": 1 problems\n") && err.lines().count() == 1, "{err}");

    let (exit, out, err) = mailbench(&["corpus", "check", "--profile", "seeds"], data.path());
    assert_eq!(exit, 1);
    assert!(
        out.contains("built: pi_0343_plaintext: eml/prompt-injection/pi_0343_plaintext.eml: differs at byte "),
        "{out}"
    );
    assert_eq!(err, "error: 0 differences from the lock, 1 from what is built\n");

    fs::write(&eml, &whole).expect("written");
    let text = fs::read(&manifest).expect("read");
    fs::write(&manifest, &text[..text.len() / 2]).expect("written");
    let (exit, out, _) = verify(data.path(), &manifest);
    assert_eq!(exit, 1);
    assert!(out.contains("the file is cut"), "{out}");
    fs::write(&manifest, &text).expect("written");

    fs::remove_file(&eml).expect("removed");
    let (exit, out, _) = verify(data.path(), &manifest);
    assert_eq!(exit, 1);
    assert!(out.contains("pi_0343_plaintext.eml\" is missing"), "{out}");
    let (exit, _, _) = mailbench(&["corpus", "build", "--profile", "seeds"], data.path());
    assert_eq!(exit, 0);
    assert_eq!(verify(data.path(), &manifest).0, 0, "a new build mends it");
}

#[test]
fn a_manifest_without_a_digest_file_fails_unless_that_is_accepted() {
    let (data, manifest) = seeds();
    fs::remove_file(manifest.with_extension("jsonl.sha256")).expect("removed");
    let (exit, out, _) = verify(data.path(), &manifest);
    assert_eq!(exit, 1);
    assert!(out.contains("no digest file stands beside it"), "{out}");
    let args = ["corpus", "verify", manifest.to_str().expect("UTF-8"), "--allow-unfrozen"];
    assert_eq!(mailbench(&args, data.path()).0, 0);
}

#[test]
fn wrong_input_is_one_line_and_exit_2() {
    let data = TempDir::new().expect("a folder");
    for (args, expected) in [
        (&["corpus", "verify"][..], "no corpus is built in "),
        (&["corpus", "verify", "nowhere.jsonl"], "nowhere.jsonl: "),
        (&["corpus", "stats", "nowhere.jsonl"], "nowhere.jsonl: "),
        (&["corpus", "add", "nowhere", "--label", "benign"], "nowhere: "),
        (&["corpus", "add", ".", "--label", "benign"], "own: no mail was found"),
        (&["corpus", "add", ".", "--label", "evil"], "there are benign, "),
    ] {
        let (exit, out, err) = mailbench(args, data.path());
        assert_eq!((exit, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains(expected), "{args:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{args:?}: {err}");
    }
}

#[test]
fn own_mail_is_added_combined_compared_and_counted() {
    let (data, manifest) = seeds();
    let mail = data.path().join("inbox");
    fs::create_dir(&mail).expect("made");
    fs::write(mail.join("1.eml"), "From: a@b.example\r\nSubject: one\r\n\r\nbody\r\n").expect("written");
    fs::write(mail.join("2.eml"), "From: a@b.example\r\nSubject: two\r\n\r\nbody\r\n").expect("written");
    let (exit, out, err) = mailbench(&["corpus", "add", "inbox", "--label", "benign", "--name", "office"], data.path());
    assert_eq!((exit, err.as_str()), (0, ""));
    assert!(out.ends_with("mail/office/manifest.jsonl: 2 records (2 negative)\n"), "{out}");
    let copy = data.path().join("mail/office/eml/office_00001.eml");
    assert_eq!(fs::read(copy).expect("read"), fs::read(mail.join("1.eml")).expect("read"));

    let own = data.path().join("mail/office/manifest.jsonl");
    let (own, whole, manifest) =
        (own.to_str().unwrap(), data.path().join("mail/all.jsonl"), manifest.to_str().unwrap());
    let all = whole.to_str().unwrap();
    assert_eq!(mailbench(&["corpus", "combine", manifest, own, "--out", all], data.path()).0, 0);
    assert_eq!(mailbench(&["corpus", "freeze", all], data.path()).0, 0);
    assert_eq!(verify(data.path(), &whole).0, 0);
    let (exit, _, err) = mailbench(&["corpus", "combine", own, own, "--out", all], data.path());
    assert_eq!(exit, 2);
    assert!(err.contains("id \"office_00001\" stands twice: ") && err.contains("manifest.jsonl line 1"), "{err}");

    let (exit, out, _) = mailbench(&["corpus", "diff", manifest, all], data.path());
    assert_eq!(exit, 1);
    assert!(
        out.contains("+ office_00001\n") && out.ends_with(" removed, 2 added, 1138 changed, 0 the same\n"),
        "{out}"
    );
    let (exit, out, _) = mailbench(&["corpus", "diff", manifest, manifest], data.path());
    assert_eq!((exit, out.as_str()), (0, "0 removed, 0 added, 0 changed, 1138 the same\n"));

    let (exit, out, _) = mailbench(&["corpus", "stats", all, "--format", "json"], data.path());
    assert_eq!(exit, 0);
    let counts: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(counts["records"], 1140);
    assert_eq!(counts["role"]["negative"], 562);
}

#[test]
fn sources_are_listed_with_licence_and_place() {
    let data = TempDir::new().expect("a folder");
    let (exit, out, _) = mailbench(&["corpus", "sources"], data.path());
    assert_eq!(exit, 0);
    for expected in
        ["MIT; may be passed on", "not to be passed on", "nazario/phishing0.mbox", "20030228_easy_ham.tar.bz2"]
    {
        assert!(out.contains(expected), "{expected}: {out}");
    }
}
