//! Architectures, written once over a small set of operations, so that every engine that has the operations runs every
//! architecture.

mod bert;
mod config;
mod deberta;
mod modernbert;
mod ops;
mod positions;

pub(crate) use config::Config;
pub(crate) use ops::{Activation, Ops, Table};
pub(crate) use positions::MASKED;

use bert::Bert;
use deberta::Deberta;
use modernbert::ModernBert;

/// An encoder and its classification head.
#[derive(Debug, Clone)]
pub(crate) enum Architecture {
    Bert(Bert),
    Deberta(Deberta),
    ModernBert(ModernBert),
}

/// A refusal in words that follow the model's name.
pub(crate) type Refused = String;

impl Architecture {
    /// Reads a config; what the engine cannot run is refused by name.
    pub(crate) fn new(config: &Config, head: Option<(usize, usize)>) -> Result<Self, Refused> {
        let model_type = config.text("model_type")?;
        if head.is_none() {
            config.check_sequence_classification()?;
        }
        match (model_type.as_str(), head) {
            ("bert" | "distilbert" | "roberta" | "xlm-roberta", _) => {
                Ok(Self::Bert(Bert::new(config, &model_type, head)?))
            }
            (_, Some(_)) => Err(format!("a pooled head goes with a BERT encoder, not with model_type {model_type}")),
            ("deberta-v2", None) => Ok(Self::Deberta(Deberta::new(config)?)),
            ("modernbert", None) => Ok(Self::ModernBert(ModernBert::new(config)?)),
            _ => Err(format!(
                "model_type {model_type} is not supported; bert, deberta-v2, distilbert, modernbert, roberta and xlm-roberta are"
            )),
        }
    }

    /// The longest sequence that the position tables allow, with special tokens.
    pub(crate) fn max_tokens(&self) -> usize {
        match self {
            Self::Bert(m) => m.max_tokens(),
            Self::Deberta(m) => m.max_tokens(),
            Self::ModernBert(m) => m.max_tokens(),
        }
    }

    /// The tables that a sequence of `tokens` needs besides its ids: positions, relations, masks.
    pub(crate) fn tables(&self, tokens: usize) -> Vec<(&'static str, Table)> {
        match self {
            Self::Bert(m) => m.tables(tokens),
            Self::Deberta(m) => m.tables(tokens),
            Self::ModernBert(m) => m.tables(tokens),
        }
    }

    /// Logits, `[batch, labels]`.
    pub(crate) fn logits<O: Ops>(&self, ops: &mut O) -> Result<O::Tensor, Refused> {
        match self {
            Self::Bert(m) => m.logits(ops),
            Self::Deberta(m) => m.logits(ops),
            Self::ModernBert(m) => m.logits(ops),
        }
    }
}
