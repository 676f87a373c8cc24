//! Language models that are asked for a probability.

mod anthropic;
mod gemini;
mod openai;
mod reply;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::client::{Client, Request};
use super::service::cap;
use crate::policy::{Caller, Usage};
use crate::runner::hex;
use crate::{Detector, Failure, Image, Input, Needs, Task, Verdict};

pub use anthropic::Anthropic;
pub use gemini::Gemini;
pub use openai::OpenAi;
use reply::probability;

/// The prompts. Files are versioned: a change of wording is a new file.
const PROMPTS: [(&str, &str); 2] = [
    ("injection-v1", include_str!("../../../prompts/injection-v1.txt")),
    ("phishing-v1", include_str!("../../../prompts/phishing-v1.txt")),
];

/// What a judge is asked, and how often.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JudgeOptions {
    /// The model, as the service names it.
    pub model: String,
    /// One question, or both. Default both.
    pub task: Task,
    /// Answers to each question, whose mean is the score. Default 1.
    pub samples: u32,
    /// The sampling temperature; the default, 0, is left out for models that refuse it.
    pub temperature: f64,
    /// Sends image parts too, at most four of them, of at most 4 MiB each. Default false.
    pub vision: bool,
    /// Tokens of an answer at most. Default 200.
    pub max_answer_tokens: u32,
    /// Characters of a message at most. Default 60,000.
    pub max_characters: usize,
    /// Fields that are put into the request's body, or, with null, taken out of it.
    pub extra: Map<String, Value>,
}

impl JudgeOptions {
    /// The defaults, for a model.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            task: Task::Both,
            samples: 1,
            temperature: 0.0,
            vision: false,
            max_answer_tokens: 200,
            max_characters: 60_000,
            extra: Map::new(),
        }
    }
}

/// A question to a model.
#[doc(hidden)]
pub struct Question<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) mail: &'a str,
    pub(crate) images: &'a [Image],
}

/// A model's answer, before it is understood.
#[doc(hidden)]
pub struct Answer {
    pub(crate) text: Result<String, Failure>,
    pub(crate) usage: Usage,
}

/// An interface that models are asked through.
pub trait Provider: Send + Sync {
    /// Its name in `run.json`.
    fn name(&self) -> &'static str;

    #[doc(hidden)]
    fn url(&self, options: &JudgeOptions) -> String;

