use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use wardline_defense::{Call, Output, Scenario, Source, Step, Text};

use crate::format::{FORMAT, Header, Preamble, ScenarioLine, TextLine, VERSION};
use crate::{Error, Result, digest};

/// Scenarios with their texts, read from one file.
#[derive(Debug, Clone)]
pub struct Corpus {
    name: String,
    attacks: Vec<String>,
    transform: Option<String>,
    sha256: String,
    texts: Vec<Arc<Text>>,
    scenarios: Vec<Scenario>,
}

impl Corpus {
    /// Reads a corpus file.
    ///
    /// # Errors
    /// A file that cannot be read, and whatever [`Corpus::parse`] refuses.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|e| Error::io("read", path, e))?;
        Self::parse(path, &bytes)
    }

    /// Parses the bytes of a corpus file; `path` is for messages only.
    ///
    /// # Errors
    /// [`Error::Version`] for another format or version, [`Error::Truncated`] for a file that ends early, and [`Error::Record`],
    /// which names line and id, for anything else that the format does not allow: unknown fields, repeated ids, an `output`
    /// outside the texts, a `twin` that is no benign scenario.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut lines = Lines::new(path, bytes);
        let first = lines.next_line("the header")?;
        let header = header(path, first)?;
        let mut texts = Vec::with_capacity(header.texts.min(bytes.len()));
        for n in 0..header.texts {
            let (number, line) = lines.next(|| format!("text {n} of {}", header.texts))?;
            let parsed: TextLine<'_> = json(path, number, line)?;
            texts.push(Arc::new(Text::new(parsed.text)));
        }
        let mut scenarios: Vec<Scenario> = Vec::with_capacity(header.scenarios.min(bytes.len()));
        let mut numbers = Vec::with_capacity(scenarios.capacity());
        for n in 0..header.scenarios {
            let (number, line) = lines.next(|| format!("scenario {n} of {}", header.scenarios))?;
            let parsed: ScenarioLine<'_> = json(path, number, line)?;
            scenarios.push(scenario(path, number, parsed, &texts)?);
            numbers.push(number);
        }
        if let Some(number) = lines.rest() {
            return Err(Error::record(path, number, None, "a line after the last scenario that the header counts"));
        }
        check_ids(path, &scenarios, &numbers)?;
        Ok(Self {
            name: header.corpus,
            attacks: header.attacks,
            transform: header.transform,
            sha256: digest::hex(bytes),
            texts,
            scenarios,
        })
    }

    /// The attacks that the injection scenarios use, in the corpus's order; empty when nothing is replayed.
    pub fn attacks(&self) -> &[String] {
        &self.attacks
    }

    /// How the attacks' goals were transformed, if they were.
    pub fn transform(&self) -> Option<&str> {
        self.transform.as_deref()
    }

    /// The distinct tool outputs that some call's context holds, in order of first use.
    pub fn texts(&self) -> &[Arc<Text>] {
        &self.texts
    }

    /// SHA-256 of the whole file, in lower-case hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}

impl Source for Corpus {
    fn name(&self) -> &str {
        &self.name
    }

    fn scenarios(&self) -> &[Scenario] {
        &self.scenarios
    }
}

/// Lines with their numbers from 1; every line must end in a line feed.
struct Lines<'a> {
    path: &'a Path,
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self { path, rest: bytes, number: 0 }
    }

    fn next(&mut self, wanted: impl Fn() -> String) -> Result<(usize, &'a [u8])> {
        self.number += 1;
        let Some(end) = self.rest.iter().position(|&b| b == b'\n') else {
            return Err(Error::Truncated { path: self.path.into(), line: self.number, wanted: wanted() });
        };
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok((self.number, line))
    }

    fn next_line(&mut self, wanted: &str) -> Result<&'a [u8]> {
        self.next(|| wanted.to_owned()).map(|(_, line)| line)
    }

    /// The number of the next line, if there is one.
    fn rest(&self) -> Option<usize> {
        (!self.rest.is_empty()).then_some(self.number + 1)
    }
}

