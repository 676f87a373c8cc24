//! `cargo xtask test`: everything the project tests.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use wardline_cli::{Exit, Failure, Stdout, data_dir};

use crate::docs;
use crate::features;
use crate::models;
use crate::reproduce::compare_figures;
use crate::results;
use crate::shell::{built, cargo, root, step};

/// Run every test of the project; builds the corpora first
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of built corpora [default: $WARDLINE_DATA, else data/ of the checkout]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Python for the exporter, 3.10 or later [default: the newest found]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
}

/// Folders of test data that stand beside the checkout on some machines, and the variables that name them to the tests.
const BESIDE: [(&str, &str); 2] =
    [("WARDLINE_UPSTREAM", "../shared/upstream"), ("WARDLINE_SCORES", "../shared/scores")];

/// Scripts beside the checkout that read our JSON, each taking the path of `deveval`.
const ACCEPT: [&str; 2] = ["agent-figures.py", "classifier-figures.py"];

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let data = std::path::absolute(data_dir(args.data_dir.as_deref())?.path)?;
    // With the features of the tests, so that both share what they compile.
    let features = features::all()?;
    step(
        out,
        "build the binaries",
        &mut cargo(&["build", "--workspace", "--bins", "--locked", "--features", &features]),
    )?;
    let deveval = built("debug", "deveval")?;

    let mut build = Command::new(&deveval);
    build.args(["corpora", "build", "--data-dir"]).arg(&data);
    if let Some(python) = &args.python {
        build.arg("--python").arg(python);
    }
    step(out, "build the corpora", &mut build)?;

    models::fetch(&deveval, &data, out)?;
    let runtime = models::runtime(&deveval, &data, out)?;

    let mut tests = cargo(&["test", "--workspace", "--locked", "--features", &features]);
    tests.env("WARDLINE_DATA_TEST", &data).env("ORT_DYLIB_PATH", &runtime);
    for (name, folder) in BESIDE {
        let folder = root().join(folder);
        if folder.is_dir() {
            tests.env(name, folder);
        }
    }
    step(out, "cargo test", &mut tests)?;

    writeln!(out, "== published figures")?;
    compare_figures(&deveval, &data, out)?;
    writeln!(out, "== documents")?;
    docs::refresh(&data, true, out)?;
    writeln!(out, "== results of the mail benchmark")?;
    let upstream = Some(root().join(BESIDE[0].1)).filter(|folder| folder.is_dir());
    let mailbench = built("debug", "mailbench")?;
    results::refresh(&mailbench, &data, args.python.as_deref(), upstream.as_deref(), true, out)?;
    for script in ACCEPT.map(|name| root().join("../shared/accept").join(name)) {
        if script.is_file() {
            let mut python = Command::new(args.python.clone().unwrap_or_else(|| "python3".into()));
            step(out, "acceptance script", python.arg(script).arg(&deveval).env("WARDLINE_DATA", &data))?;
        }
    }
    Ok(Exit::Ok)
}
