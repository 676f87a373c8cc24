use super::ops::Layers;
use super::positions::counted;
use super::{Activation, Config, Ops, Refused, Table};

/// BERT, RoBERTa, XLM-R and DistilBERT: one encoder under four sets of names.
#[derive(Debug, Clone)]
pub(crate) struct Bert {
    family: Family,
    vocabulary: usize,
    hidden: usize,
    layers: usize,
    heads: usize,
    intermediate: usize,
    positions: usize,
    first_position: usize,
    types: usize,
    eps: f32,
    activation: Activation,
    labels: usize,
    /// Sizes of the two hidden layers of a head on the pooled embedding, instead of the model's own head.
    head: Option<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Bert,
    Roberta,
    DistilBert,
}

impl Bert {
    pub(super) fn new(config: &Config, model_type: &str, head: Option<(usize, usize)>) -> Result<Self, Refused> {
        let kind = config.text_or("position_embedding_type", "absolute")?;
        if kind != "absolute" {
            return Err(format!("position_embedding_type {kind} is not supported"));
        }
        let labels = if head.is_some() { 1 } else { config.labels()?.len() };
        let vocabulary = config.size("vocab_size")?;
        let positions = config.size("max_position_embeddings")?;
        if model_type == "distilbert" {
            let (hidden, heads) = config.heads("dim", "n_heads")?;
            return Ok(Self {
                family: Family::DistilBert,
                vocabulary,
                hidden,
                layers: config.size("n_layers")?,
                heads,
                intermediate: config.size("hidden_dim")?,
                positions,
                first_position: 0,
                types: 0,
                eps: 1e-12,
                activation: Activation::parse(&config.text_or("activation", "gelu")?)?,
                labels,
                head,
            });
        }
        let family = if model_type == "bert" { Family::Bert } else { Family::Roberta };
        let (hidden, heads) = config.heads("hidden_size", "num_attention_heads")?;
        // RoBERTa counts its positions from the one after the padding's.
        let first_position = if family == Family::Roberta {
            usize::try_from(config.int_or("pad_token_id", 1)?).map_err(|_| "pad_token_id is negative")? + 1
        } else {
            0
        };
        if first_position >= positions {
            return Err(format!("config.json: {positions} positions leave none after the padding's"));
        }
        Ok(Self {
            family,
            vocabulary,
            hidden,
            layers: config.size("num_hidden_layers")?,
            heads,
            intermediate: config.size("intermediate_size")?,
            positions,
            first_position,
            types: config.size_or("type_vocab_size", 2)?,
            eps: config.number_or("layer_norm_eps", 1e-12)? as f32,
            activation: Activation::parse(&config.text_or("hidden_act", "gelu")?)?,
            labels,
            head,
        })
    }

    pub(super) fn max_tokens(&self) -> usize {
        self.positions - self.first_position
    }

    pub(super) fn tables(&self, tokens: usize) -> Vec<(&'static str, Table)> {
        let mut tables = vec![("positions", counted(tokens, self.first_position))];
        if self.types > 0 {
            tables.push(("first_type", Table::Ints(vec![0], vec![1])));
        }
        tables
    }

    pub(super) fn logits<O: Ops>(&self, ops: &mut O) -> Result<O::Tensor, Refused> {
        let h = self.hidden;
        let prefix = match (self.family, self.head) {
            // An encoder alone is stored without the name of the whole.
            (Family::Bert, Some(_)) => "",
            (Family::Bert, None) => "bert.",
            (Family::Roberta, _) => "roberta.",
            (Family::DistilBert, _) => "distilbert.",
        };
        let (ids, positions) = (ops.ids()?, ops.table("positions")?);
        let words = ops.weight(&format!("{prefix}embeddings.word_embeddings.weight"), &[self.vocabulary, h])?;
        let places = ops.weight(&format!("{prefix}embeddings.position_embeddings.weight"), &[self.positions, h])?;
        let (words, mut places) = (ops.rows(&words, &ids)?, ops.rows(&places, &positions)?);
        if self.types > 0 {
            let types = ops.weight(&format!("{prefix}embeddings.token_type_embeddings.weight"), &[self.types, h])?;
            let first = ops.table("first_type")?;
            let first = ops.rows(&types, &first)?;
            places = ops.add(&places, &first)?;
        }
        let mut x = ops.add(&words, &places)?;
        x = ops.norm(&format!("{prefix}embeddings.LayerNorm"), &x, h, self.eps, true)?;
        for i in 0..self.layers {
            x = self.layer(ops, prefix, i, &x)?;
        }
        self.classify(ops, &x)
    }

