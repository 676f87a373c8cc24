//! Kinds of mail by key words: strata for the draw and slices for the report, not labels to be trusted one by one.

/// The kind of a benign message.
pub(super) fn ham(headers: &str, subject: &str, body: &str) -> &'static str {
    let text = format!("{} {}", subject.to_lowercase(), start(body));
    let has = |words: &[&str]| words.iter().any(|w| text.contains(w));
    let on_list = ["\nlist-id:", "\nlist-post:", "\nx-mailing-list:", "\nx-beenthere:", "\nmailing-list:"]
        .iter()
        .any(|name| headers.contains(name));
    if has(&["unsubscribe", "newsletter", "to be removed from", "this issue", "daily digest"]) && !on_list {
        "newsletter"
    } else if has(&["invoice", "receipt", "your order", "order number", "shipping", "payment", "your account"]) {
        "transaction"
    } else if has(&["patch", "cvs", "bug", "kernel", "perl", "python", "compile", "rpm", "install", "linux", "debian"])
    {
        "technical"
    } else if has(&["security", "vulnerab", "password", "virus", "exploit", "spam"]) {
        "security"
    } else if has(&["http://", "https://", "url:"]) && on_list {
        "list_link"
    } else if on_list {
        "list_talk"
    } else if has(&["meeting", "schedule", "conference", "tomorrow", "next week"]) {
        "meeting"
    } else {
        "personal"
    }
}

/// The kind of a phishing or spam message.
pub(super) fn threat(subject: &str, body: &str) -> &'static str {
    let text = format!("{} {}", subject.to_lowercase(), start(body));
    let has = |words: &[&str]| words.iter().any(|w| text.contains(w));
    if has(&["paypal"]) {
        "payment_service"
    } else if has(&["ebay", "amazon", "auction"]) {
        "marketplace"
    } else if has(&["bank", "credit union", "visa", "mastercard", "online banking", "card number"]) {
        "bank"
    } else if has(&[
        "beneficiary",
        "next of kin",
        "transfer of the sum",
        "million united states",
        "inheritance",
        "lottery",
    ]) {
        "advance_fee"
    } else if has(&["viagra", "pills", "weight", "pharmacy", "herbal", "prescription", "hgh"]) {
        "health"
    } else if has(&["mortgage", "loan", "debt", "refinance", "insurance", "stock", "invest"]) {
        "finance"
    } else if has(&["work from home", "earn", "income", "business opportunity", "make money"]) {
        "work_at_home"
    } else if has(&["xxx", "porn", "adult", "nude", "girls"]) {
        "adult"
    } else if has(&["software", "download", "cd-rom", "printer", "toner"]) {
        "software"
    } else if has(&["account", "password", "verify", "suspend", "mailbox", "update your"]) {
        "account"
    } else {
        "other"
    }
}

fn start(body: &str) -> String {
    body.chars().take(4000).collect::<String>().to_lowercase()
}
