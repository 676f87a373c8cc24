//! Manifests: what must survive, and what must be caught and named.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wardline_email_corpus::{
    BaseFolder, CorpusError, EmailRecord, ManifestReader, Paths, Verification, combine, diff, digest_path, freeze,
    read_manifest, verify,
};

fn line(id: &str, eml: Option<&str>) -> String {
    let eml = eml.map(|p| format!(r#""eml_path":"{p}","#)).unwrap_or_default();
    format!(
        r#"{{"id":"{id}",{eml}"label":{{"is_malicious":false,"threat_type":"benign"}},"surface":["plaintext_body"],"detector_input":{{"subject":"s"}},"provenance":{{"source":"handcrafted","synthetic":true}},"sender_auth_condition":"verified"}}"#
    )
}

struct Folder {
    dir: TempDir,
}

impl Folder {
    /// Two records with files, frozen.
    fn frozen() -> Self {
        let folder = Self { dir: TempDir::new().expect("a folder") };
        fs::create_dir(folder.path("eml")).expect("made");
        fs::write(folder.path("eml/a.eml"), "Subject: a\r\n\r\nbody a\r\n").expect("written");
        fs::write(folder.path("eml/b.eml"), "Subject: b\r\n\r\nbody b\r\n").expect("written");
        folder.manifest(&[line("a", Some("eml/a.eml")), line("b", Some("eml/b.eml")), line("c", None)]);
        freeze(&folder.path("m.jsonl"), &folder.base()).expect("frozen");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn base(&self) -> BaseFolder {
        BaseFolder::open(self.dir.path()).expect("a folder")
    }

    fn manifest(&self, lines: &[String]) {
        fs::write(self.path("m.jsonl"), lines.join("\n") + "\n").expect("written");
    }

    fn verify(&self) -> Verification {
        verify(&self.path("m.jsonl"), &self.base()).expect("readable")
    }

    fn problems(&self) -> Vec<String> {
        self.verify().problems.iter().map(ToString::to_string).collect()
    }
}

#[test]
fn a_frozen_manifest_verifies() {
    let folder = Folder::frozen();
    let found = folder.verify();
    assert!(found.is_ok(), "{:?}", found.problems);
    assert!(found.frozen);
    assert_eq!((found.stats.records, found.stats.with_message, found.digests_compared), (3, 2, 2));
    let digests = fs::read_to_string(digest_path(&folder.path("m.jsonl"))).expect("a digest file");
    assert_eq!(digests.lines().map(|l| &l[66..]).collect::<Vec<_>>(), ["m.jsonl", "eml/a.eml", "eml/b.eml"]);
}

#[test]
fn a_changed_byte_in_a_message_is_named() {
    let folder = Folder::frozen();
    fs::write(folder.path("eml/b.eml"), "Subject: b\r\n\r\nbody c\r\n").expect("written");
    assert_eq!(folder.problems(), ["line 2: b: eml/b.eml has changed: its SHA-256 is not the frozen one"]);
}

#[test]
fn missing_and_empty_files_are_named() {
    let folder = Folder::frozen();
    fs::remove_file(folder.path("eml/a.eml")).expect("removed");
    fs::write(folder.path("eml/b.eml"), "").expect("written");
    let problems = folder.problems();
    assert_eq!(problems[0], "line 1: a: path \"eml/a.eml\" is missing");
    assert_eq!(problems[1], "line 2: b: eml/b.eml is empty");
}

#[test]
fn a_changed_manifest_is_noticed() {
    let folder = Folder::frozen();
    folder.manifest(&[line("a", Some("eml/a.eml")), line("b", Some("eml/b.eml")), line("d", None)]);
    let problems = folder.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("the manifest has changed: its SHA-256 is "), "{problems:?}");
}

#[test]
fn duplicate_ids_name_both_lines() {
    let folder = Folder::frozen();
    folder.manifest(&[line("a", None), line("b", None), line("a", None)]);
    fs::remove_file(digest_path(&folder.path("m.jsonl"))).expect("removed");
    assert_eq!(folder.problems(), ["line 3: a: the id stands already in line 1"]);
    assert!(!folder.verify().frozen);
}

#[test]
fn a_wrong_record_is_named_by_line_and_field_and_the_rest_is_read() {
    let cases = [
        (r#""threat_type":"benign""#, r#""threat_type":"hoax""#, "field `label.threat_type`: unknown variant `hoax`"),
        (r#""is_malicious":false"#, r#""is_malicious":"no""#, "field `label.is_malicious`: invalid type: string"),
        (r#"["plaintext_body"]"#, r#"["body"]"#, "field `surface[0]`: unknown variant `body`"),
        (r#""synthetic":true"#, r#""synthetic":1"#, "field `provenance.synthetic`: invalid type"),
        (r#","sender_auth_condition":"verified""#, "", "missing field `sender_auth_condition`"),
        (r#""verified""#, r#""trusted""#, "field `sender_auth_condition`: unknown variant `trusted`"),
        (r#""id":"x","#, r#""id":"","#, "field `id`: is empty"),
        (r#"{"id":"x","#, r#"{"id":"x","id":"y","#, "duplicate field `id`"),
    ];
    for (from, to, expected) in cases {
        let folder = Folder::frozen();
        fs::remove_file(digest_path(&folder.path("m.jsonl"))).expect("removed");
        let wrong = line("x", None).replacen(from, to, 1);
        folder.manifest(&[line("a", None), wrong, line("b", None)]);
        let found = folder.verify();
        assert_eq!(found.stats.records, 2, "{to}");
        let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
        assert!(problems[0].starts_with("line 2: ") && problems[0].contains(expected), "{to}: {problems:?}");
    }
}

#[test]
fn labels_that_contradict_each_other_are_named() {
    let folder = Folder::frozen();
    fs::remove_file(digest_path(&folder.path("m.jsonl"))).expect("removed");
    let malicious = line("a", None).replace(r#""is_malicious":false"#, r#""is_malicious":true"#);
    let role = line("b", None).replace(r#"{"id""#, r#"{"eval_role":"phishing","id""#);
    let nothing = line("c", None).replace(r#"{"subject":"s"}"#, "{}");
    folder.manifest(&[malicious, role, nothing]);
    let problems = folder.problems();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("`label.is_malicious`: is true although"), "{problems:?}");
    assert!(problems[1].contains("`eval_role`: is phishing although"), "{problems:?}");
    assert!(problems[2].contains("neither `eml_path`"), "{problems:?}");
}

#[test]
fn a_manifest_cut_anywhere_is_noticed() {
    let whole = fs::read(Folder::frozen().path("m.jsonl")).expect("read");
    let folder = Folder::frozen();
    for cut in 0..whole.len() {
        fs::write(folder.path("m.jsonl"), &whole[..cut]).expect("written");
        assert!(!folder.verify().is_ok(), "cut at {cut}");
    }
    fs::write(folder.path("m.jsonl"), &whole[..whole.len() - 40]).expect("written");
    let problems = folder.problems();
    assert!(
        problems[0].starts_with("line 3: ") && problems[0].contains("the file is cut in this line"),
        "{problems:?}"
    );
}

#[test]
fn byte_order_marks_and_crlf_are_refused_with_the_line() {
    for (bytes, expected) in [
        (format!("\u{feff}{}\n", line("a", None)), "line 1: begins with a byte-order mark"),
        (format!("{}\n{}\r\n", line("a", None), line("b", None)), "line 2: ends in CR LF"),
        (format!("{}\n\n", line("a", None)), "line 2: is empty"),
        (format!("{} x\n", line("a", None)), "line 1: trailing characters"),
    ] {
        let mut errors = ManifestReader::new(bytes.as_bytes(), "m.jsonl").filter_map(Result::err);
        let error = errors.next().expect("an error").to_string();
        assert!(error.starts_with(&format!("m.jsonl: {expected}")), "{error}");
    }
}

#[test]
fn paths_that_leave_the_base_folder_are_refused() {
    let outside = TempDir::new().expect("a folder");
    fs::write(outside.path().join("secret.eml"), "Subject: x\r\n\r\n").expect("written");
    let secret = outside.path().join("secret.eml");
    for (path, expected) in [
        ("../secret.eml", "leaves the base folder with `..`"),
        ("eml/../../secret.eml", "leaves the base folder with `..`"),
        (secret.to_str().expect("UTF-8"), "is absolute"),
        ("C:/secret.eml", "is absolute"),
        ("eml\\\\..\\\\secret.eml", "holds a backslash or NUL"),
        ("", "is empty"),
        ("eml", "is no ordinary file"),
        ("eml/nowhere.eml", "is missing"),
    ] {
        let folder = Folder::frozen();
        fs::remove_file(digest_path(&folder.path("m.jsonl"))).expect("removed");
        folder.manifest(&[line("a", Some(path))]);
        let problems = folder.problems();
        assert!(problems.len() == 1 && problems[0].ends_with(expected), "{path}: {problems:?}");
    }
}

#[cfg(unix)]
#[test]
fn symlinks_may_point_inside_and_not_outside() {
    use std::os::unix::fs::symlink;
    let outside = TempDir::new().expect("a folder");
    fs::write(outside.path().join("secret.eml"), "Subject: x\r\n\r\n").expect("written");
    let folder = Folder::frozen();
    symlink(outside.path().join("secret.eml"), folder.path("eml/out.eml")).expect("linked");
    symlink(outside.path(), folder.path("elsewhere")).expect("linked");
    symlink(folder.path("eml/a.eml"), folder.path("eml/in.eml")).expect("linked");
    let record = |path: &str| serde_json::from_str::<EmailRecord>(&line("x", Some(path))).expect("a record");
    for path in ["eml/out.eml", "elsewhere/secret.eml"] {
        let error = folder.base().locate(&record(path)).expect_err("refused").to_string();
        assert_eq!(error, format!("record \"x\": path {path:?} leaves the base folder through a symlink"));
    }
    assert!(folder.base().locate(&record("eml/in.eml")).is_ok());
}

#[test]
fn unknown_fields_survive_at_every_level() {
    let text = r#"{"id":"a","label":{"is_malicious":false,"threat_type":"benign","difficulty":0.5,"x":[1]},"surface":[],"detector_input":{"to":["a@b"],"cc":"c@d","body":{"text":"t","y":null},"z":{"deep":true}},"provenance":{"source":"new source","synthetic":true,"w":1},"sender_auth_condition":"verified","future":{"b":1,"a":2}}"#;
    let record: EmailRecord = serde_json::from_str(text).expect("a record");
    let again = record.to_line().expect("JSON");
    let value = |t: &str| serde_json::from_str::<serde_json::Value>(t).expect("JSON");
    assert_eq!(value(&again), value(text));
}

#[test]
fn the_published_layout_loads_and_keeps_everything() {
    let text = r#"{"id": "pi_0001_multipart_mismatch", "eml_path": "dataset/prompt-injection/eml/x.eml", "label": {"is_malicious": true, "threat_type": "prompt_injection_direct", "scenario": "harm", "injection_technique": "raw"}, "surface": ["multipart_mismatch", "html_body"], "detector_input": {"from": "A <a@b.example>", "subject": "Re: x"}, "provenance": {"source": "injecagent", "synthetic": true, "source_id": "pi_0001", "base_payload_id": "pi_0001"}, "sender_auth_condition": "verified", "split": "synthetic", "eval_role": "pi_positive"}"#;
    let record: EmailRecord = serde_json::from_str(text).expect("a record");
    assert_eq!(record.group(), "pi_0001");
    assert_eq!(record.to_line().expect("JSON"), text.replace(": ", ":").replace(", ", ",").replace("Re:x", "Re: x"));
}

#[test]
fn combine_derives_roles_rebases_paths_and_names_both_places_of_a_duplicate() {
    let folder = Folder::frozen();
    fs::create_dir(folder.path("sub")).expect("made");
    fs::write(folder.path("sub/m.jsonl"), line("z", Some("z.eml")) + "\n").expect("written");
    let parts = [folder.path("m.jsonl"), folder.path("sub/m.jsonl")];
    let whole = folder.path("whole.jsonl");
    assert_eq!(combine(&parts, &whole, Paths::Rebase).expect("combined"), 4);
    let records = read_manifest(&whole).expect("read");
    assert_eq!(records[3].eml_path.as_deref(), Some("sub/z.eml"));
    assert!(records.iter().all(|r| r.eval_role.is_some()));

    fs::write(folder.path("sub/m.jsonl"), format!("{}\n{}\n", line("y", None), line("b", None))).expect("written");
    let before = fs::read(&whole).expect("read");
    let error = combine(&parts, &whole, Paths::Rebase).expect_err("refused");
    assert!(
        matches!(&error, CorpusError::DuplicateId { id, first, second }
        if id == "b" && *first == (parts[0].clone(), 2) && *second == (parts[1].clone(), 2)),
        "{error}"
    );
    assert_eq!(fs::read(&whole).expect("read"), before, "a failed run leaves what stood there");
    assert!(!Path::new(&folder.path("whole.jsonl.partial")).exists());

    let elsewhere = TempDir::new().expect("a folder");
    fs::write(elsewhere.path().join("m.jsonl"), line("q", Some("q.eml")) + "\n").expect("written");
    let error = combine(&[elsewhere.path().join("m.jsonl")], &whole, Paths::Rebase).expect_err("refused").to_string();
    assert!(error.contains("stands outside"), "{error}");
}

#[test]
fn diff_names_what_was_added_removed_and_changed() {
    let folder = Folder::frozen();
    let changed = line("b", Some("eml/b.eml")).replace("verified", "spoofed").replace("handcrafted", "other");
    fs::write(folder.path("n.jsonl"), [line("d", None), changed, line("a", Some("eml/a.eml"))].join("\n"))
        .expect("written");
    let found = diff(&folder.path("m.jsonl"), &folder.path("n.jsonl")).expect("compared");
    assert_eq!((found.removed, found.added, found.same), (vec!["c".to_owned()], vec!["d".to_owned()], 1));
    assert_eq!(
        found.changed,
        [("b".to_owned(), vec!["provenance.source".to_owned(), "sender_auth_condition".to_owned()])]
    );
}

#[test]
fn freezing_refuses_a_missing_file_and_writes_nothing() {
    let folder = Folder::frozen();
    fs::remove_file(digest_path(&folder.path("m.jsonl"))).expect("removed");
    fs::remove_file(folder.path("eml/b.eml")).expect("removed");
    let error = freeze(&folder.path("m.jsonl"), &folder.base()).expect_err("refused").to_string();
    assert_eq!(error, "record \"b\": path \"eml/b.eml\" is missing");
    assert!(!digest_path(&folder.path("m.jsonl")).exists());
}
