use sha2::{Digest, Sha256};

/// SHA-256 in lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// The first 64 bits of SHA-256 in lower-case hex: enough to tell the records of one file apart.
pub(crate) fn short_hex(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes)[..8])
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
