use serde_json::Value;

use super::ops::Layers;
use super::positions::{near, rotary};
use super::{Activation, Config, Ops, Refused, Table};

/// ModernBERT: rotary positions, gated units, and attention to near tokens alone in most layers.
#[derive(Debug, Clone)]
pub(crate) struct ModernBert {
    vocabulary: usize,
    hidden: usize,
    heads: usize,
    intermediate: usize,
    positions: usize,
    /// Whether each layer reads near tokens alone.
    local: Vec<bool>,
    reach: usize,
    global_theta: f64,
    local_theta: f64,
    eps: f32,
    activation: Activation,
    classifier_activation: Activation,
    attention_bias: bool,
    mlp_bias: bool,
    norm_bias: bool,
    classifier_bias: bool,
    mean_pooling: bool,
    labels: usize,
}

impl ModernBert {
    pub(super) fn new(config: &Config) -> Result<Self, Refused> {
        let (hidden, heads) = config.heads("hidden_size", "num_attention_heads")?;
        if !(hidden / heads).is_multiple_of(2) {
            return Err(format!("config.json: {} units a head cannot be rotated in pairs", hidden / heads));
        }
        let layers = config.size("num_hidden_layers")?;
        // Checked where layer_types overrides it too: a config that says both says one of them wrongly.
        let every = config.size_or("global_attn_every_n_layers", 3)?;
        let local = match config.get("layer_types").and_then(Value::as_array) {
            Some(types) if types.len() == layers => types
                .iter()
                .map(|t| match t.as_str() {
                    Some("sliding_attention") => Ok(true),
                    Some("full_attention") => Ok(false),
                    _ => Err(format!("layer type {t} is not supported")),
                })
                .collect::<Result<_, _>>()?,
            Some(types) => return Err(format!("config.json: {} layer types for {layers} layers", types.len())),
            None => (0..layers).map(|i| i % every != 0).collect(),
        };
        let theta = |kind: &str, key: &str, default: f64| -> Result<f64, Refused> {
            let Some(parameters) = config.get("rope_parameters").and_then(|p| p.get(kind)).filter(|p| !p.is_null())
            else {
                return config.number_or(key, default);
            };
            let rope = parameters.get("rope_type").and_then(Value::as_str).unwrap_or("default");
            if rope != "default" {
                return Err(format!("rope_type {rope} is not supported"));
            }
            match parameters.get("rope_theta") {
                Some(value) => {
                    value.as_f64().ok_or_else(|| format!("config.json: rope_theta is {value}, not a number"))
                }
                None => config.number_or(key, default),
            }
        };
        let mean_pooling = match config.text_or("classifier_pooling", "cls")?.as_str() {
            "cls" => false,
            "mean" => true,
            other => return Err(format!("classifier_pooling {other} is not supported")),
        };
        Ok(Self {
            vocabulary: config.size("vocab_size")?,
            hidden,
            heads,
            intermediate: config.size("intermediate_size")?,
            positions: config.size("max_position_embeddings")?,
            local,
            reach: config.size_or("local_attention", 128)? / 2,
            global_theta: theta("full_attention", "global_rope_theta", 160_000.0)?,
            local_theta: theta("sliding_attention", "local_rope_theta", 10_000.0)?,
            eps: config.number_or("norm_eps", 1e-5)? as f32,
            activation: Activation::parse(&config.text_or("hidden_activation", "gelu")?)?,
            classifier_activation: Activation::parse(&config.text_or("classifier_activation", "gelu")?)?,
            attention_bias: config.flag_or("attention_bias", false)?,
            mlp_bias: config.flag_or("mlp_bias", false)?,
            norm_bias: config.flag_or("norm_bias", false)?,
            classifier_bias: config.flag_or("classifier_bias", false)?,
            mean_pooling,
            labels: config.labels()?.len(),
        })
    }

    pub(super) fn max_tokens(&self) -> usize {
        self.positions
    }

    pub(super) fn tables(&self, tokens: usize) -> Vec<(&'static str, Table)> {
        let size = self.hidden / self.heads;
        let mut tables = Vec::new();
        if self.local.contains(&false) {
            let (cosines, sines) = rotary(tokens, size, self.global_theta);
            tables.extend([("global_cosines", cosines), ("global_sines", sines)]);
        }
        if self.local.contains(&true) {
            let (cosines, sines) = rotary(tokens, size, self.local_theta);
            tables.extend([("local_cosines", cosines), ("local_sines", sines), ("near", near(tokens, self.reach))]);
        }
        tables
    }

