use std::collections::{BTreeMap, HashMap};

/// Slots of a signature.
const SLOTS: usize = 128;
/// Slots of a band: two texts are compared when all slots of one band agree.
const BAND: usize = 4;
/// Words of a shingle.
const SHINGLE: usize = 4;
/// Agreeing slots from which two texts are near-duplicates: an estimated Jaccard similarity of 0.85.
const AGREE: usize = SLOTS * 85 / 100;
/// Texts of fewer shingles are compared by their start only: a signature says little of them.
const FEWEST: usize = 12;

/// What two near-duplicates have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Digest of the normalised subject and start of the body.
    start: u64,
    /// One-permutation MinHash of the body's shingles; `None` for short texts.
    signature: Option<Box<[u32; SLOTS]>>,
}

impl Fingerprint {
    /// Takes the fingerprint of a subject and a body.
    ///
    /// Both are put into lower case and cut into words; every run of digits counts as one word, whatever the digits; words with `@`
    /// or `://` are left out, and so are the marks of answers and forwards at the subject's start. The body's first 60 words and the
    /// subject make the start; shingles are four words of the body.
    #[must_use]
    pub fn new(subject: &str, body: &str) -> Self {
        let subject = words(strip_marks(subject));
        let body = words(body);
        let start = body.iter().take(60).chain(&subject).fold(hash(b"start", 0), |h, w| hash(w.as_bytes(), h));
        let shingles = body.len().saturating_sub(SHINGLE - 1);
        let signature = (shingles >= FEWEST).then(|| Box::new(signature(&body)));
        Self { start, signature }
    }
}

fn strip_marks(subject: &str) -> &str {
    let mut rest = subject.trim_start();
    loop {
        let mark = ["re:", "fw:", "fwd:", "aw:"]
            .iter()
            .find(|m| rest.get(..m.len()).is_some_and(|s| s.eq_ignore_ascii_case(m)));
        match mark {
            Some(mark) => rest = rest[mark.len()..].trim_start(),
            None => return rest,
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for chunk in text.split_whitespace().filter(|c| !c.contains('@') && !c.contains("://")) {
        for word in chunk.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
            let number = word.chars().all(|c| c.is_ascii_digit());
            words.push(if number { "0".to_owned() } else { word.to_lowercase() });
        }
    }
    words
}

/// One hash a shingle; each of the slots takes the least of its share of the hash range. An empty slot takes what the next filled one
/// has.
fn signature(words: &[String]) -> [u32; SLOTS] {
    let mut slots = [None; SLOTS];
    for shingle in words.windows(SHINGLE) {
        let value = shingle.iter().fold(0, |h, w| hash(w.as_bytes(), h));
        let slot = usize::try_from(value >> 57).unwrap_or(0);
        let low = u32::try_from(value & 0xffff_ffff).unwrap_or(0);
        slots[slot] = Some(slots[slot].map_or(low, |least: u32| least.min(low)));
    }
    let mut signature = [0; SLOTS];
    for (n, out) in signature.iter_mut().enumerate() {
        let filled = (0..SLOTS).find_map(|step| slots[(n + step) % SLOTS].map(|least| (least, step)));
        if let Some((least, step)) = filled {
            *out = least.wrapping_add(u32::try_from(step).unwrap_or(0).wrapping_mul(0x9e37_79b9));
        }
    }
    signature
}

/// FNV-1a over the bytes and a closing mark, then a mix that spreads it over all bits. The standard hasher may change between
/// releases; selections must not.
fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut h = bytes
        .iter()
        .chain(&[0xff])
        .fold(0xcbf2_9ce4_8422_2325 ^ seed, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 31)
}

/// For each text, the index of the text that stands for its cluster of near-duplicates: the one with the smallest `key`. A text that
/// stands for itself is kept. The outcome does not depend on the order of the texts.
///
/// Two texts are near-duplicates when their starts are equal or at least 85 % of their signatures' slots agree; clusters are
/// what is connected by that.
///
/// # Panics
/// Never: `keys` that are fewer than the fingerprints count as absent.
#[must_use]
pub fn near_duplicates<K: Ord>(fingerprints: &[Fingerprint], keys: &[K]) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..fingerprints.len()).collect();
    let mut starts: BTreeMap<u64, usize> = BTreeMap::new();
    for (n, f) in fingerprints.iter().enumerate() {
        let first = *starts.entry(f.start).or_insert(n);
        join(&mut parent, first, n);
    }
    for band in 0..SLOTS / BAND {
        let mut buckets: HashMap<[u32; BAND], Vec<usize>> = HashMap::new();
        for (n, f) in fingerprints.iter().enumerate() {
            let Some(signature) = &f.signature else { continue };
            let mut key = [0; BAND];
            key.copy_from_slice(&signature[band * BAND..(band + 1) * BAND]);
            let bucket = buckets.entry(key).or_default();
            for other in bucket.iter() {
                if root(&mut parent, *other) != root(&mut parent, n) && alike(&fingerprints[*other], f) {
                    join(&mut parent, *other, n);
                }
            }
            bucket.push(n);
        }
    }
    let mut least: BTreeMap<usize, usize> = BTreeMap::new();
    let roots: Vec<usize> = (0..fingerprints.len()).map(|n| root(&mut parent, n)).collect();
    for (n, root) in roots.iter().enumerate() {
        let best = least.entry(*root).or_insert(n);
        if keys.get(n) < keys.get(*best) {
            *best = n;
        }
    }
    roots.iter().map(|root| least[root]).collect()
}

fn alike(a: &Fingerprint, b: &Fingerprint) -> bool {
    match (&a.signature, &b.signature) {
        (Some(a), Some(b)) => a.iter().zip(b.iter()).filter(|(x, y)| x == y).count() >= AGREE,
        _ => false,
    }
}

fn root(parent: &mut [usize], mut n: usize) -> usize {
    while parent[n] != n {
        parent[n] = parent[parent[n]];
        n = parent[n];
    }
    n
}

fn join(parent: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b)] = a.min(b);
}