    #[doc(hidden)]
    fn headers(&self) -> Vec<(&'static str, String)>;

    #[doc(hidden)]
    fn secrets(&self) -> Vec<super::Secret>;

    #[doc(hidden)]
    fn body(&self, options: &JudgeOptions, question: &Question<'_>) -> Value;

    #[doc(hidden)]
    fn read(&self, reply: &Value) -> Answer;
}

/// A language model as a detector of prompt injection, phishing or both.
pub struct Judge<P> {
    name: String,
    provider: P,
    options: JudgeOptions,
    client: Client,
}

impl<P: Provider> Judge<P> {
    /// A model under a name of one's own.
    pub fn new(name: impl Into<String>, provider: P, options: JudgeOptions, client: Client) -> Self {
        Self { name: name.into(), provider, options, client }
    }

    /// Asks one question as often as told; gives the mean and the time of all answers, and books what they cost.
    fn ask(&self, prompt: &str, mail: &str, images: &[Image], verdict: &mut Spent) -> Result<f64, Failure> {
        let mut body = self.provider.body(&self.options, &Question { prompt, mail, images });
        if let Value::Object(fields) = &mut body {
            for (name, value) in &self.options.extra {
                match value {
                    Value::Null => fields.remove(name),
                    value => fields.insert(name.clone(), value.clone()),
                };
            }
        }
        let body = body.to_string().into_bytes();
        let characters = prompt.len() + mail.len();
        let input = characters as u64 / 3 + 1000 * images.len() as u64;
        let request = || {
            Ok(Request {
                url: self.provider.url(&self.options),
                headers: self.provider.headers(),
                body: body.clone(),
                secrets: self.provider.secrets(),
                estimate: Usage::new(1, input, u64::from(self.options.max_answer_tokens)),
            })
        };
        let read = |reply: &Value| {
            let answer = self.provider.read(reply);
            (answer.text.and_then(|text| probability(&text)), answer.usage)
        };
        let mut sum = 0.0;
        let samples = self.options.samples.max(1);
        for _ in 0..samples {
            let (probability, took, usage) = self.client.ask(request, read).map_err(|mut failure| {
                failure.usage.add(verdict.usage);
                failure
            })?;
            sum += probability;
            verdict.time += took;
            verdict.usage.add(usage);
        }
        Ok(sum / f64::from(samples))
    }

    fn predict(&self, input: &Input) -> Result<Verdict, Failure> {
        let (text, note) = cap(input.text()?, self.options.max_characters);
        let mail = fence(&text);
        let images = if self.options.vision { small_images(input.images()?) } else { Vec::new() };
        let mut spent = Spent::default();
        let [injection, phishing] = PROMPTS.map(|p| p.1);
        let mut verdict = match self.options.task {
            Task::Injection => Verdict::from_score(self.ask(injection, &mail, &images, &mut spent)?)?,
            Task::Phishing => Verdict::from_score(self.ask(phishing, &mail, &images, &mut spent)?)?,
            Task::Both => {
                let pi = self.ask(injection, &mail, &images, &mut spent)?;
                Verdict::from_scores(pi, self.ask(phishing, &mail, &images, &mut spent)?)?
            }
        };
        (verdict.latency, verdict.usage, verdict.note) = (Some(spent.time), spent.usage, note);
        Ok(verdict)
    }
}

#[derive(Default)]
struct Spent {
    time: std::time::Duration,
    usage: Usage,
}

/// Puts the mail between two lines that it cannot hold, since they depend on all of it.
fn fence(text: &str) -> String {
    let mark = hex(&Sha256::digest(text.as_bytes())[..8]);
    format!("The e-mail stands between the two lines {mark}.\n{mark}\n{text}\n{mark}")
}

fn small_images(images: &[Image]) -> Vec<Image> {
    let known = |i: &&Image| {
        let kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];
        i.bytes.len() <= 4 << 20 && kinds.contains(&i.media_type.as_str())
    };
    images.iter().filter(known).take(4).cloned().collect()
}

impl<P: Provider> Detector for Judge<P> {
    fn name(&self) -> &str {
        &self.name
    }

    fn task(&self) -> Task {
        self.options.task
    }

    fn needs(&self) -> Needs {
        Needs { text: true, images: self.options.vision, ..Needs::NONE }
    }

    fn identity(&self) -> Map<String, Value> {
        let asked = match self.options.task {
            Task::Injection => &PROMPTS[..1],
            Task::Phishing => &PROMPTS[1..],
            Task::Both => &PROMPTS[..],
        };
        let prompts: Map<String, Value> = asked
            .iter()
            .map(|(name, text)| ((*name).to_owned(), json!(hex(&Sha256::digest(text.as_bytes())))))
            .collect();
        let options = &self.options;
        let fields = json!({
            "provider": self.provider.name(),
            "model": options.model,
            "prompts_sha256": prompts,
            "samples": options.samples,
            "temperature": options.temperature,
            "vision": options.vision,
            "max_answer_tokens": options.max_answer_tokens,
            "max_characters": options.max_characters,
            "extra": options.extra,
        });
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    fn caller(&self) -> Option<&Caller> {
        Some(self.client.caller())
    }

    fn predict_batch(&self, inputs: &[Input]) -> Vec<Result<Verdict, Failure>> {
        inputs.iter().map(|input| self.predict(input)).collect()
    }
}

/// The number of a field, or 0.
pub(crate) fn count(reply: &Value, path: &str) -> u64 {
    reply.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}
