use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Map, Value, json};
use wardline_program::{LineProgram, ProgramError};

use crate::protocol::{MAIL_PROTOCOL, Request, needs, read_reply};
use crate::{Detector, ErrorClass, Failure, Input, Needs, Task, Verdict};

/// A detector that is a program of its own, in any language: it reads one JSON message a line and answers one JSON verdict a line.
/// `docs/detectors.md` has the protocol.
///
/// The program starts at the first message and lives until the detector is dropped, when its standard input closes. A program that
/// ends, stays silent for longer than the time-out, or answers anything but a verdict is an error of that record; it is stopped, and
/// started anew for the next one. Messages are put to it one at a time. Its standard error is the caller's.
pub struct ExecDetector {
    name: String,
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
    raw: bool,
    session: Mutex<Session>,
}

#[derive(Default)]
struct Session {
    asked: u64,
    running: Option<LineProgram>,
}

impl ExecDetector {
    /// A program and its arguments; no shell comes between. `timeout` is for each message; `raw` sends the raw message too.
    pub fn new(
        name: impl Into<String>,
        program: impl Into<String>,
        arguments: impl IntoIterator<Item = String>,
        timeout: Duration,
        raw: bool,
    ) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            arguments: arguments.into_iter().collect(),
            timeout,
            raw,
            session: Mutex::default(),
        }
    }

    fn predict(&self, session: &mut Session, input: &Input) -> Result<Verdict, Failure> {
        session.asked += 1;
        let id = session.asked;
        let mut line = Request::new(id, input, self.raw)?.to_json()?;
        line.push(b'\n');
        let mut running = match session.running.take() {
            Some(running) => running,
            None => LineProgram::start(&self.program, &self.arguments).map_err(failure)?,
        };
        let reply = running.ask(line, self.timeout).map_err(failure)?;
        let verdict = read_reply(&reply, id);
        // On any error but the program's own word that it cannot say, `running` is dropped, which stops the program.
        if verdict.as_ref().err().is_none_or(|f| f.class == ErrorClass::Refused) {
            session.running = Some(running);
        }
        verdict
    }
}

fn failure(error: ProgramError) -> Failure {
    let class = if matches!(error, ProgramError::Silent { .. }) { ErrorClass::Timeout } else { ErrorClass::Program };
    let fatal = matches!(error, ProgramError::Start { .. });
    let message = match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    let mut failure = Failure::new(class, message);
    failure.fatal = fatal;
    failure
}

impl Detector for ExecDetector {
    fn name(&self) -> &str {
        &self.name
    }

    fn task(&self) -> Task {
        Task::Both
    }

    fn needs(&self) -> Needs {
        needs(self.raw)
    }

    fn identity(&self) -> Map<String, Value> {
        let mut command = vec![self.program.as_str()];
        command.extend(self.arguments.iter().map(String::as_str));
        Map::from_iter([
            ("protocol".to_owned(), json!(MAIL_PROTOCOL)),
            ("command".to_owned(), json!(command)),
            ("raw".to_owned(), json!(self.raw)),
        ])
    }

    fn max_concurrency(&self) -> usize {
        1
    }

    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
        // A panic elsewhere while the lock was held leaves a process in an unknown state: it is replaced like any other.
        let mut session = self.session.lock().unwrap_or_else(|poisoned| {
            let mut session = poisoned.into_inner();
            session.running = None;
            session
        });
        inputs.iter().map(|input| self.predict(&mut session, input)).collect()
    }
}
