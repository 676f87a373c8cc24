use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use wardline_defense::{Call, Decision, Defense, DefenseError, Text};

use crate::{ClassifierError, ScoreTable};

/// Which texts of a call a classifier reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The tool outputs read before the call.
    Context,
    /// The call's argument texts, joined by a newline, when it has any.
    Args,
    /// Both.
    Both,
}

impl Scope {
    /// Every scope, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Context, Self::Args, Self::Both];
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Context => "context",
            Self::Args => "args",
            Self::Both => "both",
        })
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|x| x.to_string() == s)
            .ok_or_else(|| format!("no scope {s}; there are context, args and both"))
    }
}

/// The text of a call's arguments: joined by a newline; `None` without arguments.
pub(crate) fn args_text(call: &Call) -> Option<Text> {
    (!call.args.is_empty()).then(|| {
        let texts: Vec<&str> = call.args.iter().map(|a| a.text.as_str()).collect();
        Text::new(texts.join("\n"))
    })
}

/// A text classifier as a defense: denies a call when a text in its scope scores at or above a threshold.
///
/// It reads a [`ScoreTable`], so that ruling is a look-up and every run rules alike. A text that the table lacks is an error,
/// never a score of 0: check a corpus first with [`ScoreTable::require`].
pub struct ClassifierDefense {
    name: String,
    table: Arc<ScoreTable>,
    scope: Scope,
    threshold: f64,
}

impl ClassifierDefense {
    /// A defense named `<label>-<scope>@<threshold>`.
    ///
    /// # Errors
    /// A threshold outside 0..=1.
    pub fn new(label: &str, table: Arc<ScoreTable>, scope: Scope, threshold: f64) -> Result<Self, ClassifierError> {
        if !(0.0..=1.0).contains(&threshold) {
            return Err(ClassifierError::Threshold(threshold));
        }
        Ok(Self { name: format!("{label}-{scope}@{threshold}"), table, scope, threshold })
    }

    fn over(&self, text: &Text, what: impl FnOnce() -> String) -> Result<Option<Decision>, DefenseError> {
        let score = self.table.score(text).ok_or_else(|| {
            let missing = self.table.require(&self.table.model, [text]);
            DefenseError::new(missing.err().map_or_else(String::new, |e| e.to_string()))
        })?;
        let threshold = self.threshold;
        Ok((score >= threshold)
            .then(|| Decision::deny(format!("{} scores {score:.3}, at or above {threshold}", what()))))
    }
}

impl Defense for ClassifierDefense {
    fn name(&self) -> &str {
        &self.name
    }

    fn decide(&self, call: &Call) -> Result<Decision, DefenseError> {
        if self.scope != Scope::Args {
            for (i, text) in call.context.iter().enumerate() {
                if let Some(deny) = self.over(text, || format!("output {} read before the call", i + 1))? {
                    return Ok(deny);
                }
            }
        }
        if self.scope != Scope::Context
            && let Some(text) = args_text(call)
            && let Some(deny) = self.over(&text, || "the text of the arguments".to_owned())?
        {
            return Ok(deny);
        }
        Ok(Decision::Allow)
    }
}

/// Labels of tables that are shown together: `classifier` for a single one, else each model's publisher in lower case, or the
/// model's name where two publishers coincide; a cap on windows is appended.
///
/// # Errors
/// Two labels that are still equal.
pub fn labels(tables: &[&ScoreTable]) -> Result<Vec<String>, ClassifierError> {
    let label = |t: &&ScoreTable| {
        let base = if tables.len() == 1 {
            "classifier".to_owned()
        } else if tables.iter().filter(|o| publisher(o) == publisher(t)).count() > 1 {
            t.model.rsplit('/').next().unwrap_or_default().to_owned()
        } else {
            publisher(t)
        };
        base + &t.chunking.suffix()
    };
    let labels: Vec<String> = tables.iter().map(label).collect();
    for (i, label) in labels.iter().enumerate() {
        if labels[..i].contains(label) {
            return Err(ClassifierError::SameName(label.clone()));
        }
    }
    Ok(labels)
}

fn publisher(table: &ScoreTable) -> String {
    table.model.split('/').next().unwrap_or_default().to_lowercase()
}
