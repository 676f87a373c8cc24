//! Host names of links and addresses.

/// The host of an address or link, in lower case, defanging undone; `None` when there is none.
pub(super) fn host(target: &str) -> Option<String> {
    let target = target.trim().replace("[.]", ".").to_lowercase();
    let rest = match target.split_once("://") {
        Some((scheme, rest)) if ["http", "https", "hxxp", "hxxps", "ftp"].contains(&scheme) => rest,
        Some(_) => return None,
        None => target.strip_prefix("//").or_else(|| target.starts_with("www.").then_some(target.as_str()))?,
    };
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = if host.starts_with('[') { host } else { host.split(':').next()? };
    let host = host.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_owned())
}

/// Whether the link hides its host behind a user name, as in `http://www.bank.example@evil.example/`.
pub(super) fn has_user_part(target: &str) -> bool {
    let Some((_, rest)) = target.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains('.'))
}

/// Whether the host is a number: an IPv4 address in any of its spellings, or an IPv6 one.
pub(super) fn is_numeric(host: &str) -> bool {
    host.starts_with('[')
        || host.split('.').all(|p| !p.is_empty() && (p.bytes().all(|b| b.is_ascii_digit()) || p.starts_with("0x")))
}

/// The part of a host that somebody registered: the last two labels, or three below a second level such as `co.uk`. Without a list of
/// public suffixes this is a guess; it errs towards more than one owner under one name.
pub(super) fn registered(host: &str) -> String {
    const SECOND: [&str; 9] = ["co", "com", "org", "net", "ac", "gov", "edu", "or", "ne"];
    let labels: Vec<&str> = host.split('.').collect();
    let n = labels.len();
    let keep = match labels[..] {
        [.., second, top] if top.len() == 2 && SECOND.contains(&second) => 3,
        _ => 2,
    };
    labels[n.saturating_sub(keep)..].join(".")
}

/// The host that a text names, when the text is nothing but a link or host.
pub(super) fn named_host(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['.', ',', ';', ':', '!', ')']).replace("[.]", ".");
    if text.contains(char::is_whitespace) || text.contains('@') {
        return None;
    }
    let with_scheme = if text.contains("://") { text } else { format!("http://{text}") };
    let host = host(&with_scheme)?;
    let (_, top) = host.rsplit_once('.')?;
    let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '.';
    (host.chars().all(plain) && top.len() >= 2 && top.chars().all(char::is_alphabetic)).then_some(host)
}

/// The domain of a mail address.
pub(super) fn domain(address: &str) -> Option<&str> {
    address.rsplit_once('@').map(|(_, d)| d.trim_end_matches('>').trim()).filter(|d| d.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for (target, expected) in [
            ("http://WWW.Bank.example:80/x?y", Some("www.bank.example")),
            ("hxxps://a[.]example/x", Some("a.example")),
            ("http://www.bank.example@evil.example/", Some("evil.example")),
            ("http://[::1]/", Some("[::1]")),
            ("//cdn.example/x", Some("cdn.example")),
            ("www.bank.example", Some("www.bank.example")),
            ("mailto:a@b.example", None),
            ("javascript:alert(1)", None),
            ("#top", None),
            ("http://", None),
        ] {
            assert_eq!(host(target).as_deref(), expected, "{target}");
        }
        assert!(has_user_part("http://www.bank.example@evil.example/"));
        assert!(!has_user_part("http://evil.example/a@b.c"));
        assert!(
            is_numeric("10.0.0.1") && is_numeric("3232235777") && is_numeric("[::1]") && is_numeric("0xc0.0xa8.1.1")
        );
        assert!(!is_numeric("a.example") && !is_numeric("1.example"));
        assert_eq!(registered("a.b.example"), "b.example");
        assert_eq!(registered("shop.co.uk"), "shop.co.uk");
        assert_eq!(named_host("www.bank.example/login").as_deref(), Some("www.bank.example"));
        assert_eq!(named_host("click here"), None);
        assert_eq!(named_host("Click"), None);
        assert_eq!(named_host("version 1.2"), None);
        assert_eq!(named_host("1.2"), None);
    }
}
