use std::collections::BTreeMap;

use serde_json::Value;

use super::Refused;

/// A model's `config.json`.
#[derive(Debug, Clone)]
pub(crate) struct Config(Value);

impl Config {
    pub(crate) fn parse(json: &[u8]) -> Result<Self, Refused> {
        let value: Value = serde_json::from_slice(json).map_err(|e| format!("config.json is no JSON: {e}"))?;
        if value.is_object() { Ok(Self(value)) } else { Err("config.json is no object".to_owned()) }
    }

    /// A value that is there and not null.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|v| !v.is_null())
    }

    /// Refuses settings under which the model computes otherwise than an engine here would.
    pub(crate) fn check_supported(&self) -> Result<(), Refused> {
        if self.flag_or("is_decoder", false)? {
            return Err("a decoder (is_decoder) is not supported".to_owned());
        }
        if self.get("quantization_config").is_some() {
            return Err("quantized weights (quantization_config) are not supported".to_owned());
        }
        match self.text_or("problem_type", "single_label_classification")?.as_str() {
            "single_label_classification" => Ok(()),
            other => Err(format!("problem_type {other} is not supported")),
        }
    }

    /// Refuses another head that has weights of the same names, as a token classifier has. A config that names none is let through.
    pub(crate) fn check_sequence_classification(&self) -> Result<(), Refused> {
        let Some(named) = self.get("architectures") else { return Ok(()) };
        let refused = || format!("architectures {named} is no sequence classification");
        let all = named.as_array().ok_or_else(refused)?;
        let is = |name: &Value| name.as_str().is_some_and(|n| n.ends_with("ForSequenceClassification"));
        if all.iter().any(is) { Ok(()) } else { Err(refused()) }
    }

    fn wrong(key: &str, value: Option<&Value>, want: &str) -> Refused {
        value.map_or_else(|| format!("config.json has no {key}"), |v| format!("config.json: {key} is {v}, not {want}"))
    }

    pub(crate) fn text(&self, key: &str) -> Result<String, Refused> {
        let value = self.get(key);
        value.and_then(Value::as_str).map(str::to_owned).ok_or_else(|| Self::wrong(key, value, "a text"))
    }

    /// A size: a whole number from 1 to 2^24, so that no product of two overflows.
    pub(crate) fn size(&self, key: &str) -> Result<usize, Refused> {
        let value = self.get(key);
        value
            .and_then(Value::as_u64)
            .filter(|n| (1..=1 << 24).contains(n))
            .and_then(|n| usize::try_from(n).ok())
            .ok_or_else(|| Self::wrong(key, value, "a size"))
    }

    pub(crate) fn size_or(&self, key: &str, default: usize) -> Result<usize, Refused> {
        if self.get(key).is_some() { self.size(key) } else { Ok(default) }
    }

    /// A whole number that may be zero or negative.
    pub(crate) fn int_or(&self, key: &str, default: i64) -> Result<i64, Refused> {
        match self.get(key) {
            None => Ok(default),
            value => value
                .and_then(Value::as_i64)
                .filter(|n| n.abs() <= 1 << 24)
                .ok_or_else(|| Self::wrong(key, value, "a whole number")),
        }
    }

    pub(crate) fn number_or(&self, key: &str, default: f64) -> Result<f64, Refused> {
        match self.get(key) {
            None => Ok(default),
            value => value
                .and_then(Value::as_f64)
                .filter(|n| n.is_finite())
                .ok_or_else(|| Self::wrong(key, value, "a number")),
        }
    }

    pub(crate) fn flag_or(&self, key: &str, default: bool) -> Result<bool, Refused> {
        match self.get(key) {
            None => Ok(default),
            value => value.and_then(Value::as_bool).ok_or_else(|| Self::wrong(key, value, "true or false")),
        }
    }

    pub(crate) fn text_or(&self, key: &str, default: &str) -> Result<String, Refused> {
        if self.get(key).is_some() { self.text(key) } else { Ok(default.to_owned()) }
    }

    /// Hidden units and heads, the first a multiple of the second.
    pub(crate) fn heads(&self, hidden: &str, heads: &str) -> Result<(usize, usize), Refused> {
        let (hidden, heads) = (self.size(hidden)?, self.size(heads)?);
        if hidden.is_multiple_of(heads) {
            Ok((hidden, heads))
        } else {
            Err(format!("config.json: {hidden} hidden units are no multiple of {heads} heads"))
        }
    }

    /// The labels in order of their numbers; `LABEL_0` and `LABEL_1` where the config names none, as the field does.
    pub(crate) fn labels(&self) -> Result<Vec<String>, Refused> {
        let Some(value) = self.get("id2label") else {
            let n = self.size_or("num_labels", 2)?.min(1024);
            return Ok((0..n).map(|i| format!("LABEL_{i}")).collect());
        };
        let refused = || Self::wrong("id2label", Some(value), "an object of numbers from 0 and labels");
        let mut labels = BTreeMap::new();
        for (id, label) in value.as_object().ok_or_else(refused)? {
            let id: usize = id.parse().map_err(|_| refused())?;
            labels.insert(id, label.as_str().ok_or_else(refused)?.to_owned());
        }
        if labels.is_empty() || labels.keys().copied().ne(0..labels.len()) {
            return Err(refused());
        }
        let labels: Vec<String> = labels.into_values().collect();
        match labels.iter().enumerate().find(|(i, label)| labels[..*i].contains(label)) {
            Some((_, twice)) => Err(format!("config.json: id2label has the label {twice} twice")),
            None => Ok(labels),
        }
    }
}