pub(crate) fn json<'a, T: Deserialize<'a>>(path: &Path, number: usize, line: &'a [u8]) -> Result<T> {
    serde_json::from_slice(line).map_err(|e| {
        let id = record_id(line);
        Error::record(path, number, id.as_deref(), e.to_string())
    })
}

/// The `id` of a line that is JSON at least.
pub(crate) fn record_id(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Id<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    serde_json::from_slice::<Id<'_>>(line).ok().map(|l| l.id.into_owned())
}

/// Refuses another format or version with a message of its own.
pub(crate) fn check_version(path: &Path, line: &[u8], format: &str, version: u32) -> Result<()> {
    let found = serde_json::from_slice::<Preamble>(line);
    match found {
        Ok(p) if p.format == format && p.version == version => Ok(()),
        Ok(p) => Err(Error::Version {
            path: path.into(),
            found: format!("{} version {}", p.format, p.version),
            expected: format!("{format} version {version}"),
        }),
        Err(_) => Err(Error::record(path, 1, None, format!("the first line is not the header of a {format} file"))),
    }
}

fn header(path: &Path, line: &[u8]) -> Result<Header> {
    check_version(path, line, FORMAT, VERSION)?;
    json(path, 1, line)
}

fn scenario(path: &Path, number: usize, line: ScenarioLine<'_>, texts: &[Arc<Text>]) -> Result<Scenario> {
    let task: Arc<str> = line.prompt.into();
    let mut context: Vec<Arc<Text>> = Vec::new();
    let mut history: Vec<Arc<Call>> = Vec::new();
    let mut steps = Vec::with_capacity(line.calls.len());
    for step in line.calls {
        if step.injected && line.kind == wardline_defense::Kind::Benign {
            return Err(Error::record(path, number, Some(&line.id), "a benign scenario cannot have an injected call"));
        }
        let output = match step.output {
            None if step.carrying => {
                return Err(Error::record(path, number, Some(&line.id), "a call without output cannot be carrying"));
            }
            None => None,
            Some(index) => {
                let text = texts.get(index).ok_or_else(|| {
                    Error::record(path, number, Some(&line.id), format!("output {index} is outside the texts"))
                })?;
                Some(Output { text: Arc::clone(text), carries_injection: step.carrying })
            }
        };
        let call = Arc::new(Call {
            tool: step.tool,
            args: step.args,
            dest: step.dest,
            context: context.clone(),
            task: Arc::clone(&task),
            history: history.clone(),
        });
        history.push(Arc::clone(&call));
        context.extend(output.as_ref().map(|o| Arc::clone(&o.text)));
        steps.push(Step { call, injected: step.injected, output });
    }
    Ok(Scenario {
        id: line.id,
        suite: line.suite,
        kind: line.kind,
        user_task: line.user_task,
        injection_task: line.injection_task,
        attack: line.attack,
        twin: line.twin,
        steps,
    })
}

fn check_ids(path: &Path, scenarios: &[Scenario], numbers: &[usize]) -> Result<()> {
    let mut seen = HashSet::with_capacity(scenarios.len());
    for (scenario, &number) in scenarios.iter().zip(numbers) {
        if !seen.insert(scenario.id.as_str()) {
            return Err(Error::record(path, number, Some(&scenario.id), "the id is used twice"));
        }
    }
    let benign: HashSet<&str> =
        scenarios.iter().filter(|s| s.kind == wardline_defense::Kind::Benign).map(|s| s.id.as_str()).collect();
    for (scenario, &number) in scenarios.iter().zip(numbers) {
        if let Some(twin) = scenario.twin.as_deref().filter(|t| !benign.contains(t)) {
            let message = format!("the twin {twin:?} is no benign scenario of this file");
            return Err(Error::record(path, number, Some(&scenario.id), message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
