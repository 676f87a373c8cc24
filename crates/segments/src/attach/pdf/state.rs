use lopdf::Object;

/// An affine map: `[a b c d e f]`.
pub(super) type Matrix = [f32; 6];

pub(super) const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

pub(super) fn multiply(m: &Matrix, n: &Matrix) -> Matrix {
    [
        m[0] * n[0] + m[1] * n[2],
        m[0] * n[1] + m[1] * n[3],
        m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3],
        m[4] * n[0] + m[5] * n[2] + n[4],
        m[4] * n[1] + m[5] * n[3] + n[5],
    ]
}

pub(super) fn numbers<const N: usize>(operands: &[Object]) -> Option<[f32; N]> {
    let mut out = [0.0; N];
    for (slot, operand) in out.iter_mut().zip(operands) {
        *slot = operand.as_float().ok()?;
    }
    (operands.len() >= N).then_some(out)
}

/// The part of the graphics state that text depends on.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) ctm: Matrix,
    pub(super) font: Option<usize>,
    pub(super) size: f32,
    pub(super) leading: f32,
    pub(super) char_space: f32,
    pub(super) word_space: f32,
    pub(super) scale: f32,
    pub(super) rise: f32,
    pub(super) mode: i64,
    /// The fill colour is white.
    pub(super) white: bool,
    /// The fill is transparent.
    pub(super) transparent: bool,
}

impl State {
    pub(super) fn new(ctm: Matrix) -> Self {
        Self {
            ctm,
            font: None,
            size: 0.0,
            leading: 0.0,
            char_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            rise: 0.0,
            mode: 0,
            white: false,
            transparent: false,
        }
    }

    /// Sets the fill colour from an operator's numbers.
    pub(super) fn fill(&mut self, operands: &[Object]) {
        let values: Vec<f32> = operands.iter().filter_map(|o| o.as_float().ok()).collect();
        self.white = match values.as_slice() {
            [gray] => *gray > 0.97,
            [r, g, b] => r.min(*g).min(*b) > 0.97,
            [c, m, y, k] => c.max(*m).max(*y).max(*k) < 0.03,
            _ => false,
        };
    }
}
