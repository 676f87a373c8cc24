use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A generator of bounded integers with numpy's algorithm: 32 random bits at a time, the low half of each 64-bit word first, the
/// other half kept for the next call.
#[derive(Debug, Clone)]
pub(crate) struct Halves {
    words: Pcg64,
    kept: Option<u32>,
}

impl Halves {
    pub(crate) fn new(words: Pcg64) -> Self {
        Self { words, kept: None }
    }

    #[inline]
    fn next(&mut self) -> u32 {
        if let Some(high) = self.kept.take() {
            return high;
        }
        let word = self.words.next_u64();
        self.kept = Some((word >> 32) as u32);
        word as u32
    }

    /// A uniform integer below `bound`, which is at least 1; a bound of 1 takes no random bits.
    #[inline]
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        if bound <= 1 {
            return 0;
        }
        let mut product = u64::from(self.next()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.next()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }
}

/// numpy's `Generator` as `numpy.random.default_rng(seed)` makes it, for the draws that bootstraps use, bit for bit.
///
/// `SeedSequence` hashes the seed into the state and increment of PCG64 (XSL-RR 128/64). Bounded integers below 2^32 use Lemire's
/// method on 32-bit halves; the unused half of a word lasts until the next call.
///
/// Source: numpy 2.x, `numpy/random/bit_generator.pyx`, `_pcg64`, `distributions.c`; D. Lemire, "Fast random integer generation in
/// an interval", ACM TOMACS 29 (2019).
///
/// ```
/// let mut rng = wardline_metrics::NumpyRng::new(42);
/// assert_eq!(rng.choice(10), [0, 7, 6, 4, 4, 8, 0, 6, 2, 0]); // numpy.random.default_rng(42).choice(10, 10, replace=True)
/// ```
#[derive(Debug, Clone)]
pub struct NumpyRng {
    halves: Halves,
}

impl NumpyRng {
    /// `numpy.random.default_rng(seed)`, for seeds that fit 64 bits.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        // numpy takes the state's and the increment's high word first, and shifts the increment to make it odd.
        let [state_high, state_low, stream_high, stream_low] = seed_sequence(seed);
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&wide(state_high, state_low).to_le_bytes());
        bytes[16..].copy_from_slice(&(wide(stream_high, stream_low) << 1 | 1).to_le_bytes());
        Self { halves: Halves::new(Pcg64::from_seed(bytes)) }
    }

    /// `Generator.integers(0, bound)`; 0 when `bound` is 0 or 1, without a draw.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.halves.below(bound)
    }

    /// `Generator.choice(n, n, replace=True)`, which is `Generator.integers(0, n, n)`.
    pub fn choice(&mut self, n: u32) -> Vec<u32> {
        (0..n).map(|_| self.below(n)).collect()
    }

    pub(crate) fn halves(&mut self) -> &mut Halves {
        &mut self.halves
    }
}

const INIT_A: u32 = 0x43b0_d7e5;
const MULT_A: u32 = 0x931e_8875;
const INIT_B: u32 = 0x8b51_f9dd;
const MULT_B: u32 = 0x58f3_8ded;
const MIX_L: u32 = 0xca01_f9dd;
const MIX_R: u32 = 0x4973_f715;

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_sequence(seed: u64) -> [u64; 4] {
    let mut constant = INIT_A;
    let mut hash = |value: u32| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(MULT_A);
        let value = value.wrapping_mul(constant);
        value ^ (value >> 16)
    };
    let mix = |x: u32, y: u32| {
        let mixed = x.wrapping_mul(MIX_L).wrapping_sub(y.wrapping_mul(MIX_R));
        mixed ^ (mixed >> 16)
    };
    // A seed below 2^32 is one word of entropy, a larger one two; missing words are hashed as zero either way.
    let entropy = [seed as u32, (seed >> 32) as u32, 0, 0];
    let mut pool = entropy.map(&mut hash);
    for source in 0..pool.len() {
        for target in 0..pool.len() {
            if source != target {
                pool[target] = mix(pool[target], hash(pool[source]));
            }
        }
    }
    let mut constant = INIT_B;
    let mut halves = [0_u32; 8];
    for (i, half) in halves.iter_mut().enumerate() {
        let value = pool[i % pool.len()] ^ constant;
        constant = constant.wrapping_mul(MULT_B);
        let value = value.wrapping_mul(constant);
        *half = value ^ (value >> 16);
    }
    [0, 1, 2, 3].map(|i| u64::from(halves[2 * i]) | u64::from(halves[2 * i + 1]) << 32)
}
