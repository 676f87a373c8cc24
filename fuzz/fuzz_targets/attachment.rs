//! The attachment readers: the first byte chooses a declared type, the rest is the file.
#![no_main]

mod check;

const TYPES: [&str; 10] = [
    "application/octet-stream; name=a.bin",
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/zip",
    "application/gzip",
    "application/rtf",
    "application/ms-tnef; name=winmail.dat",
    "text/calendar",
    "text/vcard",
    "image/png",
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((first, file)) = data.split_first() else { return };
    let kind = TYPES[usize::from(*first) % TYPES.len()];
    let mut message = format!("Content-Type: {kind}\nContent-Disposition: attachment\n\n").into_bytes();
    message.extend_from_slice(file);
    check::check(&message);
});
