//! The attachment readers: the first line is the declared type, the rest is the file.
#![no_main]

mod check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some(end) = data.iter().take(200).position(|b| *b == b'\n') else { return };
    let mut message = b"Content-Disposition: attachment\nContent-Type: ".to_vec();
    message.extend_from_slice(&data[..=end]);
    message.push(b'\n');
    message.extend_from_slice(&data[end + 1..]);
    check::check(&message);
});
