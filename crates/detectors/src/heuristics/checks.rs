//! Facts of addresses, links and attachments that no pattern over text can tell.

use wardline_segments::{Extraction, SegmentKind};

use super::hosts::{domain, has_user_part, host, is_numeric, named_host, registered};
use crate::MailFacts;

/// A check: what stands there when it fires. The flag says whether an injection rule fired in text that a person does not see.
pub(super) type Check = fn(&Extraction, &MailFacts, bool) -> Option<String>;

/// The check of a name.
pub(super) fn check(name: &str) -> Option<Check> {
    Some(match name {
        "injection_in_hidden_text" => injection_in_hidden_text,
        "link_text_differs" => link_text_differs,
        "link_to_number" => link_to_number,
        "link_with_user_part" => link_with_user_part,
        "link_to_odd_port" => link_to_odd_port,
        "links_leave_brand" => links_leave_brand,
        "brand_in_name_only" => brand_in_name_only,
        "lookalike_host" => lookalike_host,
        "address_in_name_differs" => address_in_name_differs,
        "reply_to_differs" => reply_to_differs,
        "risky_attachment" => risky_attachment,
        "form" => form,
        "shouting_subject" => shouting_subject,
        "images_and_little_text" => images_and_little_text,
        _ => return None,
    })
}

/// Names that are often borrowed, and the domains that they own. Facts, kept short: what is not here is not missed, only less sure.
const BRANDS: &[(&str, &[&str])] = &[
    ("paypal", &["paypal.com"]),
    ("ebay", &["ebay.com", "ebay.co.uk", "ebay.de", "ebaystatic.com"]),
    ("amazon", &["amazon.com", "amazon.co.uk", "amazon.de", "amazonaws.com"]),
    ("citibank", &["citibank.com", "citi.com", "citicards.com"]),
    ("citizens bank", &["citizensbank.com", "citizensbankonline.com"]),
    ("wells fargo", &["wellsfargo.com"]),
    ("bank of america", &["bankofamerica.com"]),
    ("washington mutual", &["wamu.com"]),
    ("suntrust", &["suntrust.com"]),
    ("charter one", &["charterone.com", "charteronebank.com"]),
    ("huntington", &["huntington.com"]),
    ("lasalle", &["lasallebank.com"]),
    ("southtrust", &["southtrust.com"]),
    ("barclays", &["barclays.co.uk", "barclays.com"]),
    ("hsbc", &["hsbc.com", "hsbc.co.uk"]),
    ("lloyds", &["lloydstsb.co.uk", "lloydsbank.com"]),
    ("chase", &["chase.com"]),
    ("visa", &["visa.com"]),
    ("mastercard", &["mastercard.com"]),
    ("microsoft", &["microsoft.com", "office.com", "live.com", "outlook.com", "microsoftonline.com", "msn.com"]),
    ("apple id", &["apple.com", "icloud.com"]),
    ("netflix", &["netflix.com"]),
    ("docusign", &["docusign.com", "docusign.net"]),
    ("dhl", &["dhl.com", "dhl.de"]),
    ("fedex", &["fedex.com"]),
    ("irs", &["irs.gov"]),
];

fn link_hosts(facts: &MailFacts) -> impl Iterator<Item = (String, &crate::Link)> {
    facts.links.iter().filter_map(|link| host(&link.target).map(|h| (h, link)))
}

fn injection_in_hidden_text(_: &Extraction, _: &MailFacts, hidden: bool) -> Option<String> {
    hidden.then(|| "an injection rule fires in hidden or encoded text".into())
}

fn link_text_differs(_: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    link_hosts(facts).find_map(|(target, link)| {
        let said = named_host(&link.text)?;
        (registered(&said) != registered(&target)).then(|| format!("{said} leads to {target}"))
    })
}

fn link_to_number(extraction: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    let linked = link_hosts(facts).map(|(h, _)| h).find(|h| is_numeric(h));
    linked.or_else(|| {
        let bodies = extraction.contents(SegmentKind::TextPlain).chain(extraction.contents(SegmentKind::HtmlVisible));
        bodies.flat_map(|text| text.match_indices("http://").take(20).map(move |(i, _)| &text[i..])).find_map(|url| {
            let url = url.split(|c: char| c.is_whitespace() || "<>\"')".contains(c)).next()?;
            host(url).filter(|h| is_numeric(h))
        })
    })
}

fn link_with_user_part(_: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    facts.links.iter().find(|l| has_user_part(&l.target)).map(|l| l.target.chars().take(80).collect())
}

fn link_to_odd_port(_: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    facts.links.iter().find_map(|link| {
        let authority = link.target.split_once("://")?.1.split(['/', '?']).next()?;
        let port = authority.rsplit_once(':')?.1;
        let odd =
            !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && !["80", "443", "8080"].contains(&port);
        odd.then(|| authority.to_owned())
    })
}

fn owns(domains: &[&str], host: &str) -> bool {
    domains.iter().any(|d| host == *d || host.strip_suffix(d).is_some_and(|rest| rest.ends_with('.')))
}

/// The brand that the author says to be, by name, address or subject.
fn said_brand(extraction: &Extraction, facts: &MailFacts) -> Option<&'static (&'static str, &'static [&'static str])> {
    let subject = extraction.segments.iter().find(|s| s.reference == "subject").map_or("", |s| &s.content);
    let name = facts.from_name.to_lowercase();
    let subject = subject.to_lowercase();
    let has = |text: &str, brand: &str| {
        text.match_indices(brand).any(|(i, _)| {
            let before = text[..i].chars().next_back();
            let after = text[i + brand.len()..].chars().next();
            !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
        })
    };
    let of_domain = |domains: &[&str]| domain(&facts.from_address).is_some_and(|d| owns(domains, d));
    BRANDS.iter().find(|(brand, domains)| has(&name, brand) || has(&subject, brand) || of_domain(domains))
}

