//! A text as hashed n-grams.

use std::collections::BTreeMap;

/// Bits of a hash; a model has so many weights as they can name.
pub(super) const BITS: u32 = 18;

/// Characters of a text that are read.
const MAX_CHARACTERS: usize = 20_000;

/// Which hashes occur and with what value: the logarithm of one and the count, all of them scaled to length 1.
pub(super) fn features(text: &str) -> Vec<(u32, f32)> {
    let lower: String = text.chars().take(MAX_CHARACTERS).flat_map(char::to_lowercase).collect();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|w| !w.is_empty()).collect();
    let mut counts = BTreeMap::<u32, u32>::new();
    let mut count = |hash: u64| *counts.entry((hash >> (64 - BITS)) as u32).or_default() += 1;
    for word in &words {
        count(hash(1, &[word]));
        let characters: Vec<char> = std::iter::once('^').chain(word.chars().take(40)).chain(['$']).collect();
        for gram in characters.windows(4) {
            count(hash(4, &[&gram.iter().collect::<String>()]));
        }
    }
    for pair in words.windows(2) {
        count(hash(2, pair));
    }
    for triple in words.windows(3) {
        count(hash(3, triple));
    }
    let values = counts.into_iter().map(|(i, n)| (i, (1.0 + f64::from(n)).ln()));
    let values: Vec<(u32, f64)> = values.collect();
    let length = values.iter().map(|(_, v)| v * v).sum::<f64>().sqrt().max(1e-12);
    values.into_iter().map(|(i, v)| (i, (v / length) as f32)).collect()
}

/// FNV-1a over a kind and words, mixed so that its high bits are good.
fn hash(kind: u8, words: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    eat(kind);
    for word in words {
        word.bytes().for_each(&mut eat);
        eat(0xFF);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}
