use serde::{Deserialize, Serialize};

/// What requests have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Requests put, failed ones included.
    pub requests: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens answered.
    pub output_tokens: u64,
}

impl Usage {
    /// So many requests, tokens sent and tokens answered.
    #[must_use]
    pub fn new(requests: u64, input_tokens: u64, output_tokens: u64) -> Self {
        Self { requests, input_tokens, output_tokens }
    }

    /// Adds another count to this one.
    pub fn add(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }

    /// The larger of each count.
    pub(crate) fn at_least(self, other: Self) -> Self {
        Self {
            requests: self.requests.max(other.requests),
            input_tokens: self.input_tokens.max(other.input_tokens),
            output_tokens: self.output_tokens.max(other.output_tokens),
        }
    }

    /// Tokens sent and answered.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Whether nothing was used.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// Prices in dollars for a million tokens, and for a request.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// A million tokens sent.
    pub input: f64,
    /// A million tokens answered.
    pub output: f64,
    /// A request.
    pub request: f64,
}

impl Price {
    /// Prices of a million tokens sent, a million tokens answered, and a request.
    #[must_use]
    pub fn new(input: f64, output: f64, request: f64) -> Self {
        Self { input, output, request }
    }

    /// What the usage costs, in dollars.
    ///
    /// ```
    /// use wardline_detectors::{Price, Usage};
    /// assert_eq!(Price::new(0.5, 2.0, 0.0).cost(&Usage::new(1, 1_000_000, 500_000)), 1.5);
    /// ```
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> f64 {
        (usage.input_tokens as f64 * self.input + usage.output_tokens as f64 * self.output) / 1e6
            + usage.requests as f64 * self.request
    }
}

/// What a run may cost. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct BudgetLimits {
    /// Requests.
    pub requests: Option<u64>,
    /// Tokens sent and answered.
    pub tokens: Option<u64>,
    /// Dollars, at [`BudgetLimits::price`].
    pub cost: Option<f64>,
    /// What requests and tokens cost.
    pub price: Price,
}

/// Keeps a run within its budget: what is under way is reserved, so that the limit holds with many requests at once.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: BudgetLimits,
    spent: Usage,
    reserved: Usage,
}

impl Budget {
    pub(crate) fn new(limits: BudgetLimits) -> Self {
        Self { limits, spent: Usage::default(), reserved: Usage::default() }
    }

    pub(crate) fn spent(&self) -> Usage {
        self.spent
    }

    pub(crate) fn add_spent(&mut self, usage: Usage) {
        self.spent.add(usage);
    }

    /// Reserves a request, or says which limit it would break.
    pub(crate) fn reserve(&mut self, request: Usage) -> Result<(), String> {
        let mut after = self.spent;
        after.add(self.reserved);
        after.add(request);
        let BudgetLimits { requests, tokens, cost, price } = self.limits;
        if requests.is_some_and(|limit| after.requests > limit) {
            return Err(format!("{} requests", requests.unwrap_or_default()));
        }
        if tokens.is_some_and(|limit| after.tokens() > limit) {
            return Err(format!("{} tokens", tokens.unwrap_or_default()));
        }
        if cost.is_some_and(|limit| price.cost(&after) > limit) {
            return Err(format!("${}", cost.unwrap_or_default()));
        }
        self.reserved.add(request);
        Ok(())
    }

    /// Gives a reservation back and books what was used.
    pub(crate) fn settle(&mut self, reserved: Usage, used: Usage) {
        self.reserved.requests = self.reserved.requests.saturating_sub(reserved.requests);
        self.reserved.input_tokens = self.reserved.input_tokens.saturating_sub(reserved.input_tokens);
        self.reserved.output_tokens = self.reserved.output_tokens.saturating_sub(reserved.output_tokens);
        self.spent.add(used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_counts() {
        let mut budget = Budget::new(BudgetLimits { requests: Some(2), ..BudgetLimits::default() });
        let one = Usage::new(1, 10, 10);
        assert!(budget.reserve(one).is_ok());
        assert!(budget.reserve(one).is_ok());
        assert_eq!(budget.reserve(one), Err("2 requests".into()));
        budget.settle(one, Usage::default());
        assert!(budget.reserve(one).is_ok());
    }

    #[test]
    fn tokens_and_dollars() {
        let mut budget = Budget::new(BudgetLimits { tokens: Some(100), ..BudgetLimits::default() });
        assert!(budget.reserve(Usage::new(1, 60, 40)).is_ok());
        budget.settle(Usage::new(1, 60, 40), Usage::new(1, 60, 10));
        assert_eq!(budget.spent().tokens(), 70);
        assert_eq!(budget.reserve(Usage::new(1, 20, 11)), Err("100 tokens".into()));
        let price = Price::new(1.0, 3.0, 0.0);
        let mut budget = Budget::new(BudgetLimits { cost: Some(0.01), price, ..BudgetLimits::default() });
        assert!(budget.reserve(Usage::new(1, 4000, 2000)).is_ok());
        assert_eq!(budget.reserve(Usage::new(1, 1, 0)), Err("$0.01".into()));
    }
}
