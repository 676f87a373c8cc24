use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Arg, Call, Decision, Defense, DefenseError, Provenance};

/// The protocol's name and version, in every request's `schema`.
pub const PROTOCOL: &str = "wardline-call/1";

/// A reply is one short line; what is longer is not one.
const MAX_REPLY: u64 = 1 << 20;

/// A defense that is a program of its own, in any language: it reads one JSON call a line and answers one JSON decision a line.
///
/// The program starts at the first call and lives until the defense is dropped, when its standard input closes. A program that
/// ends, stays silent for longer than the time-out or answers anything but a decision is an error of that call; it is stopped,
/// and started anew for the next call. Calls are put to it one at a time in corpus order. Its standard error is the caller's.
///
/// The protocol leaves out everything that would give the answer away: scenario ids and [`crate::Origin`].
pub struct ExecDefense {
    name: String,
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
    session: Mutex<Session>,
}

#[derive(Default)]
struct Session {
    asked: u64,
    running: Option<Running>,
}

impl ExecDefense {
    /// A program and its arguments; no shell comes between. `timeout` is for each call.
    pub fn new(
        name: impl Into<String>,
        program: impl Into<String>,
        arguments: impl IntoIterator<Item = String>,
        timeout: Duration,
    ) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            arguments: arguments.into_iter().collect(),
            timeout,
            session: Mutex::default(),
        }
    }
}

impl Defense for ExecDefense {
    fn name(&self) -> &str {
        &self.name
    }

    fn decide(&self, call: &Call) -> Result<Decision, DefenseError> {
        // A panic elsewhere while the lock was held leaves a process in an unknown state: it is replaced below like any other.
        let mut session = self.session.lock().unwrap_or_else(|poisoned| {
            let mut session = poisoned.into_inner();
            session.running = None;
            session
        });
        session.asked += 1;
        let id = session.asked;
        let mut line = serde_json::to_vec(&Request::new(id, call))
            .map_err(|e| DefenseError::with_source("the call cannot be written as JSON", e))?;
        line.push(b'\n');
        let mut running = match session.running.take() {
            Some(running) => running,
            None => Running::start(&self.program, &self.arguments)?,
        };
        // On any error `running` is dropped, which stops the program.
        let decision = running.ask(line, id, self.timeout)?;
        session.running = Some(running);
        decision
    }

    fn is_parallel(&self) -> bool {
        false
    }
}

#[derive(Serialize)]
struct Request<'a> {
    schema: &'static str,
    id: u64,
    task: &'a str,
    tool: &'a str,
    egress: bool,
    dest: Option<&'a str>,
    args: Vec<RequestArg<'a>>,
    context: Vec<RequestText<'a>>,
    history: Vec<RequestAction<'a>>,
}

#[derive(Serialize)]
struct RequestArg<'a> {
    name: &'a str,
    provenance: Provenance,
    text: &'a str,
}

#[derive(Serialize)]
struct RequestText<'a> {
    sha256: String,
    text: &'a str,
}

#[derive(Serialize)]
struct RequestAction<'a> {
    tool: &'a str,
    dest: Option<&'a str>,
    args: Vec<RequestArg<'a>>,
}

impl<'a> Request<'a> {
    fn new(id: u64, call: &'a Call) -> Self {
        let text = |t: &'a crate::Text| RequestText { sha256: hex(t.sha256()), text: t.as_str() };
        let action = |c: &'a Call| RequestAction { tool: &c.tool, dest: c.dest.as_deref(), args: args(&c.args) };
        Self {
            schema: PROTOCOL,
            id,
            task: &call.task,
            tool: &call.tool,
            egress: call.is_egress(),
            dest: call.dest.as_deref(),
            args: args(&call.args),
            context: call.context.iter().map(|t| text(t)).collect(),
            history: call.history.iter().map(|c| action(c)).collect(),
        }
    }
}

fn args(args: &[Arg]) -> Vec<RequestArg<'_>> {
    args.iter().map(|a| RequestArg { name: &a.name, provenance: a.provenance, text: &a.text }).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[derive(Deserialize)]
