use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::breaker::{Breaker, Permit};
use super::budget::Budget;
use super::rate::RateLimiter;
use super::{BreakerLimits, BudgetLimits, Clock, RateLimits, Retry, Stop, SystemClock, Usage};
use crate::{ErrorClass, Failure};

/// The rules for putting requests to a service.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// When a failed request is put again.
    pub retry: Retry,
    /// How fast requests go.
    pub rate: RateLimits,
    /// When to stop asking a service that only fails.
    pub breaker: BreakerLimits,
    /// What the run may cost.
    pub budget: BudgetLimits,
}

/// Puts requests under a [`Policy`]. Shared by all who talk to one service.
pub struct Caller {
    policy: Policy,
    clock: Arc<dyn Clock>,
    stop: Stop,
    state: Mutex<State>,
    retries: AtomicU64,
}

struct State {
    rate: RateLimiter,
    breaker: Breaker,
    budget: Budget,
    jitter: Pcg64,
}

impl Caller {
    /// A caller on the machine's clock that ends early when `stop` is requested.
    #[must_use]
    pub fn new(policy: Policy, stop: Stop) -> Self {
        Self::with_clock(policy, stop, Arc::new(SystemClock::default()))
    }

    /// A caller on another clock.
    #[must_use]
    pub fn with_clock(policy: Policy, stop: Stop, clock: Arc<dyn Clock>) -> Self {
        let state = State {
            rate: RateLimiter::new(&policy.rate),
            breaker: Breaker::new(policy.breaker.clone()),
            budget: Budget::new(policy.budget),
            // Jitter moves requests in time and nothing else, so a fixed seed serves.
            jitter: Pcg64::seed_from_u64(0),
        };
        Self { policy, clock, stop, state: Mutex::new(state), retries: AtomicU64::new(0) }
    }

    /// Books what an earlier part of the same run has used, so that the budget is one of the whole run.
    pub fn book(&self, usage: Usage) {
        self.state().budget.add_spent(usage);
    }

    /// What all requests have used so far.
    #[must_use]
    pub fn spent(&self) -> Usage {
        self.state().budget.spent()
    }

