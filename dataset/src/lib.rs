//! Our own material of the e-mail benchmark, embedded, so that an installed binary needs no checkout.
//!
//! The folder is a crate of its own because a package cannot reach outside its folder, and the material stands at the top of the
//! repository for people to read. What each file holds: `seeds/README.md`.
//!
//! ```
//! assert!(wardline_dataset::CANONICAL.contains("canonical_01"));
//! ```

/// The five canonical phrasings of an injected instruction (TOML).
pub const CANONICAL: &str = include_str!("../seeds/canonical.toml");
/// Further injection payloads (TOML).
pub const PAYLOADS: &str = include_str!("../seeds/payloads.toml");
/// Benign controls that match the payloads in structure (TOML).
pub const CONTROLS: &str = include_str!("../seeds/controls.toml");
/// Benign controls that are hard to tell from attacks (TOML).
pub const CONTROLS_HARD: &str = include_str!("../seeds/controls-hard.toml");
/// Attacks spread over a message (TOML).
pub const ADAPTIVE: &str = include_str!("../seeds/adaptive.toml");
/// Plausible mail that payloads and controls are set in (TOML).
pub const CARRIERS: &str = include_str!("../seeds/carriers.toml");
/// Synthetic phishing lures (TOML).
pub const PHISHING: &str = include_str!("../handwritten/phishing.toml");
/// Benign messages of a present-day inbox (TOML).
pub const MODERN_BENIGN: &str = include_str!("../handwritten/modern-benign.toml");
/// Other people's data sets that the benchmark is built from: addresses, licences, counts, digests (TOML).
pub const SOURCES: &str = include_str!("../sources.toml");
/// The lock of the core profile: header (TOML).
pub const LOCK_CORE: &str = include_str!("../locks/core.toml");
/// The lock of the core profile: one line a record.
pub const LOCK_CORE_RECORDS: &str = include_str!("../locks/core.records");
/// The lock of the full profile: header (TOML).
pub const LOCK_FULL: &str = include_str!("../locks/full.toml");
/// The lock of the full profile: one line a record.
pub const LOCK_FULL_RECORDS: &str = include_str!("../locks/full.records");
/// The JSON Schema of a manifest's line.
pub const SCHEMA: &str = include_str!("../schema/email-record.json");
