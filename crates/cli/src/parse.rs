use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::Exit;

/// Reads the command line. Help and version go to standard output; a mistake is one line `error: …` and exit code 2.
///
/// # Errors
/// The exit code to end with, when there is nothing left to run.
pub fn parse<C: Parser>() -> Result<C, ExitCode> {
    parse_from(std::env::args_os())
}

fn parse_from<C: Parser>(args: impl IntoIterator<Item = OsString>) -> Result<C, ExitCode> {
    let error = match C::try_parse_from(args) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Err(crate::run(|out| {
            write!(out, "{}", error.render())?;
            Ok(Exit::Ok)
        }));
    }
    // Nothing is left to tell when standard error is closed.
    let _ = writeln!(io::stderr(), "{}", one_line(&error.render().to_string()));
    Err(ExitCode::from(Exit::Usage as u8))
}

/// Clap's message without its usage and help paragraphs, on one line.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more"));
    let line = lines.filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
    if line.starts_with("error: ") { line } else { "error: a subcommand is missing; --help lists them".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn one_line_keeps_what_matters() {
        let message = "error: invalid value 'yaml' for '--format <FORMAT>'\n  [possible values: text, json]\n\n\
                       For more information, try '--help'.\n";
        let expected = "error: invalid value 'yaml' for '--format <FORMAT>' [possible values: text, json]";
        assert_eq!(one_line(message), expected);
        assert!(one_line("Scores things\n\nUsage: x").starts_with("error: "));
    }
}
