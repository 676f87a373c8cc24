//! How requests are put to a service: retries, rate limits, a circuit breaker, a budget.

mod breaker;
mod budget;
mod caller;
mod clock;
mod rate;
mod retry;

pub use breaker::BreakerLimits;
pub use budget::{BudgetLimits, Price, Usage};
pub use caller::{Caller, Policy};
pub use clock::{Clock, Stop, SystemClock};
pub use rate::RateLimits;
pub use retry::{Retry, parse_retry_after};

#[cfg(test)]
pub(crate) use clock::manual::ManualClock;
