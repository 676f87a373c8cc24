//! Operations on the processor that candle would spread over a pool of its own, whose threads spin and wait for each other while
//! each of ours runs a batch.

use std::sync::LazyLock;

use ::candle_core::{CpuStorage, CustomOp1, CustomOp2, Error, InplaceOp2, Layout, Result, Shape, Tensor};

use crate::arch::Activation;

/// `x + b`, where `b` is as `x` or one of its rows.
pub(crate) fn add(x: &Tensor, b: &Tensor) -> Result<Tensor> {
    x.contiguous()?.apply_op2_no_bwd(&b.contiguous()?, &Add)
}

/// Adds a row to every row of a tensor that nobody else holds.
pub(crate) fn add_row(x: Tensor, b: &Tensor) -> Result<Tensor> {
    x.inplace_op2(&b.contiguous()?, &AddRow)?;
    Ok(x)
}

/// The activation of every element, where it is one of those that take time; `None` leaves it to candle.
pub(crate) fn activate(x: &Tensor, activation: Activation) -> Result<Option<Tensor>> {
    let x = x.contiguous()?;
    match activation {
        Activation::Gelu => {
            let nodes: &[[f32; 2]] = &GELU;
            x.apply_op1_no_bwd(&Map("gelu", |x| gelu(nodes, x))).map(Some)
        }
        Activation::Relu => x.apply_op1_no_bwd(&Map("relu", |x: f32| x.max(0.0))).map(Some),
        Activation::GeluTanh | Activation::Silu | Activation::Tanh => Ok(None),
    }
}

/// Softmax over the last axis of `[B, N, T, T]`, of each sequence's first `lengths[b]` places alone; the others get 0.
pub(crate) fn softmax(scores: &Tensor, lengths: &[usize]) -> Result<Tensor> {
    scores.contiguous()?.apply_op1_no_bwd(&Softmax { lengths: lengths.to_vec() })
}

/// Whether `b` is of `x`'s shape or repeats over the axes before its own.
pub(crate) fn repeats(x: &Tensor, b: &Tensor) -> bool {
    let own: Vec<usize> = b.dims().iter().copied().skip_while(|&n| n == 1).collect();
    x.dims().ends_with(&own) && !own.is_empty()
}

fn numbers<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(&storage.as_slice::<f32>()?[start..end]),
        None => Err(Error::Msg("a tensor is not contiguous".to_owned())),
    }
}

struct Add;

impl CustomOp2 for Add {
    fn name(&self) -> &'static str {
        "add"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Result<(CpuStorage, Shape)> {
        let (x, b) = (numbers(s1, l1)?, numbers(s2, l2)?);
        let mut sums = Vec::with_capacity(x.len());
        for row in x.chunks_exact(b.len().max(1)) {
            sums.extend(row.iter().zip(b).map(|(x, b)| x + b));
        }
        Ok((CpuStorage::F32(sums), l1.shape().clone()))
    }
}

struct AddRow;

impl InplaceOp2 for AddRow {
    fn name(&self) -> &'static str {
        "add_row"
    }

    fn cpu_fwd(&self, s1: &mut CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Result<()> {
        let b = numbers(s2, l2)?;
        let (CpuStorage::F32(x), Some((start, end))) = (s1, l1.contiguous_offsets()) else {
            return Err(Error::Msg("a product is not contiguous".to_owned()));
        };
        for row in x[start..end].chunks_exact_mut(b.len().max(1)) {
            row.iter_mut().zip(b).for_each(|(x, b)| *x += b);
        }
        Ok(())
    }
}

struct Map<F>(&'static str, F);

impl<F: Fn(f32) -> f32> CustomOp1 for Map<F> {
    fn name(&self) -> &'static str {
        self.0
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let mapped = numbers(storage, layout)?.iter().map(|x| (self.1)(*x)).collect();
        Ok((CpuStorage::F32(mapped), layout.shape().clone()))
    }
}

struct Softmax {
    lengths: Vec<usize>,
}