fn links_leave_brand(extraction: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    let (brand, domains) = said_brand(extraction, facts)?;
    // Text alone may speak of a brand; an author that says to be one counts.
    let name = facts.from_name.to_lowercase();
    let of_brand = domain(&facts.from_address).is_some_and(|d| owns(domains, d)) || name.contains(brand);
    let (other, _) = link_hosts(facts).find(|(h, _)| !owns(domains, h)).filter(|_| of_brand)?;
    Some(format!("{brand} links to {other}"))
}

fn brand_in_name_only(_: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    let name = facts.from_name.to_lowercase();
    let (_, domains) = BRANDS.iter().find(|(brand, _)| {
        name.split(|c: char| !c.is_alphanumeric()).any(|w| w == *brand) || (brand.contains(' ') && name.contains(brand))
    })?;
    let from = domain(&facts.from_address)?;
    (!owns(domains, from)).then(|| format!("{} <{}>", facts.from_name, facts.from_address))
}

/// A host that resembles a brand: the brand as one word of a longer label, one letter off it, digits for letters, or other alphabets.
fn lookalike_host(_: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    let from = domain(&facts.from_address).map(str::to_owned);
    let reply = domain(&facts.reply_to).map(str::to_owned);
    link_hosts(facts).map(|(h, _)| h).chain(from).chain(reply).find(|h| resembles(h))
}

fn resembles(host: &str) -> bool {
    let mixed = |label: &str| label.chars().any(|c| c.is_ascii_alphabetic()) && !label.is_ascii();
    if host.split('.').any(|label| label.starts_with("xn--") || mixed(label)) {
        return true;
    }
    let registered = registered(host);
    let label = registered.split('.').next().unwrap_or_default();
    let letters: String = label
        .chars()
        .map(|c| match c {
            '0' => 'o',
            '1' => 'l',
            '3' => 'e',
            '5' => 's',
            c => c,
        })
        .collect();
    BRANDS.iter().filter(|(brand, domains)| brand.len() >= 5 && !brand.contains(' ') && !owns(domains, host)).any(
        |(brand, _)| {
            let word = label.split('-').any(|part| part == *brand) && label != *brand;
            let digits = letters == *brand && label != *brand;
            let below = host.split('.').rev().skip(2).any(|l| l == *brand) && registered != *brand;
            word || digits || below || one_off(label, brand)
        },
    )
}

/// Whether two words of about the same length differ in one letter: put in, left out, changed, or swapped with its neighbour.
fn one_off(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a == b || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let front = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let back = a[front..].iter().rev().zip(b[front..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (left_a, left_b) = (a.len() - front - back, b.len() - front - back);
    let swapped = left_a == 2 && left_b == 2 && a[front] == b[front + 1] && a[front + 1] == b[front];
    left_a.max(left_b) <= 1 || swapped
}

fn address_in_name_differs(_: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    let name = facts.from_name.to_lowercase();
    let said = name.split(|c: char| c.is_whitespace() || "<>()\"',;".contains(c)).find_map(domain)?;
    let from = domain(&facts.from_address)?;
    (registered(said) != registered(from)).then(|| format!("{} <{}>", facts.from_name, facts.from_address))
}

fn reply_to_differs(_: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    let (from, reply) = (domain(&facts.from_address)?, domain(&facts.reply_to)?);
    (registered(from) != registered(reply)).then(|| format!("{} answers to {}", facts.from_address, facts.reply_to))
}

fn risky_attachment(_: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    const RISKY: [&str; 22] = [
        "exe", "scr", "pif", "com", "bat", "cmd", "cpl", "js", "jse", "vbs", "vbe", "wsf", "hta", "lnk", "iso", "img",
        "ps1", "jar", "chm", "reg", "html", "htm",
    ];
    facts
        .attachments
        .iter()
        .find(|name| {
            let name = name.trim().to_lowercase();
            name.rsplit_once('.').is_some_and(|(_, end)| RISKY.contains(&end))
        })
        .cloned()
}

fn form(_: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    facts.form.then(|| "the HTML holds a form".into())
}

fn shouting_subject(extraction: &Extraction, _: &MailFacts, _: bool) -> Option<String> {
    let subject = extraction.segments.iter().find(|s| s.reference == "subject")?;
    let letters = subject.content.chars().filter(|c| c.is_alphabetic()).count();
    let upper = subject.content.chars().filter(|c| c.is_uppercase()).count();
    let loud = letters >= 10 && upper * 10 >= letters * 9 || subject.content.contains("!!");
    loud.then(|| subject.content.chars().take(80).collect())
}

fn images_and_little_text(extraction: &Extraction, facts: &MailFacts, _: bool) -> Option<String> {
    let text: usize = [SegmentKind::TextPlain, SegmentKind::HtmlVisible]
        .into_iter()
        .flat_map(|kind| extraction.contents(kind))
        .map(str::len)
        .sum();
    (!facts.links.is_empty() && text < 40).then(|| format!("{} links and {text} bytes of text", facts.links.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookalikes() {
        for host in [
            "paypa1.example",
            "paypal-secure.example",
            "www.paypal.evil.example",
            "papyal.com",
            "paypall.com",
            "xn--pypal-4ve.com",
        ] {
            assert!(resembles(host), "{host}");
        }
        for host in
            ["www.paypal.com", "example.com", "news.example.org", "payday.example", "amazon.com", "s3.amazonaws.com"]
        {
            assert!(!resembles(host), "{host}");
        }
    }
}
