//! Choosing among found mail without chance: near-duplicates away, then strata in turn, by content digest.

mod category;
mod found;
mod minhash;
mod strata;

pub use found::FoundMail;
pub use minhash::{Fingerprint, near_duplicates};
pub use strata::{assigned_auth, draw};
