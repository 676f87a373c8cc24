//! Signatures of AWS requests, version 4.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::runner::hex;

/// What is signed with.
pub(crate) struct Signer<'a> {
    pub(crate) access_key: &'a str,
    pub(crate) secret_key: &'a str,
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
    /// Seconds since 1970.
    pub(crate) time: u64,
}

/// `20150830T123600Z` from seconds since 1970.
pub(crate) fn timestamp(time: u64) -> String {
    let (days, seconds) = (time / 86_400, time % 86_400);
    // Days to a date in a calendar that begins in March, so that the leap day comes last.
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

impl Signer<'_> {
    /// The `Authorization` header. `headers` are all that are signed: names in lower case, sorted, `host` and `x-amz-date` among them.
    /// `path` is encoded as it is sent; services other than S3 sign it encoded once more.
    pub(crate) fn authorization(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> String {
        let stamp = timestamp(self.time);
        let names = headers.iter().map(|h| h.0).collect::<Vec<_>>().join(";");
        let lines: String = headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
        let canonical = format!("{method}\n{}\n\n{lines}\n{names}\n{}", encode_path(path), hex(&Sha256::digest(body)));
        let scope = format!("{}/{}/{}/aws4_request", &stamp[..8], self.region, self.service);
        let to_sign = format!("AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{}", hex(&Sha256::digest(canonical.as_bytes())));
        let mut key = format!("AWS4{}", self.secret_key).into_bytes();
        for part in [&stamp[..8], self.region, self.service, "aws4_request"] {
            key = mac(&key, part);
        }
        let signature = hex(&mac(&key, &to_sign));
        format!("AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}", self.access_key)
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    // A MAC takes a key of any length, so that the error cannot occur.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn encode_path(path: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
    path.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(timestamp(0), "19700101T000000Z");
        assert_eq!(timestamp(1_440_938_160), "20150830T123600Z");
        assert_eq!(timestamp(1_709_251_199), "20240229T235959Z");
    }

    /// The first case of the signature test suite that AWS documents, `get-vanilla`.
    #[test]
    fn the_documented_example() {
        let signer = Signer {
            access_key: "AKIDEXAMPLE",
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            region: "us-east-1",
            service: "service",
            time: 1_440_938_160,
        };
        let headers = [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")];
        let expected = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
            SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
        assert_eq!(signer.authorization("GET", "/", &headers, b""), expected);
    }

    #[test]
    fn a_path_is_encoded_once_more() {
        assert_eq!(encode_path("/guardrail/arn%3Aaws/version/1/apply"), "/guardrail/arn%253Aaws/version/1/apply");
    }
}
