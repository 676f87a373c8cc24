use serde_json::Value;

use super::ops::Layers;
use super::positions::{counted, relative};
use super::{Activation, Config, Ops, Refused, Table};

/// DeBERTa v2 and v3: attention that reads content and relative position apart.
#[derive(Debug, Clone)]
pub(crate) struct Deberta {
    vocabulary: usize,
    embedding: usize,
    hidden: usize,
    layers: usize,
    heads: usize,
    intermediate: usize,
    positions: usize,
    absolute: bool,
    types: usize,
    buckets: i64,
    farthest: i64,
    span: usize,
    content_to_position: bool,
    position_to_content: bool,
    share_keys: bool,
    norm_relative: bool,
    eps: f32,
    activation: Activation,
    pooler_activation: Activation,
    labels: usize,
}

impl Deberta {
    pub(super) fn new(config: &Config) -> Result<Self, Refused> {
        if config.int_or("conv_kernel_size", 0)? > 0 {
            return Err("conv layers (conv_kernel_size) are not supported".to_owned());
        }
        let (hidden, heads) = config.heads("hidden_size", "num_attention_heads")?;
        for (key, want) in [("attention_head_size", hidden / heads), ("pooler_hidden_size", hidden)] {
            let found = config.size_or(key, want)?;
            if found != want {
                return Err(format!(
                    "config.json: {key} {found} is not supported with {hidden} hidden units and {heads} heads"
                ));
            }
        }
        let positions = config.size("max_position_embeddings")?;
        let relative = config.flag_or("relative_attention", false)?;
        let farthest = match config.int_or("max_relative_positions", -1)? {
            n if n < 1 => positions as i64,
            n => n,
        };
        let buckets = config.int_or("position_buckets", -1)?;
        let kinds: Vec<String> = match config.get("pos_att_type") {
            None => Vec::new(),
            Some(Value::String(kinds)) => kinds.split('|').map(str::to_owned).collect(),
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(other) => return Err(format!("config.json: pos_att_type is {other}, not a list")),
        };
        let kinds: Vec<&str> = kinds.iter().map(|k| k.trim()).filter(|k| !k.is_empty()).collect();
        if let Some(unknown) = kinds.iter().find(|k| !["c2p", "p2c"].contains(k)) {
            return Err(format!("pos_att_type {unknown} is not supported"));
        }
        Ok(Self {
            vocabulary: config.size("vocab_size")?,
            embedding: config.size_or("embedding_size", hidden)?,
            hidden,
            layers: config.size("num_hidden_layers")?,
            heads,
            intermediate: config.size("intermediate_size")?,
            positions,
            absolute: config.flag_or("position_biased_input", true)?,
            types: usize::try_from(config.int_or("type_vocab_size", 0)?).map_err(|_| "type_vocab_size is negative")?,
            buckets,
            farthest,
            span: usize::try_from(if buckets > 0 { buckets } else { farthest }).map_err(|_| "no relative positions")?,
            content_to_position: relative && kinds.contains(&"c2p"),
            position_to_content: relative && kinds.contains(&"p2c"),
            share_keys: config.flag_or("share_att_key", false)?,
            norm_relative: config.text_or("norm_rel_ebd", "none")?.split('|').any(|n| n.trim() == "layer_norm"),
            eps: config.number_or("layer_norm_eps", 1e-7)? as f32,
            activation: Activation::parse(&config.text_or("hidden_act", "gelu")?)?,
            pooler_activation: Activation::parse(&config.text_or("pooler_hidden_act", "gelu")?)?,
            labels: config.labels()?.len(),
        })
    }

    pub(super) fn max_tokens(&self) -> usize {
        // Relative positions beyond the farthest are clamped, so only absolute ones set a limit of the table; models are
        // trained up to the same number.
        self.positions
    }

    pub(super) fn tables(&self, tokens: usize) -> Vec<(&'static str, Table)> {
        let mut tables = Vec::new();
        let span = self.span as i64;
        if self.absolute {
            tables.push(("positions", counted(tokens, 0)));
        }
        if self.types > 0 {
            tables.push(("first_type", Table::Ints(vec![0], vec![1])));
        }
        if self.content_to_position {
            tables.push(("content_to_position", relative(tokens, self.buckets, self.farthest, span, 1)));
        }
        if self.position_to_content {
            tables.push(("position_to_content", relative(tokens, self.buckets, self.farthest, span, -1)));
        }
        tables
    }

