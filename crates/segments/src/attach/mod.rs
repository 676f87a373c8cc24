//! Readers of attachments: bytes in, text and members out. The walk decides what is given to them and accounts for the work.

#[cfg(feature = "archives")]
pub(crate) mod archive;
pub(crate) mod card;
#[cfg(feature = "pdf")]
pub(crate) mod pdf;
pub(crate) mod rtf;
pub(crate) mod tnef;
#[cfg(feature = "archives")]
pub(crate) mod xml;
#[cfg(feature = "archives")]
pub(crate) mod zip_file;

/// A file inside a file.
#[derive(Debug, Default)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Readable runs in a format that nobody reads here: ASCII and UTF-16LE, at least eight characters long.
pub(crate) fn strings(bytes: &[u8], max: usize) -> String {
    const LEAST: usize = 8;
    let mut out = String::new();
    for step in [1_usize, 2] {
        let mut run = String::new();
        let mut at = 0;
        while at + step <= bytes.len() && out.len() < max {
            let readable = (matches!(bytes[at], b' '..=b'~' | b'\t')) && (step == 1 || bytes[at + 1] == 0);
            if readable {
                run.push(bytes[at] as char);
                at += step;
                continue;
            }
            if run.len() >= LEAST && run.bytes().filter(u8::is_ascii_alphabetic).count() * 2 > run.len() {
                out.push_str(&run);
                out.push('\n');
            }
            run.clear();
            at += 1;
        }
        if run.len() >= LEAST {
            out.push_str(&run);
            out.push('\n');
        }
    }
    out
}
