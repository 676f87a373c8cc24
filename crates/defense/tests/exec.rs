//! Programs as defenses: what they see, and that whatever goes wrong is an error.
#![cfg(feature = "exec")]

use std::sync::Arc;
use std::time::Duration;

use wardline_defense::{Arg, Call, Decision, Defense, ExecDefense, Origin, Provenance, Text};

fn call(context: &str) -> Call {
    Call {
        tool: "send_money".to_owned(),
        args: vec![Arg {
            name: "recipient".to_owned(),
            provenance: Provenance::UntrustedWeb,
            text: "GB29\nÜ".to_owned(),
            origin: Some(Origin::Neither),
        }],
        dest: Some("GB29".to_owned()),
        context: vec![Arc::new(Text::new(context))],
        task: "pay the bill".into(),
        history: vec![Arc::new(Call {
            tool: "read_file".to_owned(),
            args: Vec::new(),
            dest: None,
            context: Vec::new(),
            task: "pay the bill".into(),
            history: Vec::new(),
        })],
    }
}

fn python(script: &str, timeout: Duration) -> ExecDefense {
    ExecDefense::new("mine", "python3", ["-u".to_owned(), "-c".to_owned(), script.to_owned()], timeout)
}

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn the_program_sees_the_call_and_not_the_answer() {
    let defense = python(
        "
import sys, json
for line in sys.stdin:
    c = json.loads(line)
    assert c['schema'] == 'wardline-call/1' and c['egress'] is True and c['dest'] == 'GB29', c
    assert c['args'] == [{'name': 'recipient', 'provenance': 'untrusted_web', 'text': 'GB29\\n\\u00dc'}], c
    assert c['task'] == 'pay the bill' and c['history'] == [{'tool': 'read_file', 'dest': None, 'args': []}], c
    assert len(c['context']) == 1 and len(c['context'][0]['sha256']) == 64, c
    assert 'origin' not in line and 'scenario' not in line, c
    deny = 'evil' in c['context'][0]['text']
    print(json.dumps({'id': c['id'], 'decision': 'deny' if deny else 'allow', 'reason': 'read evil'}))
",
        PATIENCE,
    );
    assert_eq!(defense.decide(&call("fine")).unwrap(), Decision::Allow);
    assert_eq!(defense.decide(&call("evil")).unwrap(), Decision::deny("read evil"));
    // Larger than a pipe's buffer in both directions of time: the program answers only after reading it all.
    assert_eq!(defense.decide(&call(&"x".repeat(1 << 20))).unwrap(), Decision::Allow);
    assert!(!defense.is_parallel());
}

#[test]
fn whatever_goes_wrong_is_an_error() {
    let cases = [
        ("import sys; sys.exit(7)", "exit status: 7"),
        ("import sys; sys.stdin.readline(); sys.exit(0)", "exit status: 0"),
        ("import sys; sys.stdin.readline(); print('{\"id\": 1, \"decision\"', end='')", "without an answer"),
        ("import sys; sys.stdin.readline(); print('hello')", "is no decision"),
        ("import sys; sys.stdin.readline(); print('{\"id\": 1}')", "needs either decision or error"),
        ("import sys; sys.stdin.readline(); print('{\"id\": 1, \"decision\": \"maybe\"}')", "is no decision"),
        (
            "import sys; sys.stdin.readline(); print('{\"id\": 2, \"decision\": \"allow\"}')",
            "is to call 2 and not to 1",
        ),
        (
            "import sys; sys.stdin.readline(); print('{\"id\": 1, \"error\": \"no score\"}')",
            "the program says: no score",
        ),
        ("import sys; sys.stdin.readline(); print('x' * (2 << 20))", "longer than 1048576 bytes"),
        ("import sys; sys.stdin.readline(); sys.stdout.buffer.write(b'\\xff\\xfe\\n')", "is no decision"),
    ];
    for (script, expected) in cases {
        let error = python(script, PATIENCE).decide(&call("x")).unwrap_err().to_string();
        assert!(error.contains(expected), "{script}: {error}");
    }
}

#[test]
fn a_program_that_hangs_is_stopped_and_started_anew() {
    let script = "
import sys, json, time
first = json.loads(sys.stdin.readline())
if 'hang' in first['context'][0]['text']:
    time.sleep(600)
print(json.dumps({'id': first['id'], 'decision': 'allow'}))
sys.stdin.readline()
";
    let defense = python(script, Duration::from_secs(3));
    assert!(defense.decide(&call("hang")).unwrap_err().to_string().contains("no answer within 3 s"));
    assert_eq!(defense.decide(&call("fine")).unwrap(), Decision::Allow);
}

#[test]
fn a_program_that_never_reads_does_not_block() {
    let defense = python("import time; time.sleep(600)", Duration::from_secs(1));
    let error = defense.decide(&call(&"x".repeat(4 << 20))).unwrap_err();
    assert!(error.to_string().contains("no answer within 1 s"), "{error}");
}

#[test]
fn a_program_that_closes_its_output_is_told_apart() {
    let script = "import os, time; os.close(1); time.sleep(600)";
    let error = python(script, PATIENCE).decide(&call("x")).unwrap_err();
    assert!(error.to_string().contains("closed its output"), "{error}");
}

#[cfg(unix)]
#[test]
fn what_the_program_started_is_stopped_with_it() {
    let folder = std::env::temp_dir().join(format!("wardline-exec-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("pid");
    let script = format!("sleep 600 & echo $! > '{}'; wait", file.display());
    let arguments = ["-c".to_owned(), script];
    let defense = ExecDefense::new("mine", "sh", arguments, Duration::from_secs(1));
    assert!(defense.decide(&call("x")).is_err());
    drop(defense);
    let pid = std::fs::read_to_string(&file).unwrap();
    let alive = || std::process::Command::new("kill").args(["-0", pid.trim()]).output().unwrap().status.success();
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        !alive()
    });
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(gone, "process {pid} still runs");
}

#[test]
fn a_program_that_is_not_there() {
    let defense = ExecDefense::new("mine", "no-such-program-anywhere", [], PATIENCE);
    let error = defense.decide(&call("x")).unwrap_err();
    assert_eq!(error.to_string(), "cannot start no-such-program-anywhere");
}