    fn layer<O: Ops>(&self, ops: &mut O, prefix: &str, i: usize, x: &O::Tensor) -> Result<O::Tensor, Refused> {
        let [query, key, value, out, out_norm, up, down, down_norm] = match self.family {
            Family::DistilBert => [
                "attention.q_lin",
                "attention.k_lin",
                "attention.v_lin",
                "attention.out_lin",
                "sa_layer_norm",
                "ffn.lin1",
                "ffn.lin2",
                "output_layer_norm",
            ],
            Family::Bert | Family::Roberta => [
                "attention.self.query",
                "attention.self.key",
                "attention.self.value",
                "attention.output.dense",
                "attention.output.LayerNorm",
                "intermediate.dense",
                "output.dense",
                "output.LayerNorm",
            ],
        };
        let stack = if self.family == Family::DistilBert { "transformer" } else { "encoder" };
        let name = |part: &str| format!("{prefix}{stack}.layer.{i}.{part}");
        let (h, heads) = (self.hidden, self.heads);
        let size = h / heads;
        let q = ops.dense(&name(query), x, h, h, true)?;
        let q = ops.scale(&q, 1.0 / (size as f32).sqrt())?;
        let k = ops.dense(&name(key), x, h, h, true)?;
        let v = ops.dense(&name(value), x, h, h, true)?;
        let q = ops.split_heads(&q, heads, size)?;
        let k = ops.split_heads(&k, heads, size)?;
        let v = ops.split_heads(&v, heads, size)?;
        let scores = ops.matmul_t(&q, &k)?;
        let shares = ops.masked_softmax(&scores)?;
        let read = ops.matmul(&shares, &v)?;
        let read = ops.merge_heads(&read, h)?;
        let read = ops.dense(&name(out), &read, h, h, true)?;
        let x = ops.add(&read, x)?;
        let x = ops.norm(&name(out_norm), &x, h, self.eps, true)?;
        let inner = ops.dense(&name(up), &x, h, self.intermediate, true)?;
        let inner = ops.activate(&inner, self.activation)?;
        let inner = ops.dense(&name(down), &inner, self.intermediate, h, true)?;
        let x = ops.add(&inner, &x)?;
        ops.norm(&name(down_norm), &x, h, self.eps, true)
    }

    fn classify<O: Ops>(&self, ops: &mut O, x: &O::Tensor) -> Result<O::Tensor, Refused> {
        let h = self.hidden;
        if let Some((first, second)) = self.head {
            let x = ops.mean_tokens(x)?;
            let x = ops.normalize(&x)?;
            let x = ops.dense("head.0", &x, h, first, true)?;
            let x = ops.activate(&x, Activation::Relu)?;
            let x = ops.dense("head.1", &x, first, second, true)?;
            let x = ops.activate(&x, Activation::Relu)?;
            return ops.dense("head.2", &x, second, 1, true);
        }
        let (dense, activation, out) = match self.family {
            Family::Bert => ("bert.pooler.dense", Activation::Tanh, "classifier"),
            Family::Roberta => ("classifier.dense", Activation::Tanh, "classifier.out_proj"),
            Family::DistilBert => ("pre_classifier", Activation::Relu, "classifier"),
        };
        let x = ops.first_token(x)?;
        let x = ops.dense(dense, &x, h, h, true)?;
        let x = ops.activate(&x, activation)?;
        ops.dense(out, &x, h, self.labels, true)
    }
}
