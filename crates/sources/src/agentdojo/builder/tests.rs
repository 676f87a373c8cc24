use std::ffi::OsString;
use std::path::Path;

use super::*;

#[cfg(unix)]
fn script(folder: &Path, name: &str, body: &str) -> OsString {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.into_os_string()
}

/// A builder whose "Python" runs the given shell lines in place of the exporter; `$out` is the output folder.
#[cfg(unix)]
fn builder(folder: &Path, export: &str) -> Builder {
    let python = script(folder, "python", &format!("case \"$1\" in -c) echo 3.12.1; exit 0;; esac\nout=$3\n{export}"));
    // "uv venv" copies the Python; "uv pip" and "uv --version" do nothing.
    let venv = "if [ \"$1\" = venv ]; then for last; do :; done; mkdir -p \"$last/bin\"; cp \"$(dirname \"$0\")/python\" \"$last/bin/python\"; fi";
    let uv = script(folder, "uv", venv);
    let mut builder = Builder::new(folder.join("data"));
    builder.programs = Programs { pythons: vec![python], uv };
    builder
}

fn leftovers(data: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder(data)).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[cfg(unix)]
#[test]
fn a_failing_exporter_leaves_nothing_behind() {
    let temp = tempfile::tempdir().unwrap();
    let builder = builder(
        temp.path(),
        "echo done 1 of 2\nprintf half > \"$out/ground.jsonl\"\necho 'Traceback' >&2\necho 'OSError: [Errno 28] No space left on device' >&2\nexit 1",
    );
    let mut seen = Vec::new();
    let error = builder.build(&[CorpusName::Ground], &mut |p| seen.push(p)).unwrap_err();
    assert!(matches!(error, Error::Export { .. }));
    assert!(error.to_string().ends_with("OSError: [Errno 28] No space left on device"), "{error}");
    assert!(seen.contains(&Progress::Exporting { done: 1, total: 2 }), "{seen:?}");
    assert_eq!(leftovers(&temp.path().join("data")), [".lock"]);
}

#[cfg(unix)]
#[test]
fn what_differs_from_the_lock_is_not_installed() {
    let temp = tempfile::tempdir().unwrap();
    let data = temp.path().join("data");
    let builder = builder(temp.path(), "printf '{\"id\":\"other\"}\\n' > \"$out/ground.jsonl\"");
    fs::create_dir_all(folder(&data)).unwrap();
    fs::write(file(&data, CorpusName::Ground), "as before\n").unwrap();
    let error = builder.build(&[CorpusName::Ground], &mut |_| {}).unwrap_err();
    assert!(error.is_failed_check(), "{error}");
    assert!(error.to_string().contains("agentdojo in "), "{error}");
    assert_eq!(fs::read(file(&data, CorpusName::Ground)).unwrap(), b"as before\n");
    assert_eq!(leftovers(&data), [".lock", "ground.jsonl"]);
}

#[cfg(unix)]
#[test]
fn two_builds_at_once_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let data = temp.path().join("data");
    let first = WorkFolder::new(&data).unwrap();
    let error = builder(temp.path(), "exit 0").build(&[CorpusName::Ground], &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    assert!(first.out().is_dir(), "the first build's folder is left alone");
    drop(first);
    assert_eq!(leftovers(&data), [".lock"]);
}

#[cfg(unix)]
#[test]
fn what_a_killed_build_left_is_removed() {
    let temp = tempfile::tempdir().unwrap();
    let data = temp.path().join("data");
    fs::create_dir_all(folder(&data).join(".work-1/out")).unwrap();
    fs::write(folder(&data).join(".work-1/out/pairs.jsonl"), "half").unwrap();
    let work = WorkFolder::new(&data).unwrap();
    assert_eq!(fs::read_dir(work.out()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_data_folder_that_cannot_be_made_is_named() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("data"), "a file").unwrap();
    let error = builder(temp.path(), "exit 0").build(&[CorpusName::Ground], &mut |_| {}).unwrap_err().to_string();
    assert!(error.starts_with("cannot create ") && error.contains("data/agentdojo"), "{error}");
}

#[test]
fn the_exporter_is_complete() {
    let names: Vec<_> = EXPORTER.iter().map(|(name, _)| *name).collect();
    for (_, text) in EXPORTER.iter().filter(|(name, _)| name.ends_with(".py")) {
        for module in ["attacks", "hash_order", "inbox", "replay", "suites"] {
            if text.contains(&format!("import {module}\n")) || text.contains(&format!("from {module} import")) {
                assert!(names.contains(&format!("{module}.py").as_str()), "{module}");
            }
        }
    }
}
