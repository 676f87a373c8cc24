use std::collections::BTreeMap;

use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

/// A model's weights as single-precision numbers, each handed out once.
pub(crate) struct Weights {
    tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl Weights {
    /// Reads the bytes of a safetensors file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let file = SafeTensors::deserialize(bytes).map_err(|e| format!("model.safetensors cannot be read: {e}"))?;
        let mut tensors = BTreeMap::new();
        for (name, view) in file.iter() {
            let data = view.data();
            let numbers = match view.dtype() {
                Dtype::F32 => numbers(data, f32::from_le_bytes),
                Dtype::F16 => numbers(data, |b| half::f16::from_le_bytes(b).to_f32()),
                Dtype::BF16 => numbers(data, |b| half::bf16::from_le_bytes(b).to_f32()),
                // Position ids and the like, which are computed.
                _ => continue,
            };
            tensors.insert(name.to_owned(), (view.shape().to_vec(), numbers));
        }
        Ok(Self { tensors })
    }

    /// Adds the three layers of a head on the pooled embedding; returns the sizes of its two hidden layers.
    pub(crate) fn add_head(&mut self, json: &[u8]) -> Result<(usize, usize), String> {
        #[derive(Deserialize)]
        struct Head {
            w_h1: Vec<Vec<f32>>,
            b_h1: Vec<f32>,
            w_h2: Vec<Vec<f32>>,
            b_h2: Vec<f32>,
            w_out: Vec<Vec<f32>>,
            b_out: Vec<f32>,
        }
        let head: Head = serde_json::from_slice(json).map_err(|e| format!("head.json cannot be read: {e}"))?;
        let sizes = (head.b_h1.len(), head.b_h2.len());
        let layers = [(head.w_h1, head.b_h1), (head.w_h2, head.b_h2), (head.w_out, head.b_out)];
        for (i, (w, b)) in layers.into_iter().enumerate() {
            let (rows, columns) = (w.len(), w.first().map_or(0, Vec::len));
            if rows != b.len() || columns == 0 || w.iter().any(|row| row.len() != columns) {
                return Err(format!(
                    "head.json: layer {} has {} biases for {rows} rows of uneven length",
                    i + 1,
                    b.len()
                ));
            }
            self.tensors.insert(format!("head.{i}.weight"), (vec![rows, columns], w.concat()));
            self.tensors.insert(format!("head.{i}.bias"), (vec![rows], b));
        }
        Ok(sizes)
    }

    /// Takes a weight out; what stays is let go with the rest.
    pub(crate) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let Some((found, _)) = self.tensors.get(name) else {
            let some: Vec<&str> = self.tensors.keys().take(2).map(|k| k.as_str()).collect();
            return Err(format!("model.safetensors has no tensor {name}; it has {}, …", some.join(", ")));
        };
        if found != shape {
            return Err(format!("tensor {name} has shape {found:?}, not {shape:?}"));
        }
        let (_, numbers) = self.tensors.remove(name).unwrap_or_default();
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err(format!("tensor {name} holds values that are no finite numbers"));
        }
        Ok(numbers)
    }
}

fn numbers<const N: usize>(data: &[u8], number: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    data.chunks_exact(N).filter_map(|b| b.try_into().ok()).map(number).collect()
}
