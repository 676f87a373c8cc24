//! Real ham, spam and phishing, and the malformed messages of other projects: no panic, no hang, every promise kept.

use std::time::{Duration, Instant};

use crate::common::{checked, upstream};
use crate::files::files;
use crate::mbox::mbox;

/// Far above the two seconds that the bench holds a release build to: this is a debug build beside other work.
const HANG: Duration = Duration::from_secs(60);

#[test]
#[expect(clippy::disallowed_methods, reason = "a hang is told by the clock")]
fn every_upstream_message() {
    let Some(folder) = upstream() else { return };
    let mut messages = 0;
    for path in ["spamassassin", "nazario", "mime"].iter().flat_map(|f| files(&folder.join(f))) {
        let bytes = std::fs::read(&path).expect("a readable file");
        let parts = if path.extension().is_some_and(|e| e == "mbox") { mbox(&bytes) } else { vec![bytes.as_slice()] };
        for (i, raw) in parts.iter().enumerate() {
            let started = Instant::now();
            checked(raw, &format!("{} #{i}", path.display()));
            assert!(started.elapsed() < HANG, "{} #{i}: {:?}", path.display(), started.elapsed());
            messages += 1;
        }
    }
    assert!(messages > 8000, "only {messages} messages");
}
