use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time as the request policy sees it, so that tests need not wait.
pub trait Clock: Send + Sync {
    /// The time since some fixed moment; it never goes back.
    fn now(&self) -> Duration;

    /// Waits, but not past a stop request. True when the run was stopped.
    fn sleep(&self, time: Duration, stop: &Stop) -> bool;
}

/// The machine's monotonic clock.
#[derive(Debug, Clone)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        #[expect(clippy::disallowed_methods, reason = "waits between requests are measured, never written")]
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, time: Duration, stop: &Stop) -> bool {
        stop.wait(time)
    }
}

/// A request to end a run early, shared by all who take part in it. Clones are the same request.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    shared: Arc<(Mutex<bool>, Condvar)>,
}

impl Stop {
    /// Asks everybody to stop, and wakes those who wait. It cannot be taken back.
    pub fn request(&self) {
        let (stopped, wake) = &*self.shared;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.notify_all();
    }

    /// Whether somebody has asked.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the time or a stop request, whichever comes first. True when the run was stopped.
    #[must_use]
    pub fn wait(&self, time: Duration) -> bool {
        let (stopped, wake) = &*self.shared;
        let guard = stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = wake.wait_timeout_while(guard, time, |stopped| !*stopped);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
pub(crate) mod manual {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::{Clock, Stop};

    /// A clock that only sleeping moves, and that remembers every sleep.
    #[derive(Debug, Default)]
    pub(crate) struct ManualClock {
        state: Mutex<(Duration, Vec<Duration>)>,
    }

    impl ManualClock {
        pub(crate) fn slept(&self) -> Vec<Duration> {
            self.state.lock().unwrap().1.clone()
        }
    }

    impl Clock for ManualClock {
        fn now(&self) -> Duration {
            self.state.lock().unwrap().0
        }

        fn sleep(&self, time: Duration, stop: &Stop) -> bool {
            let mut state = self.state.lock().unwrap();
            state.0 += time;
            state.1.push(time);
            stop.is_requested()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_request_wakes_a_sleeper() {
        let stop = Stop::default();
        assert!(!stop.wait(Duration::from_millis(1)));
        let other = stop.clone();
        let sleeper = std::thread::spawn(move || SystemClock::default().sleep(Duration::from_secs(600), &other));
        stop.request();
        assert!(sleeper.join().unwrap());
        assert!(stop.is_requested());
    }
}
