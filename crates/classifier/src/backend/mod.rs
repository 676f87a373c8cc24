#[cfg(feature = "candle")]
pub(crate) mod candle;
#[cfg(feature = "candle")]
mod cpu;
#[cfg(feature = "ort")]
mod library;
#[cfg(feature = "ort")]
pub(crate) mod onnx;
#[cfg(feature = "ort")]
pub(crate) mod ort;

use crate::ClassifierError;

/// Token sequences of one length or less, padded at their ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenBatch {
    /// Token ids, row-major `[rows, tokens]`.
    pub ids: Vec<u32>,
    /// The number of tokens of each row that are no padding, from 1 to `tokens`.
    pub lengths: Vec<usize>,
    /// The length of every row.
    pub tokens: usize,
}

impl TokenBatch {
    /// Pads sequences to the longest; `pad` is the padding's id.
    pub fn padded<'a>(sequences: impl IntoIterator<Item = &'a [u32]>, pad: u32) -> Self {
        let sequences: Vec<&[u32]> = sequences.into_iter().collect();
        let tokens = sequences.iter().map(|s| s.len()).max().unwrap_or(0);
        let mut ids = Vec::with_capacity(sequences.len() * tokens);
        for s in &sequences {
            ids.extend_from_slice(s);
            ids.resize(ids.len() + tokens - s.len(), pad);
        }
        Self { ids, lengths: sequences.iter().map(|s| s.len()).collect(), tokens }
    }

    /// Whether no row is padded.
    pub fn is_even(&self) -> bool {
        self.lengths.iter().all(|&n| n == self.tokens)
    }

    /// 1 at tokens and 0 at padding, row-major.
    #[cfg(any(feature = "candle", feature = "ort"))]
    pub(crate) fn kept(&self) -> Vec<f32> {
        self.lengths.iter().flat_map(|&n| (0..self.tokens).map(move |t| f32::from(u8::from(t < n)))).collect()
    }
}

/// What runs a model: token ids in, logits out.
pub trait Backend: Send + Sync {
    /// Name and version, for a score table's `runtime`.
    fn name(&self) -> String;

    /// How many batches may be put to it at once.
    fn workers(&self) -> usize;

    /// Logits of the labels, row-major `[rows, labels]`. A row's logits do not depend on the other rows beyond rounding.
    ///
    /// # Errors
    /// When the engine fails, for instance for want of memory.
    fn logits(&self, batch: &TokenBatch) -> Result<Vec<f32>, ClassifierError>;
}