    pub(super) fn logits<O: Ops>(&self, ops: &mut O) -> Result<O::Tensor, Refused> {
        let (h, eps) = (self.hidden, self.eps);
        let ids = ops.ids()?;
        let words = ops.weight("model.embeddings.tok_embeddings.weight", &[self.vocabulary, h])?;
        let x = ops.rows(&words, &ids)?;
        let mut x = ops.norm("model.embeddings.norm", &x, h, eps, self.norm_bias)?;
        for i in 0..self.local.len() {
            x = self.layer(ops, i, &x)?;
        }
        let x = ops.norm("model.final_norm", &x, h, eps, self.norm_bias)?;
        let x = if self.mean_pooling { ops.mean_tokens(&x)? } else { ops.first_token(&x)? };
        let x = ops.dense("head.dense", &x, h, h, self.classifier_bias)?;
        let x = ops.activate(&x, self.classifier_activation)?;
        let x = ops.norm("head.norm", &x, h, eps, self.norm_bias)?;
        ops.dense("classifier", &x, h, self.labels, true)
    }

    fn layer<O: Ops>(&self, ops: &mut O, i: usize, x: &O::Tensor) -> Result<O::Tensor, Refused> {
        let name = |part: &str| format!("model.layers.{i}.{part}");
        let (h, heads, eps) = (self.hidden, self.heads, self.eps);
        let size = h / heads;
        // The embeddings are normalised already when the first layer reads them.
        let read = if i == 0 { x.clone() } else { ops.norm(&name("attn_norm"), x, h, eps, self.norm_bias)? };
        let qkv = ops.dense(&name("attn.Wqkv"), &read, h, 3 * h, self.attention_bias)?;
        let (cosines, sines) = if self.local[i] {
            (ops.table("local_cosines")?, ops.table("local_sines")?)
        } else {
            (ops.table("global_cosines")?, ops.table("global_sines")?)
        };
        let q = ops.slice_last(&qkv, 0, h)?;
        let q = ops.scale(&q, 1.0 / (size as f32).sqrt())?;
        let q = ops.split_heads(&q, heads, size)?;
        let q = rotate(ops, &q, &cosines, &sines, size)?;
        let k = ops.slice_last(&qkv, h, h)?;
        let k = ops.split_heads(&k, heads, size)?;
        let k = rotate(ops, &k, &cosines, &sines, size)?;
        let v = ops.slice_last(&qkv, 2 * h, h)?;
        let v = ops.split_heads(&v, heads, size)?;
        let mut scores = ops.matmul_t(&q, &k)?;
        if self.local[i] {
            let near = ops.table("near")?;
            scores = ops.add(&scores, &near)?;
        }
        let shares = ops.masked_softmax(&scores)?;
        let read = ops.matmul(&shares, &v)?;
        let read = ops.merge_heads(&read, h)?;
        let read = ops.dense(&name("attn.Wo"), &read, h, h, self.attention_bias)?;
        let x = ops.add(&read, x)?;

        let read = ops.norm(&name("mlp_norm"), &x, h, eps, self.norm_bias)?;
        let both = ops.dense(&name("mlp.Wi"), &read, h, 2 * self.intermediate, self.mlp_bias)?;
        let inner = ops.slice_last(&both, 0, self.intermediate)?;
        let inner = ops.activate(&inner, self.activation)?;
        let gate = ops.slice_last(&both, self.intermediate, self.intermediate)?;
        let inner = ops.mul(&inner, &gate)?;
        let inner = ops.dense(&name("mlp.Wo"), &inner, self.intermediate, h, self.mlp_bias)?;
        ops.add(&x, &inner)
    }
}

/// Rotates the pairs (k, k + size / 2) of each head by the angles of the tables.
fn rotate<O: Ops>(
    ops: &mut O,
    x: &O::Tensor,
    cosines: &O::Tensor,
    sines: &O::Tensor,
    size: usize,
) -> Result<O::Tensor, Refused> {
    let half = size / 2;
    let (first, second) = (ops.slice_last(x, 0, half)?, ops.slice_last(x, half, half)?);
    let second = ops.scale(&second, -1.0)?;
    let turned = ops.join_last(&second, &first)?;
    let (a, b) = (ops.mul(x, cosines)?, ops.mul(&turned, sines)?);
    ops.add(&a, &b)
}
