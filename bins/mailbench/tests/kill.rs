//! A run that is killed a hundred times, runs out of space, or loses its folder, and still loses nothing.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const RECORDS: usize = 2000;
const CONCURRENCY: usize = 8;
const KILLS: u32 = 100;

/// Which message was asked about how often, by the number that its subject carries.
type Asked = Arc<Mutex<BTreeMap<usize, u32>>>;

/// A service that takes a little while for each answer and counts what it is asked.
fn service(delay: Duration) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let asked = Asked::default();
    let log = asked.clone();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let log = log.clone();
            // A killed client cuts its connections; that is no error here.
            thread::spawn(move || serve(&stream, &log, delay).is_ok());
        }
    });
    (address, asked)
}

fn serve(stream: &TcpStream, asked: &Asked, delay: Duration) -> std::io::Result<()> {
    let mut input = BufReader::new(stream);
    let mut output = stream;
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while input.read_line(&mut line)? > 2 {
            if let Some(n) = line.to_lowercase().strip_prefix("content-length:") {
                length = n.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        if length == 0 {
            return Ok(());
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        let body: serde_json::Value = serde_json::from_slice(&body)?;
        let number: usize = body["subject"].as_str().and_then(|s| s.rsplit(' ').next()?.parse().ok()).unwrap_or(0);
        *asked.lock().unwrap().entry(number).or_default() += 1;
        thread::sleep(delay);
        let answer = format!("{{\"id\":{},\"score\":0.{:04}}}", body["id"], number);
        write!(output, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{answer}", answer.len())?;
        output.flush()?;
    }
}

fn manifest(folder: &Path, records: usize) -> PathBuf {
    let line = |i: usize| {
        // Not in the order of the ids.
        let n = i * 7 % records;
        format!(
            "{{\"id\":\"id{n:04}\",\"label\":{{\"is_malicious\":false,\"threat_type\":\"benign\"}},\
             \"detector_input\":{{\"subject\":\"message {n}\"}},\"provenance\":{{\"source\":\"s\",\"synthetic\":true}},\
             \"sender_auth_condition\":\"verified\"}}\n"
        )
    };
    let path = folder.join("mail.jsonl");
    fs::write(&path, (0..records).map(line).collect::<String>()).unwrap();
    path
}

fn mailbench(address: &str, manifest: &Path, run: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mailbench"));
    command.args(["score", "--detector", &format!("svc={address}"), "--concurrency", &CONCURRENCY.to_string()]);
    command.arg("--manifest").arg(manifest).arg("--out-dir").arg(run);
    command.stdin(Stdio::null());
    command
}

/// The ids that have a good prediction. Every line but a last one that is cut must be a whole one.
fn good(run: &Path) -> BTreeSet<String> {
    let Ok(bytes) = fs::read(run.join("svc.jsonl")) else { return BTreeSet::new() };
    let mut ids = BTreeSet::new();
    let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
    lines.pop();
    for line in lines {
        let line: serde_json::Value = serde_json::from_slice(line).unwrap();
        assert!(line["error"].is_null(), "{line}");
        let (id, score) = (line["id"].as_str().unwrap(), line["score"].as_f64().unwrap());
        assert_eq!(format!("{score:.4}"), format!("0.{}", &id[2..]), "a score of another record");
        assert!(ids.insert(id.to_owned()), "{id} stands twice");
    }
    ids
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

#[test]
fn a_hundred_kills_lose_nothing_and_ask_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = manifest(folder.path(), RECORDS);
    let run = folder.path().join("run");
    let (address, asked) = service(Duration::from_millis(10));
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut known = BTreeSet::new();
    let mut cut_lines = 0;
    for kill in 0..KILLS {
        let mut child =
            mailbench(&address, &manifest, &run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let before = asked.lock().unwrap().values().sum::<u32>();
        if kill % 4 == 0 {
            thread::sleep(Duration::from_micros(random % 160_000));
        } else {
            // So many requests into the run, that a slow machine gets anywhere at all.
            let moment = before + (random % 30) as u32;
            for _ in 0..200 {
                if asked.lock().unwrap().values().sum::<u32>() > moment {
                    break;
                }
                thread::sleep(Duration::from_millis(5));
            }
        }
        // It may have ended by itself in this moment.
        let _ = child.kill();
        child.wait().unwrap();
        if kill % 3 == 0 {
            // A kill in the middle of a write leaves part of a line; writes are short, so make sure that some are met.
            let path = run.join("svc.jsonl");
            if let Ok(mut file) = fs::OpenOptions::new().append(true).open(&path) {
                file.write_all(&b"{\"id\":\"id0000\",\"detector\":\"svc\",\"sco"[..(random % 36) as usize]).unwrap();
                cut_lines += 1;
            }
        }
        let now = good(&run);
        assert!(now.is_superset(&known), "kill {kill} lost {:?}", known.difference(&now).collect::<Vec<_>>());
        known = now;
    }
    assert!(known.len() > 200 && cut_lines > 20, "the kills came too early to show anything: {}", known.len());
    let before: BTreeMap<usize, u32> = asked.lock().unwrap().clone();
    let output = mailbench(&address, &manifest, &run).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let last = good(&run);
    assert_eq!(last.len(), RECORDS);
    let lines = fs::read_to_string(run.join("svc.jsonl")).unwrap();
    assert!(lines.lines().is_sorted() && lines.lines().count() == RECORDS);

    let asked = asked.lock().unwrap().clone();
    for id in &known {
        let number: usize = id[2..].parse().unwrap();
        assert_eq!(asked[&number], before[&number], "{id} had a prediction and was asked about again");
    }
    let requests: u32 = asked.values().sum();
    let most = RECORDS as u32 + KILLS * CONCURRENCY as u32;
    assert!(requests <= most, "{requests} requests, more than {most}");
    println!(
        "{} records before the last start, {requests} requests for {RECORDS} records after {KILLS} kills",
        known.len()
    );
}

/// The output of a command whose files may not grow beyond so many KiB.
#[cfg(unix)]
fn limited(command: &Command, blocks: u32) -> Output {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let mut shell = Command::new("bash");
    // The limit would end the process by a signal if that were not ignored.
    shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""), "bash"]).args(words);
    shell.stdin(Stdio::null()).output().unwrap()
}

/// No room for the manifest's copy. A limit on the size of files stands in for a full disk: it needs no rights.
#[cfg(unix)]
#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = manifest(folder.path(), 500);
    let run = folder.path().join("run");
    let (address, _) = service(Duration::ZERO);
    // The manifest takes some 130 KiB and a prediction some 110 bytes.
    let small = mailbench(&address, &manifest, &run).args(["--limit", "1"]).output().unwrap();
    assert!(small.status.success(), "{}", text(&small));
    let output = limited(&mailbench(&address, &manifest, &run), 20);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert_eq!(text(&output).lines().count(), 1, "{}", text(&output));
    assert!(text(&output).starts_with("error: "), "{}", text(&output));
    assert!(good(&run).contains("id0000"));
    assert!(mailbench(&address, &manifest, &run).output().unwrap().status.success());
    assert_eq!(good(&run).len(), 500);
}

