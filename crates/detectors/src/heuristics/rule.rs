use std::collections::BTreeMap;

use serde::Deserialize;
use wardline_segments::SegmentKind;

use super::normal::{Normal, lookalike};
use crate::Task;

/// One rule.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rule {
    /// Unique; its first word is the family.
    pub id: String,
    /// What it looks for, in few words.
    pub about: String,
    /// The task that its weight counts for.
    pub task: Task,
    /// What it adds to the task's sum, in log-odds. May be negative or 0.
    pub weight: f64,
    /// A name that combinations use for it and others of its kind.
    pub tag: Option<String>,
    /// How it is decided.
    pub kind: RuleKind,
    /// Texts, or for checks messages, that it must fire on.
    pub examples: Vec<String>,
    /// Texts, or for checks messages, that it must not fire on.
    pub counter_examples: Vec<String>,
}

/// How a rule is decided.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RuleKind {
    /// A regular expression over the normalised text of a segment, tried when one of the triggers occurs in it.
    Pattern {
        /// Literal texts of which every match holds one.
        triggers: Vec<String>,
        /// The expression; text is in lower case, without accents and invisible characters, with single spaces.
        pattern: String,
        /// The segments to look at; all when empty.
        places: Vec<SegmentKind>,
    },
    /// A signal of the extractor that is at least so large.
    Signal {
        /// The field of the signals.
        signal: String,
        /// The least count or ratio; 1 for a flag.
        at_least: f64,
    },
    /// A fact of addresses, links or attachments, by the name of its check.
    Check(String),
    /// Hits of other rules near each other in one segment.
    Near {
        /// Tags, each of which must have a hit.
        all_of: Vec<String>,
        /// The longest way from the first tag's hit to the others', in bytes of normalised text.
        within: usize,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    #[serde(default)]
    bias: BTreeMap<String, f64>,
    #[serde(default)]
    names: BTreeMap<String, String>,
    #[serde(default)]
    rule: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    about: String,
    task: Task,
    weight: f64,
    tag: Option<String>,
    triggers: Option<Vec<String>>,
    pattern: Option<String>,
    places: Option<Vec<SegmentKind>>,
    signal: Option<String>,
    at_least: Option<f64>,
    check: Option<String>,
    all_of: Option<Vec<String>>,
    within: Option<usize>,
    #[serde(default)]
    examples: Vec<String>,
    #[serde(default)]
    counter_examples: Vec<String>,
}

/// What a rule file holds: biases of tasks, and rules.
pub(super) struct Parsed {
    pub(super) bias: Vec<(Task, f64)>,
    pub(super) rules: Vec<Rule>,
}

pub(super) fn parse(file: &str, text: &str) -> Result<Parsed, String> {
    let parsed: File = toml::from_str(text).map_err(|e| format!("is no rule file: {e}"))?;
    if parsed.schema != 1 {
        return Err(format!("has schema {}, not 1", parsed.schema));
    }
    let bias = parsed.bias.iter().map(|(name, bias)| match name.as_str() {
        "injection" => Ok((Task::Injection, *bias)),
        "phishing" => Ok((Task::Phishing, *bias)),
        other => Err(format!("bias of unknown task {other:?}")),
    });
    let bias = bias.collect::<Result<_, String>>()?;
    let rules = parsed.rule.into_iter().map(|entry| rule(entry, file, &parsed.names)).collect::<Result<_, _>>()?;
    Ok(Parsed { bias, rules })
}

/// Puts names in; letters that look Latin become so, as they do in the text. Words are of ASCII letters, digits, the underscore and all
/// that is not ASCII, which keeps automata small and fast.
fn expand(pattern: &str, names: &BTreeMap<String, String>) -> String {
    const WORD: &str = r"0-9a-z_\x{80}-\x{10FFFF}";
    let named =
        names.iter().fold(pattern.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value));
    let mut out = String::with_capacity(named.len());
    let (mut inside, mut escaped) = (false, false);
    for c in named.chars() {
        if std::mem::take(&mut escaped) {
            match c {
                'w' if inside => out.push_str(WORD),
                'w' => out.push_str(&format!("[{WORD}]")),
                'W' if !inside => out.push_str(&format!("[^{WORD}]")),
                'd' => out.push_str(if inside { "0-9" } else { "[0-9]" }),
                'b' if !inside => out.push_str(r"(?-u:\b)"),
                other => {
                    out.push('\\');
                    out.push(other);
                }
            }
            continue;
        }
        match c {
            '\\' => escaped = true,
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        if c != '\\' {
            out.push(lookalike(c).unwrap_or(c));
        }
    }
    out
}

fn rule(entry: Entry, file: &str, names: &BTreeMap<String, String>) -> Result<Rule, String> {
    let wrong = |what: &str| format!("rule {} of {file} {what}", entry.id);
    if !entry.weight.is_finite() {
        return Err(wrong("has a weight that is no number"));
    }
    let kind = match (entry.pattern.clone(), entry.signal.clone(), entry.check.clone(), entry.all_of.clone()) {
        (Some(pattern), None, None, None) => {
            let triggers = entry.triggers.clone().filter(|t| !t.is_empty()).ok_or_else(|| wrong("has no triggers"))?;
            let triggers = triggers.iter().map(|t| Normal::of(t).text).collect();
            let pattern = expand(&pattern, names);
            RuleKind::Pattern { triggers, pattern, places: entry.places.clone().unwrap_or_default() }
        }
        (None, Some(signal), None, None) => RuleKind::Signal { signal, at_least: entry.at_least.unwrap_or(1.0) },
        (None, None, Some(check), None) => RuleKind::Check(check),
        (None, None, None, Some(all_of)) if all_of.len() > 1 => {
            RuleKind::Near { all_of, within: entry.within.unwrap_or(300) }
        }
        _ => return Err(wrong("needs one of pattern, signal, check, or all_of with two tags or more")),
    };
    if entry.task == Task::Both {
        return Err(wrong("counts for both tasks; give it one"));
    }
    Ok(Rule {
        id: entry.id,
        about: entry.about,
        task: entry.task,
        weight: entry.weight,
        tag: entry.tag,
        kind,
        examples: entry.examples,
        counter_examples: entry.counter_examples,
    })
}