struct Reply {
    id: u64,
    decision: Option<Verdict>,
    reason: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Allow,
    Deny,
}

/// A started program. Reading and writing have a thread each, so that a program which neither reads nor answers cannot hold the
/// caller longer than the time-out.
struct Running {
    child: Child,
    requests: Option<Sender<Vec<u8>>>,
    replies: Receiver<io::Result<Vec<u8>>>,
}

impl Running {
    fn start(program: &str, arguments: &[String]) -> Result<Self, DefenseError> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| DefenseError::with_source(format!("cannot start {program}"), e))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| DefenseError::new(format!("{program} has no pipes")))?;
        let (requests, to_write) = channel();
        let (read, replies) = channel();
        thread::spawn(move || write_lines(stdin, &to_write));
        thread::spawn(move || read_lines(stdout, &read));
        Ok(Self { child, requests: Some(requests), replies })
    }

    /// The outer error stops the program; the inner one is the program's own word that it cannot rule.
    fn ask(
        &mut self,
        line: Vec<u8>,
        id: u64,
        timeout: Duration,
    ) -> Result<Result<Decision, DefenseError>, DefenseError> {
        let ended = |this: &mut Self| match this.child.wait() {
            Ok(status) => DefenseError::new(format!("the program ended ({status}) without an answer")),
            Err(e) => DefenseError::with_source("the program ended without an answer", e),
        };
        let sent = self.requests.as_ref().is_some_and(|r| r.send(line).is_ok());
        let reply = match self.replies.recv_timeout(timeout) {
            Ok(Ok(reply)) if reply.last() == Some(&b'\n') => reply,
            Ok(Ok(reply)) if reply.len() as u64 >= MAX_REPLY => {
                return Err(DefenseError::new(format!("an answer is longer than {MAX_REPLY} bytes")));
            }
            // An unfinished line, the end of output, or a reader that ended: the program is gone or going.
            Ok(_) | Err(RecvTimeoutError::Disconnected) => {
                self.stop_soon();
                return Err(ended(self));
            }
            Err(RecvTimeoutError::Timeout) if sent => {
                return Err(DefenseError::new(format!("no answer within {} s", timeout.as_secs_f64())));
            }
            Err(RecvTimeoutError::Timeout) => {
                self.stop_soon();
                return Err(ended(self));
            }
        };
        let excerpt = || String::from_utf8_lossy(&reply).trim_end().chars().take(120).collect::<String>();
        let parsed: Reply = serde_json::from_slice(&reply)
            .map_err(|e| DefenseError::with_source(format!("the answer {:?} is no decision", excerpt()), e))?;
        if parsed.id != id {
            return Err(DefenseError::new(format!("the answer is to call {} and not to {id}", parsed.id)));
        }
        match (parsed.decision, parsed.error) {
            (Some(Verdict::Allow), None) => Ok(Ok(Decision::Allow)),
            (Some(Verdict::Deny), None) => Ok(Ok(Decision::deny(parsed.reason.unwrap_or_default()))),
            (None, Some(error)) => Ok(Err(DefenseError::new(format!("the program says: {error}")))),
            _ => Err(DefenseError::new(format!("the answer {:?} needs either decision or error", excerpt()))),
        }
    }

    /// Closes standard input, gives the program a second to end by itself, then kills it.
    fn stop_soon(&mut self) {
        self.requests = None;
        for _ in 0..50 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        // It may have ended in this moment; then there is nothing to kill.
        let _ = self.child.kill();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop_soon();
        let _ = self.child.wait();
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        // A closed pipe shows on the reading side as the end of output.
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, lines: &Sender<io::Result<Vec<u8>>>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(MAX_REPLY).read_until(b'\n', &mut line);
        let last = !matches!(read, Ok(n) if n > 0 && line.last() == Some(&b'\n'));
        if lines.send(read.map(|_| line)).is_err() || last {
            return;
        }
    }
}
