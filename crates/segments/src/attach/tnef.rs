//! Outlook's `winmail.dat` (MS-OXTNEF): the body in its three forms, and the attachments.

use super::{Member, rtf};
use crate::decode::charset;

/// What a TNEF file holds.
#[derive(Debug, Default)]
pub(crate) struct Tnef {
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) html: String,
    pub(crate) rtf: Vec<u8>,
    pub(crate) files: Vec<Member>,
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}

/// Reads a TNEF file as far as it goes.
pub(crate) fn read(file: &[u8], max: usize) -> Tnef {
    let mut out = Tnef::default();
    let mut bytes = Bytes(file.get(6..).unwrap_or_default());
    while attribute(&mut bytes, &mut out, max).is_some() && out.files.len() < 200 {}
    out
}

fn attribute(bytes: &mut Bytes<'_>, out: &mut Tnef, max: usize) -> Option<()> {
    bytes.take(1)?;
    let id = bytes.u32()?;
    let length = bytes.u32()? as usize;
    let data = bytes.take(length.min(bytes.0.len()))?;
    let _checksum = bytes.take(2);
    match id & 0xffff {
        0x8004 => out.subject = narrow(data),
        0x800c => out.text.push_str(&narrow(data)),
        0x8010 => file(out).name = narrow(data),
        0x800f => file(out).bytes.extend_from_slice(data),
        0x9002 => out.files.push(Member::default()),
        0x9003 | 0x9005 => properties(data, out, max, id & 0xffff == 0x9005),
        _ => {}
    }
    Some(())
}

fn file(out: &mut Tnef) -> &mut Member {
    if out.files.is_empty() {
        out.files.push(Member::default());
    }
    let last = out.files.len() - 1;
    &mut out.files[last]
}

fn narrow(data: &[u8]) -> String {
    let end = data.iter().rposition(|b| *b != 0).map_or(0, |i| i + 1);
    charset::decode(&data[..end], None).text.into_owned()
}

fn wide(data: &[u8]) -> String {
    encoding_rs::UTF_16LE.decode_without_bom_handling(data).0.trim_end_matches('\0').to_owned()
}

/// The MAPI properties of the message or of an attachment.
fn properties(data: &[u8], out: &mut Tnef, max: usize, attachment: bool) {
    let mut bytes = Bytes(data);
    let Some(count) = bytes.u32() else { return };
    for _ in 0..count.min(10_000) {
        if property(&mut bytes, out, max, attachment).is_none() {
            return;
        }
    }
}

fn property(bytes: &mut Bytes<'_>, out: &mut Tnef, max: usize, attachment: bool) -> Option<()> {
    let tag = bytes.u32()?;
    let (kind, id) = (tag & 0xffff, tag >> 16);
    if id >= 0x8000 {
        // A named property: its set and its number or name.
        bytes.take(16)?;
        if bytes.u32()? == 0 {
            bytes.u32()?;
        } else {
            let length = bytes.u32()? as usize;
            bytes.take(length.next_multiple_of(4))?;
        }
    }
    let many = kind & 0x1000 != 0;
    let fixed = match kind & 0xfff {
        0x02 | 0x03 | 0x04 | 0x0a | 0x0b => Some(4),
        0x05 | 0x06 | 0x07 | 0x14 | 0x40 => Some(8),
        0x48 => Some(16),
        0x0d | 0x1e | 0x1f | 0x102 => None,
        _ => return None,
    };
    let values = if many || fixed.is_none() { bytes.u32()? } else { 1 };
    for _ in 0..values.min(1000) {
        let length = match fixed {
            Some(n) => n,
            None => bytes.u32()? as usize,
        };
        let value = bytes.take(length)?;
        let _padding = bytes.take((4 - length % 4) % 4);
        if attachment {
            if id == 0x3707 || (id == 0x3704 && file(out).name.is_empty()) {
                file(out).name = if kind & 0xfff == 0x1f { wide(value) } else { narrow(value) };
            } else if id == 0x3701 && file(out).bytes.is_empty() {
                file(out).bytes = value.iter().copied().take(max).collect();
            }
            continue;
        }
        match (id, kind & 0xfff) {
            (0x1000, 0x1f) => out.text.push_str(&wide(value)),
            (0x1000, _) => out.text.push_str(&narrow(value)),
            (0x1013, 0x1f) => out.html.push_str(&wide(value)),
            (0x1013, _) => out.html.push_str(&narrow(value)),
            (0x1009, _) => out.rtf = rtf::decompress(value, max).unwrap_or_default(),
            (0x0037, 0x1f) => out.subject = wide(value),
            _ => {}
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_and_files() {
        let mut tnef = b"\x78\x9f\x3e\x22\0\0".to_vec();
        let mut add = |level: u8, id: u32, data: &[u8]| {
            tnef.push(level);
            tnef.extend_from_slice(&id.to_le_bytes());
            tnef.extend_from_slice(&(data.len() as u32).to_le_bytes());
            tnef.extend_from_slice(data);
            tnef.extend_from_slice(&[0, 0]);
        };
        add(1, 0x0001_8004, b"Subject\0");
        let mut properties = 1_u32.to_le_bytes().to_vec();
        properties.extend_from_slice(&0x1000_001f_u32.to_le_bytes());
        properties.extend_from_slice(&1_u32.to_le_bytes());
        properties.extend_from_slice(&4_u32.to_le_bytes());
        properties.extend_from_slice(b"h\0i\0");
        add(1, 0x0006_9003, &properties);
        add(2, 0x0006_9002, &[0; 14]);
        add(2, 0x0001_8010, b"a.txt\0");
        add(2, 0x0006_800f, b"inside");
        let found = read(&tnef, 1000);
        assert_eq!((found.subject.as_str(), found.text.as_str()), ("Subject", "hi"));
        assert_eq!((found.files[0].name.as_str(), found.files[0].bytes.as_slice()), ("a.txt", &b"inside"[..]));
    }
}
