//! Readers of other people's data sets. Each takes files that stand on this machine, and gives payloads or messages in a fixed order.

mod agentdojo;
mod archive;
mod folder;
mod injecagent;
mod llmail;
mod mbox;
mod notinject;
mod upstream;

pub use agentdojo::{InboxPayload, read_agentdojo_inbox};
pub use archive::read_archive;
pub use folder::{MailFile, read_mail, read_mail_folder};
pub use injecagent::{AttackerCase, read_injecagent};
pub use llmail::{Submission, read_llmail};
pub use mbox::{Mbox, read_mbox};
pub use notinject::{Probe, read_notinject};
pub use upstream::{Input, Source, Upstream, UsedInput, sources};
