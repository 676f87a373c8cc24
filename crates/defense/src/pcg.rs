//! PCG-DXSM 128/64 as Go's `math/rand/v2` has it. `rand_pcg`'s `Pcg64Dxsm` multiplies by a 64-bit constant and mixes before it
//! steps, so its stream is another one.

const MULTIPLIER: u128 = 2_549_297_995_355_413_924 << 64 | 4_865_540_595_714_422_341;
const INCREMENT: u128 = 6_364_136_223_846_793_005 << 64 | 1_442_695_040_888_963_407;
const CHEAP_MULTIPLIER: u64 = 0xda94_2042_e4dd_58b5;

pub(crate) struct PcgDxsm {
    state: u128,
}

impl PcgDxsm {
    /// `high` and `low` are the state's words.
    pub(crate) fn new(high: u64, low: u64) -> Self {
        Self { state: u128::from(high) << 64 | u128::from(low) }
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let mut high = (self.state >> 64) as u64;
        let low = self.state as u64;
        high ^= high >> 32;
        high = high.wrapping_mul(CHEAP_MULTIPLIER);
        high ^= high >> 48;
        high.wrapping_mul(low | 1)
    }

    /// Uniform in 0..1: the low 53 bits over 2^53.
    pub(crate) fn next_f64(&mut self) -> f64 {
        (self.next_u64() & ((1 << 53) - 1)) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::PcgDxsm;

    #[test]
    fn go_stream() {
        let mut pcg = PcgDxsm::new(1, 2);
        assert_eq!([pcg.next_u64(), pcg.next_u64()], [0xc4f5_a586_56ee_f510, 0x9dce_c3ad_077d_ec6c]);
    }
}
