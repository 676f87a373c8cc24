/// Letters of other scripts that look like Latin ones in common fonts: Cyrillic, Greek and Armenian.
const LOOKALIKES: &str = "аеорсухіјѕԁһԛԝѵґАВЕКМНОРСТХУІЈЅԌѴаοαιρνυχκτγΑΒΕΖΗΙΚΜΝΟΡΤΥΧսոօզհց";

fn looks_latin(c: char) -> bool {
    LOOKALIKES.contains(c)
}

/// Mathematical letters, which stand for Latin ones wherever they are.
fn mathematical(c: char) -> bool {
    ('\u{1d400}'..='\u{1d7ff}').contains(&c)
}

/// Counts letters and look-alikes.
#[derive(Debug, Default)]
pub(super) struct Letters {
    all: u64,
    alike: u64,
}

impl Letters {
    pub(super) fn ascii(&mut self, text: &str) {
        // Counts of at most 255 fit a byte, which lets the compiler count many bytes at once.
        let count = |chunk: &[u8]| chunk.iter().map(|b| u8::from(b.is_ascii_alphabetic())).sum::<u8>();
        self.all += text.as_bytes().chunks(255).map(|chunk| u64::from(count(chunk))).sum::<u64>();
    }

    /// Counts a text; gives the offset and the text of its first word with look-alikes.
    pub(super) fn add(&mut self, text: &str) -> Option<(usize, String)> {
        // No look-alike's first byte is here: most text that is not ASCII has but a few spaces and dashes that are not.
        if !text.bytes().any(|b| matches!(b, 0xcd..=0xd6 | 0xf0)) {
            self.ascii(text);
            self.all += text.chars().filter(|c| !c.is_ascii() && c.is_alphabetic()).count() as u64;
            return None;
        }
        let mut first = None;
        for word in text.split(|c: char| !c.is_alphabetic()) {
            if word.is_empty() {
                continue;
            }
            if word.is_ascii() {
                self.all += word.len() as u64;
                continue;
            }
            let (mut all, mut alike, mut maths, mut latin) = (0, 0, 0, false);
            for c in word.chars() {
                all += 1;
                latin |= c.is_ascii_alphabetic();
                alike += u64::from(looks_latin(c));
                maths += u64::from(mathematical(c));
            }
            self.all += all;
            let found = maths + if latin { alike } else { 0 };
            self.alike += found;
            if found > 0 && first.is_none() {
                let offset = word.as_ptr() as usize - text.as_ptr() as usize;
                first = Some((offset, word.chars().take(30).collect()));
            }
        }
        first
    }

    /// Look-alikes over letters, four decimals.
    pub(super) fn ratio(&self) -> f64 {
        if self.all == 0 {
            return 0.0;
        }
        (self.alike as f64 / self.all as f64 * 10_000.0).round() / 10_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(text: &str) -> f64 {
        let mut letters = Letters::default();
        letters.add(text);
        letters.ratio()
    }

    #[test]
    fn only_mixed_words_count() {
        assert_eq!(ratio("Привет, мир"), 0.0);
        assert_eq!(ratio("pаypаl"), 0.3333);
        assert_eq!(ratio("наш paypal"), 0.0);
        assert_eq!(ratio("𝐈𝐠"), 1.0);
    }
}
