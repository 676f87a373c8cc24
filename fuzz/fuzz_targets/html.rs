//! The visible/hidden split: the input is the body of an HTML message.
#![no_main]

mod check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut message = b"Content-Type: text/html; charset=utf-8\n\n".to_vec();
    message.extend_from_slice(data);
    check::check(&message);
});
