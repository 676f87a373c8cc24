use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

/// Where the random numbers of one interval come from.
///
/// A stream of its own for every row of a table: the interval of one detector doesn't move when another is added or when the
/// order changes. The key is SHA-256 over `wardline-stream-1`, the seed (8 bytes, little-endian), and the task and row names, each
/// preceded by its length in bytes (8 bytes, little-endian). Replicate r draws from `Pcg64` seeded with SHA-256 over the key and
/// r (8 bytes, little-endian), so that replicates can be drawn in any order.
///
/// ```
/// use wardline_metrics::Stream;
/// assert_ne!(Stream::new(7, "pi", "deberta"), Stream::new(7, "pi", "piguard"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream(pub(crate) Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Keyed([u8; 32]),
    Numpy(u64),
}

impl Stream {
    /// The stream of one row of a table: the run's seed, the task (or table), and the detector's or defense's name.
    #[must_use]
    pub fn new(seed: u64, task: &str, row: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"wardline-stream-1");
        hash.update(seed.to_le_bytes());
        for name in [task, row] {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
        }
        Self(Kind::Keyed(hash.finalize().into()))
    }

    /// numpy's: one `default_rng(seed)`, and for each replicate in turn one `choice(n, n, replace=True)` over the n groups in
    /// sorted order. For checking published intervals; defined for one unstratified axis.
    #[must_use]
    pub fn numpy(seed: u64) -> Self {
        Self(Kind::Numpy(seed))
    }

    /// A stream that is independent of this one.
    pub(crate) fn derived(&self, name: &str) -> Self {
        let mut hash = Sha256::new();
        match &self.0 {
            Kind::Keyed(key) => hash.update(key),
            Kind::Numpy(seed) => hash.update(seed.to_le_bytes()),
        }
        hash.update(name);
        Self(Kind::Keyed(hash.finalize().into()))
    }
}

/// The generator of one replicate of a keyed stream.
pub(crate) fn replicate(key: &[u8; 32], replicate: u64) -> Pcg64 {
    let mut hash = Sha256::new();
    hash.update(key);
    hash.update(replicate.to_le_bytes());
    Pcg64::from_seed(hash.finalize().into())
}
