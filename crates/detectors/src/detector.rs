use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::policy::Caller;
use crate::{Failure, Input, Verdict};

/// What a detector looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Instructions to an agent.
    Injection,
    /// Deceit of a person: phishing, scam, spam.
    Phishing,
    /// Both.
    Both,
}

/// What a detector reads of a message. A runner prepares that and nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// The raw message.
    pub raw: bool,
    /// Segments and signals.
    pub segments: bool,
    /// The flattened text.
    pub text: bool,
    /// Subject, sender and body apart.
    pub structured: bool,
    /// Addresses, links and attachment names.
    pub facts: bool,
    /// Image parts.
    pub images: bool,
}

impl Needs {
    /// Nothing but the record.
    pub const NONE: Self =
        Self { raw: false, segments: false, text: false, structured: false, facts: false, images: false };
    /// The flattened text.
    pub const TEXT: Self = Self { text: true, ..Self::NONE };
    /// The raw message.
    pub const RAW: Self = Self { raw: true, ..Self::NONE };
    /// Segments, signals, addresses, links and attachment names.
    pub const MAIL: Self = Self { segments: true, facts: true, ..Self::NONE };
}

/// Something that scores mail.
///
/// ```
/// use wardline_detectors::{Detector, Failure, Input, Needs, Task, Verdict};
///
/// /// The longer, the more suspicious.
/// struct Length;
///
/// impl Detector for Length {
///     fn name(&self) -> &str { "length" }
///     fn task(&self) -> Task { Task::Injection }
///     fn needs(&self) -> Needs { Needs::TEXT }
///     fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
///         inputs.iter().map(|i| Verdict::from_score((i.text()?.len() as f64 / 1e4).min(1.0))).collect()
///     }
/// }
///
/// let verdicts = Length.predict_batch(&[Input::from_text("a", "Five hundred words".repeat(100))]);
/// assert_eq!(verdicts[0].as_ref().unwrap().score, 0.18);
/// ```
pub trait Detector: Send + Sync {
    /// The name in predictions and of the predictions file.
    fn name(&self) -> &str;

    /// What it looks for.
    fn task(&self) -> Task;

    /// What it reads.
    fn needs(&self) -> Needs;

    /// One verdict or failure an input, in order. May be called from several threads at once.
    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>>;

    /// Everything that a verdict depends on beside the message: version, model, prompt digest, parameters. No keys, no host names
    /// of one machine. Goes into `run.json`, and a run is only resumed with the same.
    fn identity(&self) -> Map<String, Value> {
        Map::new()
    }

    /// How many inputs a call takes well.
    fn batch_size(&self) -> usize {
        1
    }

    /// How many calls may be under way at once.
    fn max_concurrency(&self) -> usize {
        usize::MAX
    }

    /// What puts its requests, where it has one: a run counts cost and retries there.
    fn caller(&self) -> Option<&Caller> {
        None
    }

    /// Why the run must not begin with this manifest, if so. `digest` is the manifest's SHA-256.
    ///
    /// # Errors
    /// What is wrong, in words.
    fn check_manifest(&self, _digest: &str) -> Result<(), String> {
        Ok(())
    }
}

impl<D: Detector + ?Sized> Detector for Box<D> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn task(&self) -> Task {
        (**self).task()
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
        (**self).predict_batch(inputs)
    }

    fn identity(&self) -> Map<String, Value> {
        (**self).identity()
    }

    fn batch_size(&self) -> usize {
        (**self).batch_size()
    }

    fn max_concurrency(&self) -> usize {
        (**self).max_concurrency()
    }

    fn caller(&self) -> Option<&Caller> {
        (**self).caller()
    }

    fn check_manifest(&self, digest: &str) -> Result<(), String> {
        (**self).check_manifest(digest)
    }
}
