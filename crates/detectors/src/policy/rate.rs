use std::time::Duration;

/// How fast requests may be put. `None` is no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimits {
    /// Requests a minute.
    pub requests_per_minute: Option<u32>,
    /// Tokens a minute, those sent and those answered.
    pub tokens_per_minute: Option<u32>,
}

impl RateLimits {
    /// Both limits.
    #[must_use]
    pub fn new(requests_per_minute: Option<u32>, tokens_per_minute: Option<u32>) -> Self {
        Self { requests_per_minute, tokens_per_minute }
    }
}

/// Spreads requests so that no minute holds more than its limit. A burst of a sixtieth of the limit, and at least one, passes at once.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    /// Nobody goes before this moment: the service said so.
    paused_until: Duration,
}

impl RateLimiter {
    pub(crate) fn new(limits: &RateLimits) -> Self {
        Self {
            requests: limits.requests_per_minute.map(Bucket::new),
            tokens: limits.tokens_per_minute.map(Bucket::new),
            paused_until: Duration::ZERO,
        }
    }

    /// Takes a place for one request of so many tokens, and says how long to wait for it.
    pub(crate) fn reserve(&mut self, now: Duration, tokens: u64) -> Duration {
        let from = now.max(self.paused_until);
        let start = [(&mut self.requests, 1), (&mut self.tokens, tokens)]
            .into_iter()
            .filter_map(|(bucket, amount)| bucket.as_mut().map(|b| b.take(from, amount)))
            .max()
            .unwrap_or(from);
        start.saturating_sub(now)
    }

    /// Corrects a reservation once the true number of tokens is known.
    pub(crate) fn settle(&mut self, reserved: u64, used: u64) {
        if let Some(bucket) = &mut self.tokens {
            bucket.correct(reserved, used);
        }
    }

    pub(crate) fn pause(&mut self, until: Duration) {
        self.paused_until = self.paused_until.max(until);
    }
}

/// The generic cell rate algorithm.
#[derive(Debug)]
struct Bucket {
    seconds_each: f64,
    burst: f64,
    /// When all that was taken is paid for, in seconds.
    paid: f64,
}

impl Bucket {
    fn new(per_minute: u32) -> Self {
        let seconds_each = 60.0 / f64::from(per_minute.max(1));
        Self { seconds_each, burst: (f64::from(per_minute) / 60.0).max(1.0), paid: 0.0 }
    }

    /// The moment at which the amount may go.
    fn take(&mut self, now: Duration, amount: u64) -> Duration {
        let before = self.paid.max(now.as_secs_f64());
        self.paid = before + amount as f64 * self.seconds_each;
        // What is larger than a whole burst waits for what was taken before it, not for itself.
        let own = (amount as f64).min(self.burst);
        Duration::from_secs_f64((before - (self.burst - own) * self.seconds_each).max(now.as_secs_f64()))
    }

    fn correct(&mut self, reserved: u64, used: u64) {
        self.paid = (self.paid + (used as f64 - reserved as f64) * self.seconds_each).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The moments at which requests of so many tokens go, when each waits for its turn.
    fn starts(limits: &RateLimits, tokens: &[u64]) -> Vec<f64> {
        let mut limiter = RateLimiter::new(limits);
        let mut now = Duration::ZERO;
        let start = |&t| {
            now += limiter.reserve(now, t);
            (now.as_secs_f64() * 1000.0).round() / 1000.0
        };
        tokens.iter().map(start).collect()
    }

    #[test]
    fn requests_are_spread() {
        let limits = RateLimits::new(Some(60), None);
        assert_eq!(starts(&limits, &[0; 4]), [0.0, 1.0, 2.0, 3.0]);
        let limits = RateLimits::new(Some(30), None);
        assert_eq!(starts(&limits, &[0; 3]), [0.0, 2.0, 4.0]);
        assert_eq!(starts(&RateLimits::default(), &[9; 3]), [0.0; 3]);
    }

    #[test]
    fn no_minute_holds_more_than_its_limit_and_a_burst() {
        let limits = RateLimits::new(Some(600), None);
        let starts = starts(&limits, &[0; 3000]);
        for (i, s) in starts.iter().enumerate() {
            let within = starts[i..].iter().take_while(|t| **t < s + 60.0).count();
            assert!(within <= 610, "{within}");
        }
        assert!(starts[2999] < 300.0, "{}", starts[2999]);
    }

    #[test]
    fn tokens_are_spread_and_a_large_request_is_not_held_for_ever() {
        let limits = RateLimits::new(None, Some(6000));
        // A burst of 100 tokens passes; 1000 tokens take ten seconds off those who come after.
        assert_eq!(starts(&limits, &[100, 1000, 100]), [0.0, 1.0, 11.0]);
    }

    #[test]
    fn the_true_number_of_tokens_corrects_the_guess() {
        let mut limiter = RateLimiter::new(&RateLimits::new(None, Some(6000)));
        assert_eq!(limiter.reserve(Duration::ZERO, 1000), Duration::ZERO);
        limiter.settle(1000, 100);
        assert_eq!(limiter.reserve(Duration::from_secs(1), 100), Duration::ZERO);
    }

    #[test]
    fn a_pause_holds_everybody() {
        let mut limiter = RateLimiter::new(&RateLimits::new(Some(60_000), None));
        limiter.pause(Duration::from_secs(7));
        assert_eq!(limiter.reserve(Duration::from_secs(2), 0), Duration::from_secs(5));
        limiter.pause(Duration::from_secs(3));
        assert_eq!(limiter.reserve(Duration::from_secs(7), 0), Duration::ZERO);
    }
}
