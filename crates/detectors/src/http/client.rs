use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::policy::{Caller, Usage};
use crate::protocol::start;
use crate::{DetectorError, ErrorClass, Failure, parse_retry_after};

/// A key. It shows in no output.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key; white space around it, such as a file's last line break, is no part of it.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into().trim().to_owned())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

/// How requests are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpOptions {
    /// For a whole request, from its name lookup to the last byte of the answer. Default 60 s.
    pub timeout: Duration,
    /// Bytes of an answer at most. Default 4 MiB.
    pub max_reply: u64,
    /// A proxy, such as `http://proxy.example:3128`. None is used without it, whatever the environment says.
    pub proxy: Option<String>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(60), max_reply: 4 << 20, proxy: None }
    }
}

/// Puts JSON requests under a [`Caller`]'s policy.
///
/// Redirects are not followed: a key must not travel to another host.
pub struct Client {
    agent: ureq::Agent,
    caller: Caller,
    max_reply: u64,
    timeout: Duration,
}

/// One request.
pub(crate) struct Request {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// What must not show in an error.
    pub(crate) secrets: Vec<Secret>,
    /// What the request will use at most, as far as one can say.
    pub(crate) estimate: Usage,
}

impl Client {
    /// A client.
    ///
    /// # Errors
    /// The proxy's address is wrong.
    pub fn new(options: &HttpOptions, caller: Caller) -> Result<Self, DetectorError> {
        let proxy = match &options.proxy {
            Some(address) => Some(
                ureq::Proxy::new(address)
                    .map_err(|_| DetectorError::detector("http", "the proxy's address is wrong"))?,
            ),
            None => None,
        };
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy)
            .timeout_global(Some(options.timeout))
            .user_agent(concat!("wardline/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { agent: config.new_agent(), caller, max_reply: options.max_reply, timeout: options.timeout })
    }

    /// What puts the requests.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Puts a request until it is answered well or cannot be; `read` makes an answer of the JSON and says what it cost.
    pub(crate) fn ask<T>(
        &self,
        request: impl Fn() -> Result<Request, Failure>,
        read: impl Fn(&Value) -> (Result<T, Failure>, Usage),
    ) -> Result<(T, Duration, Usage), Failure> {
        let estimate = request()?.estimate;
        let (answer, used) = self.caller.call(estimate, || {
            let one = Usage::new(1, 0, 0);
            // Made anew each time: a signature has a date.
            let request = match request() {
                Ok(request) => request,
                Err(failure) => return (Err(failure), Usage::default()),
            };
            let json = match self.send(&request) {
                Ok(json) => json,
                Err(failure) => return (Err(clean(failure, &request.secrets)), one),
            };
            let (answer, mut usage) = read(&json);
            usage.requests = 1;
            let with_start = |mut failure: Failure| {
                failure.message = format!("{} in {:?}", failure.message, start(&json.to_string()));
                clean(failure, &request.secrets)
            };
            (answer.map_err(with_start), usage)
        });
        match answer {
            Ok((value, took)) => Ok((value, took, used)),
            Err(mut failure) => {
                failure.usage = used;
                Err(failure)
            }
        }
    }

    fn send(&self, request: &Request) -> Result<Value, Failure> {
        let mut builder = self.agent.post(&request.url).header("content-type", "application/json");
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        let mut response = builder.send(&request.body[..]).map_err(|e| self.failure(&e))?;
        let status = response.status();
        let header = |name: &str| response.headers().get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
        let (retry_after, retry_after_ms, date) = (header("retry-after"), header("retry-after-ms"), header("date"));
        let body = response.body_mut().with_config().limit(self.max_reply).read_to_vec();
        if !status.is_success() {
            // What cannot be read of an error page is no loss.
            let body = body.unwrap_or_default();
            let reason = status.canonical_reason().unwrap_or_default();
            let message = format!("{} {reason}: {}", status.as_u16(), start(&String::from_utf8_lossy(&body)));
            let mut failure = Failure::new(class_of(status.as_u16()), message.trim_end_matches([':', ' ']));
            failure.fatal = status.as_u16() == 401;
            let milliseconds = retry_after_ms.and_then(|ms| ms.trim().parse().ok()).map(Duration::from_millis);
            let seconds = || retry_after.and_then(|value| parse_retry_after(&value, date.as_deref()));
            failure.retry_after = milliseconds.or_else(seconds).or_else(|| retry_delay(&body));
            return Err(failure);
        }
        let body = body.map_err(|e| self.failure(&e))?;
        let wrong = |what: &str| {
            let message = format!("{what}: {:?}", start(&String::from_utf8_lossy(&body)));
            Failure::new(ErrorClass::Reply, message)
        };
        if body.is_empty() {
            return Err(Failure::new(ErrorClass::Reply, "the answer is empty"));
        }
        let text = std::str::from_utf8(&body).map_err(|_| wrong("the answer is no UTF-8"))?;
        serde_json::from_str(text).map_err(|_| wrong("the answer is no JSON"))
    }

    fn failure(&self, error: &ureq::Error) -> Failure {
        use ureq::Error as E;
        let (class, message) = match error {
            E::Timeout(_) => (ErrorClass::Timeout, format!("no answer within {} s", self.timeout.as_secs_f64())),
            E::BodyExceedsLimit(limit) => (ErrorClass::TooLarge, format!("the answer is longer than {limit} bytes")),
            E::Io(e) if e.kind() == std::io::ErrorKind::TimedOut => (ErrorClass::Timeout, e.to_string()),
            E::Io(e) => (ErrorClass::Connection, e.to_string()),
            E::BadUri(_) | E::Http(_) | E::InvalidProxyUrl | E::RequireHttpsOnly(_) => {
                (ErrorClass::BadRequest, "the address or a header is wrong".into())
            }
            E::LargeResponseHeader(..) => (ErrorClass::TooLarge, error.to_string()),
            other => (ErrorClass::Connection, other.to_string()),
        };
        let mut failure = Failure::new(class, message);
        failure.fatal = class == ErrorClass::BadRequest;
        failure
    }
}

fn class_of(status: u16) -> ErrorClass {
    match status {
        401..=403 => ErrorClass::Auth,
        408 | 425 | 504 => ErrorClass::Timeout,
        429 => ErrorClass::RateLimited,
        // Not implemented, or a version that is not spoken: it will not pass later.
        501 | 505 => ErrorClass::BadRequest,
        500..=599 => ErrorClass::Server,
        _ => ErrorClass::BadRequest,
    }
}

/// The wait that Google's services ask for in the body.
fn retry_delay(body: &[u8]) -> Option<Duration> {
    let json: Value = serde_json::from_slice(body).ok()?;
    let details = json.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|d| d.get("retryDelay"))?.as_str()?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

/// Takes keys out of a message: a service may repeat what it was sent.
fn clean(mut failure: Failure, secrets: &[Secret]) -> Failure {
    for secret in secrets.iter().filter(|s| !s.0.is_empty()) {
        failure.message = failure.message.replace(secret.reveal(), "[key]");
    }
    failure
}

/// Joins an address and a path with one slash between them.
pub(crate) fn join(base: &str, path: &str) -> String {
    format!("{}/{}", base.trim_end_matches('/'), path.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_do_not_show() {
        let secret = Secret::new("sk-12345\n");
        assert_eq!(format!("{secret:?}"), "[key]");
        let failure = clean(Failure::new(ErrorClass::Auth, "bad key sk-12345!"), &[secret, Secret::new("")]);
        assert_eq!(failure.message, "bad key [key]!");
    }

    #[test]
    fn classes() {
        for (status, class) in [
            (400, ErrorClass::BadRequest),
            (302, ErrorClass::BadRequest),
            (404, ErrorClass::BadRequest),
            (401, ErrorClass::Auth),
            (403, ErrorClass::Auth),
            (408, ErrorClass::Timeout),
            (429, ErrorClass::RateLimited),
            (500, ErrorClass::Server),
            (503, ErrorClass::Server),
            (529, ErrorClass::Server),
            (501, ErrorClass::BadRequest),
        ] {
            assert_eq!(class_of(status), class, "{status}");
        }
    }

    #[test]
    fn the_delay_of_a_body() {
        let body = br#"{"error":{"code":429,"details":[{"@type":"x"},{"retryDelay":"34.5s"}]}}"#;
        assert_eq!(retry_delay(body), Some(Duration::from_millis(34_500)));
        assert_eq!(retry_delay(b"{\"error\":{\"details\":[{\"retryDelay\":\"soon\"}]}}"), None);
        assert_eq!(retry_delay(b"<html>"), None);
    }
}