    pub(super) fn logits<O: Ops>(&self, ops: &mut O) -> Result<O::Tensor, Refused> {
        let (h, e) = (self.hidden, self.embedding);
        let ids = ops.ids()?;
        let words = ops.weight("deberta.embeddings.word_embeddings.weight", &[self.vocabulary, e])?;
        let mut x = ops.rows(&words, &ids)?;
        if self.absolute {
            let places = ops.weight("deberta.embeddings.position_embeddings.weight", &[self.positions, e])?;
            let positions = ops.table("positions")?;
            let places = ops.rows(&places, &positions)?;
            x = ops.add(&x, &places)?;
        }
        if self.types > 0 {
            let types = ops.weight("deberta.embeddings.token_type_embeddings.weight", &[self.types, e])?;
            let first = ops.table("first_type")?;
            let first = ops.rows(&types, &first)?;
            x = ops.add(&x, &first)?;
        }
        if e != h {
            x = ops.dense("deberta.embeddings.embed_proj", &x, e, h, false)?;
        }
        x = ops.norm("deberta.embeddings.LayerNorm", &x, h, self.eps, true)?;
        let kept = ops.kept()?;
        x = ops.mul(&x, &kept)?;

        let relations = if self.content_to_position || self.position_to_content {
            let table = ops.weight("deberta.encoder.rel_embeddings.weight", &[2 * self.span, h])?;
            Some(if self.norm_relative {
                ops.norm("deberta.encoder.LayerNorm", &table, h, self.eps, true)?
            } else {
                table
            })
        } else {
            None
        };
        for i in 0..self.layers {
            x = self.layer(ops, i, &x, relations.as_ref())?;
        }
        let x = ops.first_token(&x)?;
        let x = ops.dense("pooler.dense", &x, h, h, true)?;
        let x = ops.activate(&x, self.pooler_activation)?;
        ops.dense("classifier", &x, h, self.labels, true)
    }

    fn layer<O: Ops>(
        &self,
        ops: &mut O,
        i: usize,
        x: &O::Tensor,
        relations: Option<&O::Tensor>,
    ) -> Result<O::Tensor, Refused> {
        let name = |part: &str| format!("deberta.encoder.layer.{i}.{part}");
        let (h, heads) = (self.hidden, self.heads);
        let size = h / heads;
        let parts = 1 + usize::from(self.content_to_position) + usize::from(self.position_to_content);
        let scale = 1.0 / ((size * parts) as f32).sqrt();
        let q = ops.dense(&name("attention.self.query_proj"), x, h, h, true)?;
        let k = ops.dense(&name("attention.self.key_proj"), x, h, h, true)?;
        let v = ops.dense(&name("attention.self.value_proj"), x, h, h, true)?;
        // Every term of the sum has one factor from a query and one from a key: scaling the shorter of the two products'
        // operands once scales them all.
        let q_scaled = ops.scale(&q, scale)?;
        let q_scaled = ops.split_heads(&q_scaled, heads, size)?;
        let k = ops.split_heads(&k, heads, size)?;
        let v = ops.split_heads(&v, heads, size)?;
        let mut scores = ops.matmul_t(&q_scaled, &k)?;
        if let Some(relations) = relations {
            if self.content_to_position {
                let keys = if self.share_keys { "key_proj" } else { "pos_key_proj" };
                let keys = ops.dense(&name(&format!("attention.self.{keys}")), relations, h, h, true)?;
                let keys = ops.split_table(&keys, heads, size)?;
                let all = ops.matmul_t(&q_scaled, &keys)?;
                let index = ops.table("content_to_position")?;
                let picked = ops.pick_last(&all, &index)?;
                scores = ops.add(&scores, &picked)?;
            }
            if self.position_to_content {
                let queries = if self.share_keys { "query_proj" } else { "pos_query_proj" };
                let queries = ops.dense(&name(&format!("attention.self.{queries}")), relations, h, h, true)?;
                let queries = ops.scale(&queries, scale)?;
                let queries = ops.split_table(&queries, heads, size)?;
                let all = ops.matmul_t(&k, &queries)?;
                let index = ops.table("position_to_content")?;
                let picked = ops.pick_last(&all, &index)?;
                let picked = ops.transpose(&picked)?;
                scores = ops.add(&scores, &picked)?;
            }
        }
        let shares = ops.masked_softmax(&scores)?;
        let read = ops.matmul(&shares, &v)?;
        let read = ops.merge_heads(&read, h)?;
        let read = ops.dense(&name("attention.output.dense"), &read, h, h, true)?;
        let x = ops.add(&read, x)?;
        let x = ops.norm(&name("attention.output.LayerNorm"), &x, h, self.eps, true)?;
        let inner = ops.dense(&name("intermediate.dense"), &x, h, self.intermediate, true)?;
        let inner = ops.activate(&inner, self.activation)?;
        let inner = ops.dense(&name("output.dense"), &inner, self.intermediate, h, true)?;
        let x = ops.add(&inner, &x)?;
        ops.norm(&name("output.LayerNorm"), &x, h, self.eps, true)
    }
}
