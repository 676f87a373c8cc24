use std::error::Error;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// The exit codes of every Wardline command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// A check or a gate failed.
    Failed = 1,
    /// The command line or an input is wrong.
    Usage = 2,
    /// The run stopped before its end and can be resumed.
    Incomplete = 3,
    /// There are too few samples to say.
    TooFew = 4,
}

/// A message for the user and the exit code that goes with it.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    message: String,
    is_broken_pipe: bool,
}

impl Failure {
    /// A failure with an exit code of its own.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), is_broken_pipe: false }
    }

    /// A failure of usage or input: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Any error is one of input unless the caller says otherwise; its causes are appended, each after a colon.
impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let io = (&error as &dyn Error).downcast_ref::<io::Error>();
        let is_broken_pipe = io.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(c) = cause {
            let text = c.to_string();
            if !message.ends_with(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            cause = c.source();
        }
        Self { is_broken_pipe, ..Self::usage(message) }
    }
}

/// One line without control characters: messages quote files, mails and programs that nobody vouches for.
fn printable(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for c in message.chars() {
        match c {
            '\r' | '\n' => line.push(' '),
            c if c.is_control() => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
}

/// Buffered standard output.
pub type Stdout = BufWriter<io::StdoutLock<'static>>;

/// Runs a command: prints a failure as one line `error: …`, and ends quietly when the reader of standard output has gone.
pub fn run(command: impl FnOnce(&mut Stdout) -> Result<Exit, Failure>) -> ExitCode {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let result = command(&mut out);
    let flushed = out.flush();
    let exit = match result.and_then(|exit| flushed.map(|()| exit).map_err(Failure::from)) {
        Ok(exit) => exit,
        Err(failure) if failure.is_broken_pipe => Exit::Ok,
        Err(failure) => {
            let line = printable(&failure.message);
            // Nothing is left to tell when standard error is closed too.
            let _ = writeln!(io::stderr(), "error: {line}");
            failure.exit
        }
    };
    ExitCode::from(exit as u8)
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn messages_stay_on_one_line_and_leave_the_terminal_alone() {
        assert_eq!(printable("a\nb\u{1b}[31mü"), "a b\\u{1b}[31mü");
    }
}