/// The log itself grows into the limit in the middle of a run.
#[cfg(unix)]
#[test]
fn a_disk_that_fills_during_a_run_keeps_every_whole_line() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = manifest(folder.path(), 100);
    let run = folder.path().join("run");
    let mut kept = BTreeSet::new();
    // The manifest of 100 records is some 20 KiB; predictions of 1 KiB make the log larger than that.
    let script = "import sys,json\nfor l in sys.stdin:\n print(json.dumps({'id':json.loads(l)['id'],'score':0.5,'categories':['x'*900]}),flush=True)";
    let score = |limit: Option<u32>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mailbench"));
        let program = format!("svc=exec:python3 -c {}", shell_words::quote(script));
        command.args(["score", "--detector", &program, "--manifest"]).arg(&manifest).arg("--out-dir").arg(&run);
        let Some(blocks) = limit else { return command.stdin(Stdio::null()).output().unwrap() };
        limited(&command, blocks)
    };
    let ids = |kept: &mut BTreeSet<String>| {
        let text = fs::read_to_string(run.join("svc.jsonl")).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "the part of a line was taken back");
        let now: BTreeSet<String> =
            text.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()["id"].to_string()).collect();
        assert!(now.is_superset(kept));
        *kept = now;
        kept.len()
    };
    for (blocks, expected) in [(40, 20..60), (60, 40..80)] {
        let output = score(Some(blocks));
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains("svc.jsonl: File too large"), "{}", text(&output));
        let n = ids(&mut kept);
        assert!(expected.contains(&n), "{n}");
    }
    assert!(score(None).status.success());
    assert_eq!(ids(&mut kept), 100);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = manifest(folder.path(), 20);
    let run = folder.path().join("run");
    let (address, _) = service(Duration::ZERO);
    assert!(mailbench(&address, &manifest, &run).args(["--limit", "5"]).output().unwrap().status.success());
    let before = fs::read(run.join("svc.jsonl")).unwrap();
    // Rights do not bind the superuser, so make it a mount that is read-only where that is allowed.
    let mounted = Command::new("sh")
        .args(["-c", "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\""])
        .arg(&run)
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    if !mounted {
        let mut rights = fs::metadata(&run).unwrap().permissions();
        rights.set_readonly(true);
        fs::set_permissions(&run, rights).unwrap();
        if fs::write(run.join("probe"), "").is_ok() {
            println!("skipped: this user may write to read-only folders and may not mount");
            return;
        }
    }
    let output = mailbench(&address, &manifest, &run).output().unwrap();
    if mounted {
        assert!(Command::new("umount").arg(&run).status().unwrap().success());
    } else {
        let mut rights = fs::metadata(&run).unwrap().permissions();
        #[expect(clippy::permissions_set_readonly_false, reason = "the folder is a test's own and is removed with it")]
        rights.set_readonly(false);
        fs::set_permissions(&run, rights).unwrap();
    }
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let error = text(&output);
    assert!(error.starts_with("error: ") && error.lines().count() == 1, "{error}");
    assert!(error.contains("Read-only") || error.contains("Permission denied"), "{error}");
    assert_eq!(fs::read(run.join("svc.jsonl")).unwrap(), before);
    assert!(mailbench(&address, &manifest, &run).output().unwrap().status.success());
    assert_eq!(good(&run).len(), 20);
}
