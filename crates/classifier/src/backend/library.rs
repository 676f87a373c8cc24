use elf::ElfBytes;
use elf::abi::PT_LOAD;
use elf::endian::AnyEndian;

/// Whether a file that is in the ELF format holds all that its headers name; `true` of other formats. The system maps a library that
/// is cut off without a word, and ends the process at the first page that is not there.
pub(super) fn is_whole(file: &[u8]) -> bool {
    if !file.starts_with(b"\x7fELF") {
        return true;
    }
    // Refuses headers that the file does not hold.
    let Ok(parsed) = ElfBytes::<AnyEndian>::minimal_parse(file) else { return false };
    let within = |offset: u64, length: u64| offset.checked_add(length).is_some_and(|end| end <= file.len() as u64);
    let mut parts = parsed.segments().into_iter().flat_map(|table| table.iter());
    parts.all(|part| part.p_type != PT_LOAD || within(part.p_offset, part.p_filesz))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header, one part of ten bytes that is mapped, and one section header.
    fn small(wide: bool, big_endian: bool) -> Vec<u8> {
        let (word, head, program, section) = if wide { (8, 64, 56, 64) } else { (4, 52, 32, 40) };
        let mut file = vec![0; head + program + 10 + section];
        let mut put = |at: usize, size: usize, value: usize| {
            for i in 0..size {
                let place = if big_endian { at + size - 1 - i } else { at + i };
                file[place] = (value >> (8 * i)) as u8;
            }
        };
        put(4, 1, if wide { 2 } else { 1 });
        put(5, 1, if big_endian { 2 } else { 1 });
        // The version, there and in the header.
        put(6, 1, 1);
        put(20, 4, 1);
        let (programs_at, sections_at, sizes_at) = if wide { (32, 40, 54) } else { (28, 32, 42) };
        put(programs_at, word, head);
        put(sections_at, word, head + program + 10);
        for (i, size) in [program, 1, section, 1].into_iter().enumerate() {
            put(sizes_at + 2 * i, 2, size);
        }
        put(head, 4, 1);
        put(head + if wide { 8 } else { 4 }, word, head + program);
        put(head + if wide { 32 } else { 16 }, word, 10);
        file[..4].copy_from_slice(b"\x7fELF");
        file
    }

    #[test]
    fn cut_at_every_byte() {
        for (wide, big_endian) in [(true, false), (true, true), (false, false), (false, true)] {
            let mut file = small(wide, big_endian);
            assert!(is_whole(&file));
            assert!((4..file.len()).all(|n| !is_whole(&file[..n])), "{wide} {big_endian}");
            // A mapped part that ends behind the file.
            let (head, low) = if wide { (64, 32) } else { (52, 16) };
            let word = if wide { 8 } else { 4 };
            let at = head + low + if big_endian { word - 2 } else { 1 };
            file[at] = 1;
            assert!(!is_whole(&file));
        }
        assert!(is_whole(b"MZ") && is_whole(b""));
        // Offsets that no file has.
        let mut file = small(true, false);
        file[40..48].fill(0xff);
        assert!(!is_whole(&file));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_program_is_whole() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(program.starts_with(b"\x7fELF") && is_whole(&program));
        assert!(!is_whole(&program[..program.len() / 2]));
    }
}
