use std::time::Duration;

/// When and how often a failed request is put again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// Requests for one answer at most, the first included. Default 5.
    pub attempts: u32,
    /// The wait before the second request, before jitter; it doubles from then on. Default 1 s.
    pub base: Duration,
    /// The longest wait that doubling leads to. Default 60 s.
    pub cap: Duration,
    /// The longest wait that a service may ask for; when it asks for more the run ends. Default 300 s.
    pub longest_asked: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 5,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(60),
            longest_asked: Duration::from_secs(300),
        }
    }
}

impl Retry {
    /// The wait after the given failed request, counted from 1: half of it fixed, half of it times `jitter` in 0..1.
    ///
    /// ```
    /// use std::time::Duration;
    /// let retry = wardline_detectors::Retry::default();
    /// assert_eq!(retry.wait(1, 0.0), Duration::from_millis(500));
    /// assert_eq!(retry.wait(3, 1.0), Duration::from_secs(4));
    /// assert_eq!(retry.wait(60, 1.0), Duration::from_secs(60));
    /// ```
    #[must_use]
    pub fn wait(&self, failed: u32, jitter: f64) -> Duration {
        let doubled = self.base.saturating_mul(2_u32.saturating_pow(failed.saturating_sub(1)));
        doubled.min(self.cap).mul_f64(0.5 + 0.5 * jitter.clamp(0.0, 1.0))
    }
}

/// Reads a `Retry-After` header: seconds, or a date, which is measured against the reply's own `Date` header.
///
/// `None` when it is neither, or a date without anything to measure it against. A date in the past is no wait.
#[must_use]
pub fn parse_retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let (until, from) = (parse_http_date(value)?, parse_http_date(date?.trim())?);
    Some(Duration::from_secs(until.saturating_sub(from)))
}

/// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`, the only date form that servers may still send (RFC 9110, 5.6.7).
fn parse_http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_once(", ")?.1.split(' ');
    let day: u64 = words.next()?.parse().ok().filter(|d| (1..=31).contains(d))?;
    let month = words.next().and_then(|m| MONTHS.iter().position(|name| *name == m))? as u64 + 1;
    let year: u64 = words.next()?.parse().ok().filter(|y| (1970..=9999).contains(y))?;
    let mut clock = words.next()?.splitn(3, ':').map(|n| n.parse::<u64>().ok().filter(|n| *n < 61));
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    // Days from a calendar that begins in March, so that the leap day comes last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1;
    (words.next() == Some("GMT")).then(|| (days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates() {
        assert_eq!(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse_http_date("Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
        for wrong in ["", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37 CET", "Sunday, 06-Nov-94 08:49:37 GMT"] {
            assert_eq!(parse_http_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn retry_after() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(parse_retry_after("7", None), Some(Duration::from_secs(7)));
        assert_eq!(parse_retry_after(" 0.25 ", None), Some(Duration::from_millis(250)));
        assert_eq!(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", date), Some(Duration::from_secs(30)));
        assert_eq!(parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", date), Some(Duration::ZERO));
        assert_eq!(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", None), None);
        for wrong in ["", "-3", "soon", "inf", "NaN", "1e400"] {
            assert_eq!(parse_retry_after(wrong, date), None, "{wrong}");
        }
    }
}
