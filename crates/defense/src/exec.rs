use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wardline_program::{LineProgram, ProgramError};

use crate::{Arg, Call, Decision, Defense, DefenseError, Provenance};

/// The protocol's name and version, in every request's `schema`.
pub const PROTOCOL: &str = "wardline-call/1";

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
    running: Option<LineProgram>,
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
            None => LineProgram::start(&self.program, &self.arguments).map_err(no_answer)?,
        };
        // On any error `running` is dropped, which stops the program.
        let answer = running.ask(line, self.timeout).map_err(no_answer)?;
        let decision = read_answer(&answer, id)?;
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

fn no_answer(error: ProgramError) -> DefenseError {
    let message = error.to_string();
    match error {
        ProgramError::Start { source, .. } | ProgramError::Lost(source) => DefenseError::with_source(message, source),
        _ => DefenseError::new(message),
    }
}

/// The outer error says that the program does not keep to the protocol; the inner one is its own word that it cannot rule.
fn read_answer(answer: &[u8], id: u64) -> Result<Result<Decision, DefenseError>, DefenseError> {
    let excerpt = || String::from_utf8_lossy(answer).trim_end().chars().take(120).collect::<String>();
    let reply: Reply = serde_json::from_slice(answer)
        .map_err(|e| DefenseError::with_source(format!("the answer {:?} is no decision", excerpt()), e))?;
    if reply.id != id {
        return Err(DefenseError::new(format!("the answer is to call {} and not to {id}", reply.id)));
    }
    match (reply.decision, reply.error) {
        (Some(Verdict::Allow), None) => Ok(Ok(Decision::Allow)),
        (Some(Verdict::Deny), None) => Ok(Ok(Decision::deny(reply.reason.unwrap_or_default()))),
        (None, Some(error)) => Ok(Err(DefenseError::new(format!("the program says: {error}")))),
        _ => Err(DefenseError::new(format!("the answer {:?} needs either decision or error", excerpt()))),
    }
}
