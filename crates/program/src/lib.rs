//! A child process that answers lines with lines: how a detector or a defense is written in any language.
//!
//! ```
//! use std::time::Duration;
//! use wardline_program::LineProgram;
//!
//! # #[cfg(unix)] {
//! let mut cat = LineProgram::start("cat", &[])?;
//! assert_eq!(cat.ask(b"hello\n".to_vec(), Duration::from_secs(10))?, b"hello\n");
//! # }
//! # Ok::<(), wardline_program::ProgramError>(())
//! ```

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use thiserror::Error;

/// An answer is one short line; what is longer than this many bytes is not one.
pub const MAX_ANSWER: u64 = 1 << 20;

/// Why a program gave no answer. After any of these it is of no more use.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// It cannot be started.
    #[error("cannot start {program}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// It closed its output and stayed.
    #[error("the program closed its output without an answer")]
    Closed,
    /// It ended.
    #[error("the program ended ({status}) without an answer")]
    Ended {
        /// How it ended.
        status: ExitStatus,
    },
    /// It ended, and the system does not say how.
    #[error("the program ended without an answer")]
    Lost(#[source] io::Error),
    /// It gave no answer in time.
    #[error("no answer within {} s", timeout.as_secs_f64())]
    Silent {
        /// The time it had.
        timeout: Duration,
    },
    /// Its answer has no end.
    #[error("an answer is longer than {MAX_ANSWER} bytes")]
    TooLong,
}

/// A started program. Dropping it closes its standard input, waits up to a second for it to end, and kills what is left of it.
///
/// Reading and writing have a thread each, so that a program which neither reads nor answers cannot hold the caller longer than the
/// time-out. Its standard error is the caller's.
pub struct LineProgram {
    child: Child,
    requests: Option<Sender<Vec<u8>>>,
    answers: Receiver<io::Result<Vec<u8>>>,
}

impl LineProgram {
    /// Starts a program with its arguments; no shell comes between.
    ///
    /// # Errors
    /// [`ProgramError::Start`].
    pub fn start(program: &str, arguments: &[String]) -> Result<Self, ProgramError> {
        let failed = |source| ProgramError::Start { program: program.to_owned(), source };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A group of its own, so that what the program started can be stopped with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        let (requests, to_write) = channel();
        let (read, answers) = channel();
        thread::spawn(move || write_lines(stdin, &to_write));
        thread::spawn(move || read_lines(stdout, &read));
        Ok(Self { child, requests: Some(requests), answers })
    }

    /// Sends a line, which must end in a line break, and waits for one. The answer ends in a line break.
    ///
    /// # Errors
    /// There is no answer; the program should be dropped.
    pub fn ask(&mut self, line: Vec<u8>, timeout: Duration) -> Result<Vec<u8>, ProgramError> {
        let sent = self.requests.as_ref().is_some_and(|r| r.send(line).is_ok());
        match self.answers.recv_timeout(timeout) {
            Ok(Ok(answer)) if answer.last() == Some(&b'\n') => Ok(answer),
            Ok(Ok(answer)) if answer.len() as u64 >= MAX_ANSWER => Err(ProgramError::TooLong),
            Err(RecvTimeoutError::Timeout) if sent => Err(ProgramError::Silent { timeout }),
            // An unfinished line, the end of output, or a thread that ended: the program is gone or going.
            _ => {
                if !self.ends_soon() {
                    return Err(ProgramError::Closed);
                }
                Err(match self.child.wait() {
                    Ok(status) => ProgramError::Ended { status },
                    Err(e) => ProgramError::Lost(e),
                })
            }
        }
    }

    /// Closes standard input and gives the program a second to end by itself.
    fn ends_soon(&mut self) -> bool {
        self.requests = None;
        for _ in 0..50 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Kills the program and, where there are process groups, whatever it started.
    fn kill(&mut self) {
        // What has ended in this moment cannot be killed, and need not be.
        let _ = self.child.kill();
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for LineProgram {
    fn drop(&mut self) {
        self.ends_soon();
        self.kill();
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
        let read = reader.by_ref().take(MAX_ANSWER).read_until(b'\n', &mut line);
        let last = !matches!(read, Ok(n) if n > 0 && line.last() == Some(&b'\n'));
        if lines.send(read.map(|_| line)).is_err() || last {
            return;
        }
    }
}
