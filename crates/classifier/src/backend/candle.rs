use std::collections::HashMap;
use std::sync::Mutex;

use ::candle_core::{D, DType, Device, Tensor};

use super::cpu;
use crate::arch::{Activation, Architecture, Ops, Table};
use crate::weights::Weights;
use crate::{Backend, ClassifierError, TokenBatch};

/// candle, in Rust alone.
pub(crate) struct Candle {
    model: String,
    architecture: Architecture,
    device: Device,
    threads: usize,
    weights: HashMap<String, Tensor>,
    /// Tables by number of tokens: few lengths, and those of the longest windows over and over.
    tables: Mutex<HashMap<usize, HashMap<&'static str, Tensor>>>,
}

impl Candle {
    /// Loads the weights, and runs two tokens so that a name or shape that does not fit shows now.
    pub(crate) fn new(
        model: &str,
        architecture: Architecture,
        weights: Weights,
        threads: usize,
        device: Device,
    ) -> Result<Self, ClassifierError> {
        let mut engine = Self {
            model: model.to_owned(),
            architecture,
            device,
            threads,
            weights: HashMap::new(),
            tables: Mutex::default(),
        };
        let batch = TokenBatch { ids: vec![0, 0], lengths: vec![2], tokens: 2 };
        let mut run = Run::new(&engine, &batch, Some(weights)).map_err(|m| engine.refused(m))?;
        engine.architecture.logits(&mut run).map_err(|m| engine.refused(m))?;
        engine.weights = run.loaded;
        Ok(engine)
    }

    fn refused(&self, message: String) -> ClassifierError {
        ClassifierError::Model { model: self.model.clone(), message }
    }

    fn tables(&self, tokens: usize) -> Result<HashMap<&'static str, Tensor>, String> {
        let mut all = self.tables.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(tables) = all.get(&tokens) {
            return Ok(tables.clone());
        }
        let mut tables = HashMap::new();
        for (name, table) in self.architecture.tables(tokens) {
            let tensor = match table {
                Table::Ints(rows, shape) => {
                    let rows: Vec<u32> = rows.into_iter().map(|r| u32::try_from(r).unwrap_or(0)).collect();
                    Tensor::from_vec(rows, shape, &self.device)
                }
                Table::Floats(numbers, shape) => Tensor::from_vec(numbers, shape, &self.device),
            };
            tables.insert(name, tensor.map_err(text)?);
        }
        // The tables of 64 lengths of 512 tokens take 200 MB at most; a run that sees more lengths starts over.
        if all.len() >= 64 {
            all.clear();
        }
        all.insert(tokens, tables.clone());
        Ok(tables)
    }
}

impl Backend for Candle {
    fn name(&self) -> String {
        if self.device.is_cpu() { "candle 0.11".to_owned() } else { "candle 0.11, CUDA".to_owned() }
    }

    fn workers(&self) -> usize {
        if self.device.is_cpu() { self.threads } else { 1 }
    }

    fn logits(&self, batch: &TokenBatch) -> Result<Vec<f32>, ClassifierError> {
        let run = || -> Result<Vec<f32>, String> {
            let mut run = Run::new(self, batch, None)?;
            let logits = self.architecture.logits(&mut run)?;
            logits.flatten_all().and_then(|l| l.to_vec1()).map_err(text)
        };
        run().map_err(|m| self.refused(m))
    }
}

/// One batch on its way through the model.
struct Run<'a> {
    engine: &'a Candle,
    ids: Tensor,
    /// `[B, T, 1]`; absent when no row is padded.
    kept: Option<Tensor>,
    /// Added to scores, `[B, 1, 1, T]`; absent when no row is padded.
    bias: Option<Tensor>,
    lengths: &'a [usize],
    rows: usize,
    tokens: usize,
    tables: HashMap<&'static str, Tensor>,
    source: Option<Weights>,
    loaded: HashMap<String, Tensor>,
}

fn text(e: ::candle_core::Error) -> String {
    // The engine appends a backtrace to some of its errors.
    e.to_string().lines().next().unwrap_or_default().to_owned()
}

