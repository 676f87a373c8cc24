use crate::{Call, Decision, Defense, DefenseError};

/// How the members of a [`Combined`] defense are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Denies when any member denies.
    Any,
    /// Denies when all members deny.
    All,
}

/// Several defenses that rule together.
///
/// Every member is asked, so that an error of any one is an error of the whole, whatever the others say.
pub struct Combined {
    name: String,
    rule: Rule,
    members: Vec<Box<dyn Defense>>,
}

impl Combined {
    /// Combines the members; the name is `any:` or `all:` and the members' names, joined by commas.
    ///
    /// # Errors
    /// No member: neither rule has a meaning then.
    pub fn new(rule: Rule, members: Vec<Box<dyn Defense>>) -> Result<Self, DefenseError> {
        if members.is_empty() {
            return Err(DefenseError::new("a combination needs at least one defense"));
        }
        let names: Vec<&str> = members.iter().map(|m| m.name()).collect();
        let prefix = match rule {
            Rule::Any => "any",
            Rule::All => "all",
        };
        Ok(Self { name: format!("{prefix}:{}", names.join(",")), rule, members })
    }
}

impl Defense for Combined {
    fn name(&self) -> &str {
        &self.name
    }

    fn decide(&self, call: &Call) -> Result<Decision, DefenseError> {
        let mut reasons = Vec::new();
        for member in &self.members {
            if let Decision::Deny { reason } = member.decide(call)? {
                reasons.push(format!("{}: {reason}", member.name()));
            }
        }
        let denied = match self.rule {
            Rule::Any => !reasons.is_empty(),
            Rule::All => reasons.len() == self.members.len(),
        };
        Ok(if denied { Decision::deny(reasons.join("; ")) } else { Decision::Allow })
    }

    fn is_parallel(&self) -> bool {
        self.members.iter().all(|m| m.is_parallel())
    }
}
