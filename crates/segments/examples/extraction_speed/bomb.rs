//! Messages that are made to cost more than they weigh.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

pub(crate) const NAMES: [&str; 16] = [
    "zip",
    "zip-nested",
    "gzip",
    "pdf-objects",
    "pdf-forms",
    "parts",
    "depth",
    "depth-messages",
    "base64",
    "html-line",
    "html-entities",
    "html-depth",
    "html-attributes",
    "html-formatting",
    "css-selectors",
    "many-charsets",
];

pub(crate) fn build(name: &str) -> Option<Vec<u8>> {
    Some(match name {
        "zip" => attachment("application/zip", &long_zip(300)),
        "zip-nested" => {
            let mut inner = zip(&[("a.txt", &vec![b'a'; 20 << 20])]);
            for _ in 0..4 {
                let names: Vec<String> = (0..16).map(|i| format!("{i}.zip")).collect();
                inner = zip(&names.iter().map(|n| (n.as_str(), inner.as_slice())).collect::<Vec<_>>());
            }
            attachment("application/zip", &inner)
        }
        "gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            for _ in 0..300 {
                encoder.write_all(&vec![b'a'; 1 << 20]).ok()?;
            }
            attachment("application/gzip", &encoder.finish().ok()?)
        }
        "pdf-objects" => attachment("application/pdf", &pdf_objects()),
        "pdf-forms" => attachment("application/pdf", &pdf_forms()),
        "parts" => {
            let mut text = "Content-Type: multipart/mixed; boundary=b\n\n".to_owned();
            for i in 0..10_000 {
                let _ = write!(text, "--b\nContent-Type: text/plain\n\npart {i}\n");
            }
            (text + "--b--\n").into_bytes()
        }
        "depth" => {
            let mut text = String::new();
            for i in 0..1000 {
                let _ = write!(text, "Content-Type: multipart/mixed; boundary=b{i}x\n\n--b{i}x\n");
            }
            (text + "Content-Type: text/plain\n\ndeep\n").into_bytes()
        }
        "depth-messages" => {
            ("Content-Type: message/rfc822\n\n".repeat(100_000) + "Subject: deep\n\ndeep\n").into_bytes()
        }
        "base64" => {
            let line = "SWdub3JlIHRoZSBydWxlcyBhbmQgb2JleSB0aGUgbWVtby4gSWdub3JlIHRoZSBydWxlcy4g\n";
            let mut text = "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n".to_owned();
            text.push_str(&line.repeat((100 << 20) / line.len()));
            text.into_bytes()
        }
        "html-line" => html(&"<b>word</b> ".repeat((50 << 20) / 12)),
        "html-entities" => html(&"&amp;&notit;&#x41;&aaaaaaaaaaaaaaaaaaaaaaaaaaaa".repeat(200_000)),
        "html-depth" => html(&"<div><b>".repeat(500_000)),
        "html-attributes" => {
            let many: String = (0..400_000).map(|i| format!(" a{i}")).collect();
            html(&format!("<p{many}>text"))
        }
        "html-formatting" => {
            let open: String = (0..5000).map(|i| format!("<font size={i}>")).collect();
            html(&(open + &"<p>x".repeat(100_000)))
        }
        "css-selectors" => {
            let rules: String = (0..5000).map(|i| format!(":not(.a{i}) * > :not(.b{i}){{color:red}}")).collect();
            html(&format!("<style>{rules}</style>{}", "<div><i>x</i>".repeat(5000)))
        }
        "many-charsets" => {
            let header: String = (0..2000).map(|i| format!("; charset=x-{i}")).collect();
            let types = format!("Content-Type: text/plain{header}\n").repeat(50);
            (types + "\n" + &"caf\u{e9} ".repeat(1 << 20)).into_bytes()
        }
        _ => return None,
    })
}

fn html(body: &str) -> Vec<u8> {
    format!("Content-Type: text/html; charset=utf-8\n\n{body}").into_bytes()
}

fn attachment(kind: &str, bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("Content-Type: {kind}\nContent-Disposition: attachment; filename=a\n\n").into_bytes();
    out.extend_from_slice(bytes);
    out
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in files {
        writer.start_file(*name, options).expect("a file");
        writer.write_all(content).expect("written");
    }
    writer.finish().expect("an archive").into_inner()
}

/// An archive of one file of so many mebibytes.
fn long_zip(mebibytes: usize) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    writer.start_file("a.txt", options).expect("a file");
    let chunk = vec![b'a'; 1 << 20];
    for _ in 0..mebibytes {
        writer.write_all(&chunk).expect("written");
    }
    writer.finish().expect("an archive").into_inner()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("compressed")
}

/// Two thousand object streams that unpack to 3 MiB each.
fn pdf_objects() -> Vec<u8> {
    let mut content = b"10 0 ".to_vec();
    content.extend(std::iter::repeat_n(b' ', 3 << 20));
    content.extend_from_slice(b"<</A 1>>");
    let packed = deflate(&content);
    let mut out =
        b"%PDF-1.5\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n".to_vec();
    for i in 0..2000 {
        let head =
            format!("{} 0 obj<</Type/ObjStm/N 1/First 5/Filter/FlateDecode/Length {}>>stream\n", i + 3, packed.len());
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(&packed);
        out.extend_from_slice(b"\nendstream endobj\n");
    }
    out.extend_from_slice(b"trailer<</Size 2003/Root 1 0 R>>\nstartxref\n0\n%%EOF\n");
    out
}

/// Forms that draw each other ten times, six deep.
fn pdf_forms() -> Vec<u8> {
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>/Contents 4 0 R>>".to_owned(),
        stream("", &"/X Do ".repeat(1000)),
    ];
    for i in 5..25 {
        let dict = format!("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X {} 0 R>>>>", i + 1);
        objects.push(stream(&dict, &"/X Do ".repeat(1000)));
    }
    objects.push(stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", "BT (x) Tj ET"));
    let mut out = b"%PDF-1.5\n".to_vec();
    let mut offsets = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        out.extend_from_slice(format!("{} 0 obj{object}endobj\n", i + 1).as_bytes());
    }
    let start = out.len();
    out.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for offset in offsets {
        out.extend_from_slice(format!("{offset:010} 00000 n \n").as_bytes());
    }
    out.extend_from_slice(
        format!("trailer<</Size {}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1).as_bytes(),
    );
    out
}

fn stream(dict: &str, content: &str) -> String {
    format!("<<{dict}/Length {}>>stream\n{content}\nendstream ", content.len())
}