impl<'a> Run<'a> {
    fn new(engine: &'a Candle, batch: &'a TokenBatch, source: Option<Weights>) -> Result<Self, String> {
        let (rows, tokens, device) = (batch.lengths.len(), batch.tokens, &engine.device);
        let ids = Tensor::from_slice(&batch.ids, (rows, tokens), device).map_err(text)?;
        let (kept, bias) = if batch.is_even() {
            (None, None)
        } else {
            let kept = batch.kept();
            let bias: Vec<f32> = kept.iter().map(|k| if *k > 0.0 { 0.0 } else { crate::arch::MASKED }).collect();
            (
                Some(Tensor::from_vec(kept, (rows, tokens, 1), device).map_err(text)?),
                Some(Tensor::from_vec(bias, (rows, 1, 1, tokens), device).map_err(text)?),
            )
        };
        let tables = engine.tables(tokens)?;
        let lengths = &batch.lengths;
        Ok(Self { engine, ids, kept, bias, lengths, rows, tokens, tables, source, loaded: HashMap::new() })
    }
}

impl Ops for Run<'_> {
    type Tensor = Tensor;

    fn weight(&mut self, name: &str, shape: &[usize]) -> Result<Tensor, String> {
        if let Some(tensor) = self.engine.weights.get(name).or_else(|| self.loaded.get(name)) {
            return Ok(tensor.clone());
        }
        let source = self.source.as_mut().ok_or_else(|| format!("tensor {name} was not loaded"))?;
        let tensor = Tensor::from_vec(source.take(name, shape)?, shape, &self.engine.device).map_err(text)?;
        self.loaded.insert(name.to_owned(), tensor.clone());
        Ok(tensor)
    }

    fn ids(&mut self) -> Result<Tensor, String> {
        Ok(self.ids.clone())
    }

    fn kept(&mut self) -> Result<Tensor, String> {
        match &self.kept {
            Some(kept) => Ok(kept.clone()),
            None => Tensor::ones((1, 1, 1), DType::F32, &self.engine.device).map_err(text),
        }
    }

    fn table(&mut self, name: &'static str) -> Result<Tensor, String> {
        self.tables.get(name).cloned().ok_or_else(|| format!("no table {name}"))
    }

    fn rows(&mut self, weight: &Tensor, ids: &Tensor) -> Result<Tensor, String> {
        let hidden = weight.dim(D::Minus1).map_err(text)?;
        let mut shape = ids.dims().to_vec();
        shape.push(hidden);
        ids.flatten_all().and_then(|ids| weight.index_select(&ids, 0)).and_then(|x| x.reshape(shape)).map_err(text)
    }

    fn linear(&mut self, x: &Tensor, w: &Tensor, b: Option<&Tensor>) -> Result<Tensor, String> {
        let run = || {
            let mut shape = x.dims().to_vec();
            let inputs = shape.pop().unwrap_or(1);
            shape.push(w.dim(0)?);
            let flat = x.reshape(((), inputs))?.matmul(&w.t()?)?;
            let flat = match b {
                Some(b) if self.engine.device.is_cpu() => cpu::add_row(flat, b)?,
                Some(b) => flat.broadcast_add(b)?,
                None => flat,
            };
            flat.reshape(shape)
        };
        run().map_err(text)
    }

    fn matmul_t(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor, String> {
        let run = || {
            let b = b.t()?;
            if a.dims()[..2] == b.dims()[..2] { a.matmul(&b) } else { a.broadcast_matmul(&b) }
        };
        run().map_err(text)
    }

    fn matmul(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor, String> {
        a.matmul(b).map_err(text)
    }

    fn add(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor, String> {
        if self.engine.device.is_cpu() && cpu::repeats(a, b) {
            return cpu::add(a, b).map_err(text);
        }
        if a.dims() == b.dims() { a.add(b) } else { a.broadcast_add(b) }.map_err(text)
    }

    fn mul(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor, String> {
        if a.dims() == b.dims() { a.mul(b) } else { a.broadcast_mul(b) }.map_err(text)
    }

    fn scale(&mut self, a: &Tensor, by: f32) -> Result<Tensor, String> {
        a.affine(f64::from(by), 0.0).map_err(text)
    }

    fn layer_norm(&mut self, x: &Tensor, w: &Tensor, b: Option<&Tensor>, eps: f32) -> Result<Tensor, String> {
        let run = || {
            let x = x.contiguous()?;
            match b {
                Some(b) => candle_nn::ops::layer_norm(&x, w, b, eps),
                None => candle_nn::ops::layer_norm(&x, w, &w.zeros_like()?, eps),
            }
        };
        run().map_err(text)
    }

    fn activate(&mut self, x: &Tensor, activation: Activation) -> Result<Tensor, String> {
        if self.engine.device.is_cpu()
            && let Some(activated) = cpu::activate(x, activation).map_err(text)?
        {
            return Ok(activated);
        }
        match activation {
            Activation::Gelu => x.gelu_erf(),
            Activation::GeluTanh => x.gelu(),
            Activation::Relu => x.relu(),
            Activation::Silu => x.silu(),
            Activation::Tanh => x.tanh(),
        }
        .map_err(text)
    }

    fn masked_softmax(&mut self, scores: &Tensor) -> Result<Tensor, String> {
        if self.engine.device.is_cpu() {
            return cpu::softmax(scores, self.lengths).map_err(text);
        }
        let scores = match &self.bias {
            Some(bias) => scores.broadcast_add(bias).map_err(text)?,
            None => scores.clone(),
        };
        scores.contiguous().and_then(|s| candle_nn::ops::softmax_last_dim(&s)).map_err(text)
    }

    fn split_heads(&mut self, x: &Tensor, heads: usize, head_size: usize) -> Result<Tensor, String> {
        x.dim(0)
            .and_then(|rows| x.reshape((rows, (), heads, head_size)))
            .and_then(|x| x.transpose(1, 2))
            .and_then(|x| x.contiguous())
            .map_err(text)
    }

    fn split_table(&mut self, x: &Tensor, heads: usize, head_size: usize) -> Result<Tensor, String> {
        x.unsqueeze(0).map_err(text).and_then(|x| self.split_heads(&x, heads, head_size))
    }

    fn merge_heads(&mut self, x: &Tensor, hidden: usize) -> Result<Tensor, String> {
        x.transpose(1, 2)
            .and_then(|x| x.contiguous())
            .and_then(|x| x.reshape((self.rows, self.tokens, hidden)))
            .map_err(text)
    }

    fn slice_last(&mut self, x: &Tensor, start: usize, length: usize) -> Result<Tensor, String> {
        x.narrow(D::Minus1, start, length).and_then(|x| x.contiguous()).map_err(text)
    }

    fn join_last(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor, String> {
        Tensor::cat(&[a, b], D::Minus1).map_err(text)
    }

    fn pick_last(&mut self, x: &Tensor, index: &Tensor) -> Result<Tensor, String> {
        let run = || {
            let (rows, heads, tokens, _) = x.dims4()?;
            let index = index.broadcast_as((rows, heads, tokens, tokens))?.contiguous()?;
            x.contiguous()?.gather(&index, D::Minus1)
        };
        run().map_err(text)
    }

    fn transpose(&mut self, x: &Tensor) -> Result<Tensor, String> {
        x.t().map_err(text)
    }

    fn first_token(&mut self, x: &Tensor) -> Result<Tensor, String> {
        x.narrow(1, 0, 1).and_then(|x| x.squeeze(1)).and_then(|x| x.contiguous()).map_err(text)
    }

    fn mean_tokens(&mut self, x: &Tensor) -> Result<Tensor, String> {
        let run = || match &self.kept {
            Some(kept) => x.broadcast_mul(kept)?.sum(1)?.broadcast_div(&kept.sum(1)?),
            None => x.mean(1),
        };
        run().map_err(text)
    }

    fn normalize(&mut self, x: &Tensor) -> Result<Tensor, String> {
        let run = || x.broadcast_div(&x.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?.maximum(1e-12)?);
        run().map_err(text)
    }
}
