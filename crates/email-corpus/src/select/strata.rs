use std::collections::BTreeMap;

use crate::{SenderAuth, ThreatType};

/// Draws `n` items: one from each stratum in turn, strata by name, within a stratum by digest. Gives their indices in the order of
/// the draw; fewer when there are not that many.
///
/// An item more or less elsewhere moves the choice by at most one item of another stratum.
///
/// ```
/// use wardline_email_corpus::draw;
///
/// let items = [("a", [3_u8]), ("a", [1]), ("b", [2]), ("a", [2])];
/// let drawn = draw(&items, 3, |i| i.0.to_owned(), |i| i.1);
/// assert_eq!(drawn, [1, 2, 3]);
/// ```
#[must_use]
pub fn draw<T, D: Ord>(items: &[T], n: usize, stratum: impl Fn(&T) -> String, digest: impl Fn(&T) -> D) -> Vec<usize> {
    let mut strata: BTreeMap<String, Vec<(D, usize)>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        strata.entry(stratum(item)).or_default().push((digest(item), index));
    }
    let mut queues: Vec<_> = strata
        .into_values()
        .map(|mut members| {
            members.sort_unstable();
            members.into_iter().map(|(_, index)| index)
        })
        .collect();
    let mut drawn = Vec::with_capacity(n);
    while drawn.len() < n && !queues.is_empty() {
        queues.retain_mut(|queue| match queue.next() {
            Some(index) if drawn.len() < n => {
                drawn.push(index);
                true
            }
            Some(_) => true,
            None => false,
        });
    }
    drawn
}

/// The authentication that is assigned to found mail from its SHA-256, with the published shares: benign mail 90 % verified and 10 %
/// unauthenticated; other mail 60 % spoofed, 25 % unauthenticated and 15 % verified.
#[must_use]
pub fn assigned_auth(digest: &[u8; 32], threat: ThreatType) -> SenderAuth {
    // The draw goes by the first bytes of the digest, so the assignment takes the last.
    let value = digest[24..].iter().fold(0_u64, |value, b| value << 8 | u64::from(*b)) % 100;
    match (threat, value) {
        (ThreatType::Benign, 0..90) => SenderAuth::Verified,
        (ThreatType::Benign, _) => SenderAuth::Unauthenticated,
        (_, 0..60) => SenderAuth::Spoofed,
        (_, 60..85) => SenderAuth::Unauthenticated,
        _ => SenderAuth::Verified,
    }
}
