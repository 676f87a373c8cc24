use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use wardline_defense::{Kind, Scenario, Text};

use crate::ClassifierError;
use crate::defense::args_text;

/// The distinct texts of a corpus that a classifier reads, by what they are.
#[derive(Debug, Clone, Default)]
pub struct CorpusTexts {
    all: BTreeMap<[u8; 32], Arc<Text>>,
    benign: BTreeSet<[u8; 32]>,
    carrying: BTreeSet<[u8; 32]>,
}

impl CorpusTexts {
    /// Collects the outputs read before any call and the argument texts of every call. The empty text is left out: it scores 0
    /// without a model.
    pub fn of(scenarios: &[Scenario]) -> Self {
        let mut texts = Self::default();
        for scenario in scenarios {
            for step in &scenario.steps {
                for text in &step.call.context {
                    texts.add(text);
                    if scenario.kind == Kind::Benign {
                        texts.benign.insert(*text.sha256());
                    }
                }
                if let Some(text) = args_text(&step.call) {
                    texts.add(&Arc::new(text));
                }
            }
            // What the last call returned is read by no call.
            let read = scenario.steps.last().map_or(0, |last| last.call.context.len());
            let outputs = scenario.steps.iter().filter_map(|s| s.output.as_ref()).take(read);
            texts.carrying.extend(outputs.filter(|o| o.carries_injection).map(|o| *o.text.sha256()));
        }
        texts
    }

    /// Texts of one's own, such as the flattened segments of mail; none counts as read in a benign task or as carrying.
    pub fn from_texts(texts: impl IntoIterator<Item = Text>) -> Self {
        let mut all = Self::default();
        for text in texts {
            all.add(&Arc::new(text));
        }
        all
    }

    fn add(&mut self, text: &Arc<Text>) {
        if !text.as_str().is_empty() {
            self.all.entry(*text.sha256()).or_insert_with(|| Arc::clone(text));
        }
    }

    /// Every text, in order of its SHA-256: the keys a score table must hold.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Text>> {
        self.all.values()
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether no call reads or carries a text.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// SHA-256 of the outputs read in benign scenarios.
    pub fn benign_outputs(&self) -> &BTreeSet<[u8; 32]> {
        &self.benign
    }

    /// SHA-256 of the outputs that carry an injection and are read by a call.
    pub fn carrying_outputs(&self) -> &BTreeSet<[u8; 32]> {
        &self.carrying
    }
}

/// A carrying output before and after a transform.
#[derive(Debug, Clone)]
pub struct ChangedOutput {
    /// The output without the transform.
    pub baseline: Arc<Text>,
    /// The output with it.
    pub transformed: Arc<Text>,
}

/// The distinct transformed carrying outputs that an injected call reads and that the transform changed, each with the baseline's
/// output at the same place, in corpus order.
///
/// # Errors
/// A scenario that the baseline lacks or that has another number of outputs there.
pub fn changed_outputs(baseline: &[Scenario], transformed: &[Scenario]) -> Result<Vec<ChangedOutput>, ClassifierError> {
    let by_id: BTreeMap<&str, &Scenario> = baseline.iter().map(|s| (s.id.as_str(), s)).collect();
    let mut seen = BTreeSet::new();
    let mut changed = Vec::new();
    for scenario in transformed.iter().filter(|s| s.kind == Kind::Injection) {
        let Some(before) = by_id.get(scenario.id.as_str()) else {
            return Err(ClassifierError::Baseline(format!("the baseline corpus has no scenario {}", scenario.id)));
        };
        // An injected call reads every output before it, so the last one reads all that any does.
        let Some(reader) = scenario.steps.iter().rev().find(|s| s.injected) else { continue };
        for i in 0..reader.call.context.len() {
            let (Some(after), Some(before)) = (scenario.output(i), before.output(i)) else {
                let message = format!("scenario {} has another number of outputs in the baseline", scenario.id);
                return Err(ClassifierError::Baseline(message));
            };
            if after.carries_injection
                && after.text.sha256() != before.text.sha256()
                && seen.insert(*after.text.sha256())
            {
                changed
                    .push(ChangedOutput { baseline: Arc::clone(&before.text), transformed: Arc::clone(&after.text) });
            }
        }
    }
    Ok(changed)
}

/// The outputs of a scenario by position.
trait Outputs {
    fn output(&self, i: usize) -> Option<&wardline_defense::Output>;
}

impl Outputs for Scenario {
    fn output(&self, i: usize) -> Option<&wardline_defense::Output> {
        self.steps.iter().filter_map(|s| s.output.as_ref()).nth(i)
    }
}
