//! `cargo xtask test`: everything the project tests.

use wardline_cli::{Exit, Failure, Stdout};

use crate::shell::{cargo, root, step};

/// Run every test of the project
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Folders of test data that stand beside the checkout on some machines, and the variables that name them to the tests.
const BESIDE: [(&str, &str); 2] =
    [("WARDLINE_UPSTREAM", "../shared/upstream"), ("WARDLINE_SCORES", "../shared/scores")];

pub(crate) fn run(_: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let mut tests = cargo(&["test", "--workspace", "--all-features"]);
    for (name, folder) in BESIDE {
        let folder = root().join(folder);
        if folder.is_dir() {
            tests.env(name, folder);
        }
    }
    step(out, "cargo test", &mut tests)?;
    Ok(Exit::Ok)
}