impl CustomOp1 for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (rows, heads, queries, keys) = layout.shape().dims4()?;
        let scores = numbers(storage, layout)?;
        let mut shares = vec![0.0; scores.len()];
        let of_row = (heads * queries * keys).max(1);
        if self.lengths.len() != rows || self.lengths.iter().any(|&n| n > keys) {
            return Err(Error::Msg(format!("{} lengths for {rows} rows of {keys}", self.lengths.len())));
        }
        let by_row = scores.chunks_exact(of_row).zip(shares.chunks_exact_mut(of_row));
        for ((scores, shares), &length) in by_row.zip(&self.lengths) {
            for (scores, shares) in scores.chunks_exact(keys).zip(shares.chunks_exact_mut(keys)) {
                let (scores, shares) = (&scores[..length], &mut shares[..length]);
                let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                shares.iter_mut().zip(scores).for_each(|(share, score)| *share = (score - most).exp());
                let whole: f32 = shares.iter().sum();
                shares.iter_mut().for_each(|share| *share /= whole);
            }
        }
        Ok((CpuStorage::F32(shares), layout.shape().clone()))
    }
}

/// Nodes of the table in a unit; the error between them is below 1e-9.
const NODES: f32 = 64.0;

/// Beyond, the function is `x` or 0 to the last bit.
const END: f32 = 6.0;

/// The exact GELU's value and slope at each node from `-END` on, the slope in units of the distance of nodes.
static GELU: LazyLock<Vec<[f32; 2]>> = LazyLock::new(|| {
    let node = |i: u32| {
        let x = f64::from(i) / f64::from(NODES) - f64::from(END);
        let below = 0.5 * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2));
        let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        [(x * below) as f32, ((below + x * density) / f64::from(NODES)) as f32]
    };
    (0..=(2.0 * END * NODES) as u32).map(node).collect()
});

/// `x` times the normal distribution function, between nodes by the cubic that has their values and slopes.
fn gelu(nodes: &[[f32; 2]], x: f32) -> f32 {
    if x >= END || x.is_nan() {
        return x;
    }
    if x <= -END {
        return 0.0;
    }
    let i = ((x + END) * NODES) as usize;
    // The difference is exact, which the sum is not.
    let t = (x - (i as f32 / NODES - END)) * NODES;
    let [Some([a, da]), Some([b, db])] = [nodes.get(i), nodes.get(i + 1)] else { return x };
    let rise = b - a;
    a + t * (da + t * (3.0 * rise - 2.0 * da - db + t * (da + db - 2.0 * rise)))
}

#[cfg(test)]
mod tests {
    use ::candle_core::{Device, Tensor};

    use super::*;

    #[test]
    fn gelu_is_the_exact_one() {
        for i in -80_000..=80_000 {
            let x = i as f32 / 10_000.0;
            let exact = 0.5 * f64::from(x) * (1.0 + libm::erf(f64::from(x) * std::f64::consts::FRAC_1_SQRT_2));
            let apart = (f64::from(gelu(&GELU, x)) - exact).abs();
            assert!(apart <= 2e-7 * f64::from(x.abs()).max(1.0), "{x}: {apart:e}");
        }
        assert!(gelu(&GELU, f32::NAN).is_nan());
        assert_eq!(gelu(&GELU, f32::INFINITY), f32::INFINITY);
        assert!(gelu(&GELU, f32::NEG_INFINITY).abs() < 1e-30);
    }

    #[test]
    fn padding_has_no_share() {
        let scores = Tensor::arange(0f32, 18.0, &Device::Cpu).unwrap().reshape((2, 1, 3, 3)).unwrap();
        let shares = softmax(&scores, &[3, 2]).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for row in shares.chunks(3) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{row:?}");
        }
        assert!(shares[..9].iter().all(|s| *s > 0.0) && shares[11].abs() < 1e-30, "{shares:?}");
        assert!(softmax(&scores, &[3]).is_err() && softmax(&scores, &[3, 4]).is_err());
    }

    #[test]
    fn rows_are_added_to_rows() {
        let x = Tensor::zeros((2, 2, 3), ::candle_core::DType::F32, &Device::Cpu).unwrap();
        let row = Tensor::new(&[[1f32, 2.0, 3.0]], &Device::Cpu).unwrap();
        assert!(repeats(&x, &row) && repeats(&x, &x) && !repeats(&x, &row.t().unwrap()));
        let want = [1f32, 2.0, 3.0].repeat(4);
        assert_eq!(add(&x, &row).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap(), want);
        assert_eq!(add_row(x, &row).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap(), want);
    }
}
