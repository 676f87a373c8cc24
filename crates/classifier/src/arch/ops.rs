use super::Refused;

/// A table that depends on the number of tokens alone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Table {
    /// Row-major whole numbers and their shape.
    Ints(Vec<i64>, Vec<usize>),
    /// Row-major numbers and their shape.
    Floats(Vec<f32>, Vec<usize>),
}

/// An activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    /// Exact, with the error function.
    Gelu,
    /// The approximation with the hyperbolic tangent.
    GeluTanh,
    Relu,
    Silu,
    Tanh,
}

impl Activation {
    pub(crate) fn parse(name: &str) -> Result<Self, Refused> {
        Ok(match name {
            "gelu" => Self::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" => Self::GeluTanh,
            "relu" => Self::Relu,
            "silu" | "swish" => Self::Silu,
            "tanh" => Self::Tanh,
            _ => return Err(format!("activation {name} is not supported")),
        })
    }
}

/// The operations that an engine gives.
///
/// Shapes: B sequences, T tokens, H hidden units, N heads, D units a head.
pub(crate) trait Ops {
    type Tensor: Clone;

    /// A weight of the model's file, which must have this shape.
    fn weight(&mut self, name: &str, shape: &[usize]) -> Result<Self::Tensor, Refused>;
    /// Token ids, `[B, T]`.
    fn ids(&mut self) -> Result<Self::Tensor, Refused>;
    /// 1 at tokens and 0 at padding, `[B, T, 1]`.
    fn kept(&mut self) -> Result<Self::Tensor, Refused>;
    /// One of [`super::Architecture::tables`].
    fn table(&mut self, name: &'static str) -> Result<Self::Tensor, Refused>;
    /// Rows of a weight `[rows, H]` by whole numbers.
    fn rows(&mut self, weight: &Self::Tensor, ids: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// `x · wᵀ + b` over the last axis; `w` is `[out, in]`.
    fn linear(&mut self, x: &Self::Tensor, w: &Self::Tensor, b: Option<&Self::Tensor>)
    -> Result<Self::Tensor, Refused>;
    /// `a · bᵀ` over the last two axes; the axes before may be 1 in `b`.
    fn matmul_t(&mut self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// `a · b` over the last two axes.
    fn matmul(&mut self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// Sum, with broadcast.
    fn add(&mut self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// Product, with broadcast.
    fn mul(&mut self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// Product with a number.
    fn scale(&mut self, a: &Self::Tensor, by: f32) -> Result<Self::Tensor, Refused>;
    /// Normalisation over the last axis to mean 0 and variance 1, then weight and bias.
    fn layer_norm(
        &mut self,
        x: &Self::Tensor,
        w: &Self::Tensor,
        b: Option<&Self::Tensor>,
        eps: f32,
    ) -> Result<Self::Tensor, Refused>;
    fn activate(&mut self, x: &Self::Tensor, activation: Activation) -> Result<Self::Tensor, Refused>;
    /// Softmax over the last axis of `[B, N, T, T]`, with padding left out.
    fn masked_softmax(&mut self, scores: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// `[B, T, N·D]` to `[B, N, T, D]`.
    fn split_heads(&mut self, x: &Self::Tensor, heads: usize, head_size: usize) -> Result<Self::Tensor, Refused>;
    /// `[T, N·D]` to `[1, N, T, D]`, for a table that all sequences share.
    fn split_table(&mut self, x: &Self::Tensor, heads: usize, head_size: usize) -> Result<Self::Tensor, Refused>;
    /// `[B, N, T, D]` to `[B, T, N·D]`.
    fn merge_heads(&mut self, x: &Self::Tensor, hidden: usize) -> Result<Self::Tensor, Refused>;
    /// Part `start..start + length` of the last axis.
    fn slice_last(&mut self, x: &Self::Tensor, start: usize, length: usize) -> Result<Self::Tensor, Refused>;
    /// Joins two along the last axis.
    fn join_last(&mut self, a: &Self::Tensor, b: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// `out[b, n, i, j] = x[b, n, i, index[i, j]]`.
    fn pick_last(&mut self, x: &Self::Tensor, index: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// Swaps the last two axes.
    fn transpose(&mut self, x: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// The first token of each sequence, `[B, T, H]` to `[B, H]`.
    fn first_token(&mut self, x: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// Mean over the tokens that are no padding, `[B, T, H]` to `[B, H]`.
    fn mean_tokens(&mut self, x: &Self::Tensor) -> Result<Self::Tensor, Refused>;
    /// Division by the Euclidean length of the last axis.
    fn normalize(&mut self, x: &Self::Tensor) -> Result<Self::Tensor, Refused>;
}

/// Layers by the names of their weights.
pub(crate) trait Layers: Ops {
    /// `name.weight` `[outputs, inputs]` and `name.bias`.
    fn dense(
        &mut self,
        name: &str,
        x: &Self::Tensor,
        inputs: usize,
        outputs: usize,
        bias: bool,
    ) -> Result<Self::Tensor, Refused> {
        let w = self.weight(&format!("{name}.weight"), &[outputs, inputs])?;
        let b = if bias { Some(self.weight(&format!("{name}.bias"), &[outputs])?) } else { None };
        self.linear(x, &w, b.as_ref())
    }

    /// `name.weight` and `name.bias`, each `[size]`.
    fn norm(
        &mut self,
        name: &str,
        x: &Self::Tensor,
        size: usize,
        eps: f32,
        bias: bool,
    ) -> Result<Self::Tensor, Refused> {
        let w = self.weight(&format!("{name}.weight"), &[size])?;
        let b = if bias { Some(self.weight(&format!("{name}.bias"), &[size])?) } else { None };
        self.layer_norm(x, &w, b.as_ref(), eps)
    }
}

impl<O: Ops> Layers for O {}
