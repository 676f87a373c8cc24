use std::time::Duration;

/// When to stop asking a service that only fails.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakerLimits {
    /// Failures in a row that open the breaker. Only failures of the service count, not those of a request. Default 10.
    pub failures: u32,
    /// The first time for which nobody asks; it doubles with each opening in a row, up to eight times. Default 15 s.
    pub rest: Duration,
    /// Openings in a row after which the run ends. Default 4.
    pub openings: u32,
}

impl Default for BreakerLimits {
    fn default() -> Self {
        Self { failures: 10, rest: Duration::from_secs(15), openings: 4 }
    }
}

/// What a request may do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permit {
    Go,
    Wait(Duration),
    GiveUp,
}

/// A circuit breaker: after failures in a row everybody rests, then one request probes.
#[derive(Debug)]
pub(crate) struct Breaker {
    limits: BreakerLimits,
    failures: u32,
    openings: u32,
    open_until: Option<Duration>,
    probing: bool,
}

impl Breaker {
    pub(crate) fn new(limits: BreakerLimits) -> Self {
        Self { limits, failures: 0, openings: 0, open_until: None, probing: false }
    }

    pub(crate) fn permit(&mut self, now: Duration) -> Permit {
        if self.openings >= self.limits.openings {
            return Permit::GiveUp;
        }
        match self.open_until {
            None => Permit::Go,
            Some(until) if now < until => Permit::Wait(until - now),
            Some(_) if self.probing => Permit::Wait(self.limits.rest.min(Duration::from_secs(1))),
            Some(_) => {
                self.probing = true;
                Permit::Go
            }
        }
    }

    /// The service answered: with a verdict, or with an error that is the request's own.
    pub(crate) fn answered(&mut self) {
        (self.failures, self.openings, self.open_until, self.probing) = (0, 0, None, false);
    }

    pub(crate) fn failed(&mut self, now: Duration) {
        self.failures += 1;
        let probe_failed = self.probing;
        // Requests that were under way when the breaker opened tell nothing new.
        if probe_failed || (self.open_until.is_none() && self.failures >= self.limits.failures) {
            let rest = self.limits.rest.saturating_mul(1 << self.openings.min(3));
            self.openings += 1;
            self.open_until = Some(now + rest);
            self.probing = false;
        }
    }

    /// A probe that ended without telling anything, since the run was stopped.
    pub(crate) fn abandoned(&mut self) {
        self.probing = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn breaker() -> Breaker {
        Breaker::new(BreakerLimits { failures: 3, rest: S * 10, openings: 3 })
    }

    #[test]
    fn opens_after_failures_in_a_row_only() {
        let mut b = breaker();
        b.failed(S);
        b.failed(S);
        b.answered();
        b.failed(S);
        b.failed(S);
        assert_eq!(b.permit(S), Permit::Go);
        b.failed(S);
        assert_eq!(b.permit(S), Permit::Wait(S * 10));
        assert_eq!(b.permit(S * 10), Permit::Wait(S));
    }

    #[test]
    fn one_probe_decides() {
        let mut b = breaker();
        (0..3).for_each(|_| b.failed(S));
        assert_eq!(b.permit(S * 11), Permit::Go);
        assert_eq!(b.permit(S * 11), Permit::Wait(S));
        b.answered();
        assert_eq!(b.permit(S * 11), Permit::Go);
        assert_eq!(b.permit(S * 11), Permit::Go);
    }

    #[test]
    fn rests_grow_and_then_it_gives_up() {
        let mut b = breaker();
        (0..3).for_each(|_| b.failed(Duration::ZERO));
        assert_eq!(b.permit(S * 10), Permit::Go);
        b.failed(S * 10);
        assert_eq!(b.permit(S * 10), Permit::Wait(S * 20));
        // A late answer to a request from before the opening counts for nothing.
        b.failed(S * 11);
        assert_eq!(b.permit(S * 30), Permit::Go);
        b.failed(S * 30);
        assert_eq!(b.permit(S * 300), Permit::GiveUp);
    }

    #[test]
    fn an_abandoned_probe_lets_another_through() {
        let mut b = breaker();
        (0..3).for_each(|_| b.failed(Duration::ZERO));
        assert_eq!(b.permit(S * 10), Permit::Go);
        b.abandoned();
        assert_eq!(b.permit(S * 10), Permit::Go);
    }
}
