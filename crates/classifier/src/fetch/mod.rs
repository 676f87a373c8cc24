//! Getting models and runtimes into a folder.

#[cfg(feature = "hub")]
mod hub;
#[cfg(feature = "packages")]
mod packages;

#[cfg(feature = "hub")]
pub use hub::{HubOptions, fetch_hub};
#[cfg(feature = "packages")]
pub use packages::{Clients, RUNTIME, fetch_packages, fetch_runtime};
