use std::path::Path;
use wardline_cli::*;
pub(crate) const EGRESS_REACH: &str = "egress-reach";
#[derive(clap::Args)]
pub(crate) struct CorporaArgs {}
pub(crate) fn run(_: &CorporaArgs, _: &mut Stdout) -> Result<Exit, Failure> {
    todo!()
}
pub(crate) fn load(_: &str, _: Option<&Path>) -> Result<wardline_sources::Corpus, Failure> {
    todo!()
}