    /// How many requests were put again.
    #[must_use]
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Puts a request until it is answered or there is no sense in putting it again.
    ///
    /// `estimate` is what one attempt will use at most, as far as one can say. `attempt` gives the answer and what it used; its
    /// time-out is its own. Returns with the last attempt's answer what all attempts used, and how long the last one took.
    ///
    /// # Errors
    /// The last attempt's failure, or [`ErrorClass::Budget`], [`ErrorClass::Unavailable`] or [`ErrorClass::Stopped`] without one.
    pub fn call<T>(
        &self,
        estimate: Usage,
        mut attempt: impl FnMut() -> (Result<T, Failure>, Usage),
    ) -> (Result<(T, Duration), Failure>, Usage) {
        let mut used = Usage::default();
        let mut failed = 0;
        loop {
            if let Err(failure) = self.take_turn(estimate) {
                return (Err(failure), used);
            }
            let start = self.clock.now();
            let (answer, usage) = attempt();
            let took = self.clock.now().saturating_sub(start);
            used.add(usage);
            let failure = match self.book_attempt(estimate, usage, &answer) {
                None => return (answer.map(|a| (a, took)), used),
                Some(failure) => failure,
            };
            failed += 1;
            let asked = failure.retry_after;
            if asked.is_some_and(|t| t > self.policy.retry.longest_asked) {
                let mut failure = failure;
                let seconds = asked.unwrap_or_default().as_secs();
                failure.message = format!("{}; the service asks to wait {seconds} s", failure.message);
                failure.fatal = true;
                return (Err(failure), used);
            }
            if failed >= self.policy.retry.attempts {
                return (Err(failure), used);
            }
            let jitter = self.state().jitter.random::<f64>();
            let wait = self.policy.retry.wait(failed, jitter).max(asked.unwrap_or_default());
            if self.clock.sleep(wait, &self.stop) {
                return (Err(stopped()), used);
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits for breaker and rate limit, and reserves the budget.
    fn take_turn(&self, estimate: Usage) -> Result<(), Failure> {
        loop {
            if self.stop.is_requested() {
                return Err(stopped());
            }
            let now = self.clock.now();
            let permit = self.state().breaker.permit(now);
            match permit {
                Permit::Go => break,
                Permit::GiveUp => {
                    let message = "the service fails again and again; later requests are not put";
                    return Err(Failure::new(ErrorClass::Unavailable, message));
                }
                Permit::Wait(time) => {
                    self.clock.sleep(time, &self.stop);
                }
            }
        }
        let mut state = self.state();
        if let Err(limit) = state.budget.reserve(estimate) {
            state.breaker.abandoned();
            return Err(Failure::new(ErrorClass::Budget, format!("the budget of {limit} is used up")));
        }
        let wait = state.rate.reserve(self.clock.now(), estimate.tokens());
        drop(state);
        if !wait.is_zero() && self.clock.sleep(wait, &self.stop) {
            let mut state = self.state();
            state.breaker.abandoned();
            state.budget.settle(estimate, Usage::default());
            return Err(stopped());
        }
        Ok(())
    }

    /// Books an attempt; gives back a failure that calls for another one.
    fn book_attempt<T>(&self, estimate: Usage, usage: Usage, answer: &Result<T, Failure>) -> Option<Failure> {
        let now = self.clock.now();
        let mut state = self.state();
        state.budget.settle(estimate, usage);
        state.rate.settle(estimate.tokens(), usage.tokens());
        match answer {
            Err(failure) if failure.class.may_pass_later() => {
                state.breaker.failed(now);
                if let Some(time) = failure.retry_after.filter(|t| *t <= self.policy.retry.longest_asked) {
                    state.rate.pause(now + time);
                }
                Some(failure.clone())
            }
            _ => {
                state.breaker.answered();
                None
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is counters; a panic elsewhere leaves none of them half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stopped() -> Failure {
    Failure::new(ErrorClass::Stopped, "the run was stopped")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::ManualClock;

    fn caller(policy: Policy) -> (Caller, Arc<ManualClock>, Stop) {
        let clock = Arc::new(ManualClock::default());
        let stop = Stop::default();
        (Caller::with_clock(policy, stop.clone(), clock.clone()), clock, stop)
    }

    /// Attempts that fail in the given ways, one after the other, and then succeed.
    fn script(failures: Vec<Failure>) -> impl FnMut() -> (Result<u32, Failure>, Usage) {
        let mut failures = failures.into_iter();
        move || (failures.next().map_or(Ok(7), Err), Usage::new(1, 10, 1))
    }

    fn fail(class: ErrorClass) -> Failure {
        Failure::new(class, "no")
    }

    #[test]
    fn what_may_pass_later_is_put_again_with_growing_waits() {
        let (caller, clock, _) = caller(Policy::default());
        let (answer, used) = caller.call(Usage::new(1, 10, 10), script(vec![fail(ErrorClass::Server); 3]));
        assert_eq!(answer.unwrap().0, 7);
        assert_eq!(used, Usage::new(4, 40, 4));
        assert_eq!(caller.spent(), used);
        let slept: Vec<f64> = clock.slept().iter().map(Duration::as_secs_f64).collect();
        for (wait, most) in slept.iter().zip([1.0, 2.0, 4.0]) {
            assert!((most / 2.0..=most).contains(wait), "{slept:?}");
        }
        assert_eq!((slept.len(), caller.retries()), (3, 3));
    }

    #[test]
    fn what_cannot_pass_is_put_once() {
        use ErrorClass::*;
        for class in [BadRequest, Auth, Reply, TooLarge, Refused, Truncated, Input, Program] {
            let (caller, clock, _) = caller(Policy::default());
            let (answer, used) = caller.call(Usage::default(), script(vec![fail(class)]));
            assert_eq!(answer.unwrap_err().class, class);
            assert_eq!((used.requests, clock.slept().len()), (1, 0));
        }
    }

    #[test]
    fn attempts_are_bounded() {
        let (caller, clock, _) = caller(Policy::default());
        let (answer, used) = caller.call(Usage::default(), script(vec![fail(ErrorClass::Connection); 99]));
        assert_eq!(answer.unwrap_err().class, ErrorClass::Connection);
        assert_eq!((used.requests, clock.slept().len()), (5, 4));
    }

    #[test]
    fn retry_after_is_honoured_by_everybody_and_too_long_a_wait_ends_the_run() {
        let mut asked = fail(ErrorClass::RateLimited);
        asked.retry_after = Some(Duration::from_secs(40));
        let (caller, clock, _) = caller(Policy::default());
        assert!(caller.call(Usage::default(), script(vec![asked.clone()])).0.is_ok());
        assert_eq!(clock.slept(), [Duration::from_secs(40)]);

        asked.retry_after = Some(Duration::from_secs(3600));
        let failure = caller.call(Usage::default(), script(vec![asked])).0.unwrap_err();
        assert!(failure.fatal);
        assert_eq!(failure.message, "no; the service asks to wait 3600 s");
    }

    #[test]
    fn a_dead_service_ends_the_run_after_a_bounded_time() {
        let (caller, clock, _) = caller(Policy::default());
        let classes: Vec<_> = (0..40)
            .map(|_| caller.call(Usage::default(), script(vec![fail(ErrorClass::Server); 99])).0.unwrap_err().class)
            .collect();
        assert_eq!(classes.first(), Some(&ErrorClass::Server));
        assert_eq!(classes.last(), Some(&ErrorClass::Unavailable));
        assert!(clock.now() < Duration::from_secs(600), "{:?}", clock.now());
        assert_eq!(caller.spent().requests, 13);
    }

    #[test]
    fn the_budget_holds_before_a_request_and_over_resumed_runs() {
        let mut policy = Policy::default();
        policy.budget.requests = Some(3);
        let (caller, _, _) = caller(policy);
        caller.book(Usage::new(1, 0, 0));
        let one = Usage::new(1, 0, 0);
        assert!(caller.call(one, script(vec![])).0.is_ok());
        assert!(caller.call(one, script(vec![])).0.is_ok());
        let failure = caller.call(one, script(vec![])).0.unwrap_err();
        assert_eq!(
            (failure.class, failure.message.as_str()),
            (ErrorClass::Budget, "the budget of 3 requests is used up")
        );
    }

    #[test]
    fn a_stop_ends_waits() {
        let (caller, _, stop) = caller(Policy::default());
        stop.request();
        assert_eq!(caller.call(Usage::default(), script(vec![])).0.unwrap_err().class, ErrorClass::Stopped);
    }
}
