use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;
use std::path::Path;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use wardline_defense::Text;

use crate::ClassifierError;
use crate::file::{read, write_beside};

/// How a text was cut before it was scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Chunking {
    /// Tokens of a window, without the special tokens that are put around it.
    pub window_tokens: usize,
    /// Tokens from the start of one window to the start of the next; equal to `window_tokens` when windows do not overlap.
    pub stride_tokens: usize,
    /// The most windows of a text that are read, from its start; `None` reads the whole text.
    #[serde(default)]
    pub max_windows: Option<usize>,
}

impl Chunking {
    /// The published choice: 510 tokens and two special ones, a new window every 256 tokens, the whole text.
    pub const PUBLISHED: Self = Self { window_tokens: 510, stride_tokens: 256, max_windows: None };

    /// A choice of one's own.
    ///
    /// # Errors
    /// A window, stride or cap of zero, or a stride longer than the window, which would leave text unread.
    pub fn new(
        window_tokens: usize,
        stride_tokens: usize,
        max_windows: Option<usize>,
    ) -> Result<Self, ClassifierError> {
        let invalid = |message: &str| Err(ClassifierError::Chunking(message.to_owned()));
        if window_tokens == 0 || stride_tokens == 0 || max_windows == Some(0) {
            return invalid("window, stride and cap must be at least 1");
        }
        if stride_tokens > window_tokens {
            return invalid("a stride longer than the window would leave tokens unread");
        }
        Ok(Self { window_tokens, stride_tokens, max_windows })
    }

    /// What a capped result carries at the end of its name, for instance `+4w` when four windows are read; empty without a cap.
    pub fn suffix(&self) -> String {
        self.max_windows.map_or_else(String::new, |n| format!("+{n}w"))
    }
}

/// The scores of one model on the texts of a corpus.
///
/// A table is a JSON object with `model`, `revision`, `requested_revision`, `positive_label`, `chunking`, `runtime` and `scores`:
/// the SHA-256 of a text's UTF-8 bytes in lower-case hex, and the probability of the positive label in 0..=1.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTable {
    /// `publisher/name` as on the hub, or a name of the registry.
    pub model: String,
    /// The revision that was run.
    pub revision: String,
    /// The revision that was asked for; empty when it was the pinned one.
    pub requested_revision: String,
    /// The label whose probability the scores are.
    pub positive_label: String,
    /// How texts were cut.
    pub chunking: Chunking,
    /// Names and versions of what ran the model.
    pub runtime: BTreeMap<String, Value>,
    scores: BTreeMap<Key, f64>,
}

impl fmt::Display for Chunking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "windows of {} tokens, a new one every {}", self.window_tokens, self.stride_tokens)?;
        self.max_windows.map_or(Ok(()), |n| write!(f, ", the first {n} alone"))
    }
}

/// SHA-256 of a text's UTF-8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key(pub(crate) [u8; 32]);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Key {
    fn parse(hex: &str) -> Option<Self> {
        if hex.len() != 64 || !hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        let mut key = [0; 32];
        for (byte, digits) in key.iter_mut().zip(hex.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(key))
    }
}

#[derive(Deserialize)]
struct Raw {
    model: String,
    revision: String,
    #[serde(default)]
    requested_revision: String,
    positive_label: String,
    chunking: Chunking,
    #[serde(default)]
    runtime: BTreeMap<String, Value>,
    #[serde(deserialize_with = "scores")]
    scores: BTreeMap<Key, f64>,
}

/// Reads the scores one by one, since a map type would keep the last of two equal keys without a word.
fn scores<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Key, f64>, D::Error> {
    struct Scores;
    impl<'de> Visitor<'de> for Scores {
        type Value = BTreeMap<Key, f64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of scores")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut scores = BTreeMap::new();
            while let Some((hex, score)) = map.next_entry::<String, f64>()? {
                let key = Key::parse(&hex)
                    .ok_or_else(|| A::Error::custom(format!("key {hex:?} is no SHA-256 in lower-case hex")))?;
                if !(0.0..=1.0).contains(&score) {
                    return Err(A::Error::custom(format!("score {score} of {hex} is outside 0..=1")));
                }
                if scores.insert(key, score).is_some() {
                    return Err(A::Error::custom(format!("key {hex} stands twice")));
                }
            }
            Ok(scores)
        }
    }
    deserializer.deserialize_map(Scores)
}

impl ScoreTable {
    /// A table without scores yet.
    pub fn new(
        model: impl Into<String>,
        revision: impl Into<String>,
        positive_label: impl Into<String>,
        chunking: Chunking,
    ) -> Self {
        Self {
            model: model.into(),
            revision: revision.into(),
            requested_revision: String::new(),
            positive_label: positive_label.into(),
            chunking,
            runtime: BTreeMap::new(),
            scores: BTreeMap::new(),
        }
    }

    /// Reads a table's JSON; `name` stands in errors.
    ///
    /// # Errors
    /// Not a table; a key that is no SHA-256 in lower-case hex or stands twice; a score outside 0..=1.
    pub fn parse(name: &str, json: &[u8]) -> Result<Self, ClassifierError> {
        let refused = |message: String| ClassifierError::Table { table: name.to_owned(), message };
        // A list of the right length would be read as one.
        if !json.trim_ascii_start().starts_with(b"{") {
            return Err(refused("a table is a JSON object".to_owned()));
        }
        let raw: Raw = serde_json::from_slice(json).map_err(|e| refused(e.to_string()))?;
        // It is printed on terminals.
        if raw.model.chars().any(char::is_control) {
            return Err(refused(format!("the model's name {:?} has control characters", raw.model)));
        }
        let Chunking { window_tokens, stride_tokens, max_windows } = raw.chunking;
        Ok(Self {
            model: raw.model,
            revision: raw.revision,
            requested_revision: raw.requested_revision,
            positive_label: raw.positive_label,
            chunking: Chunking::new(window_tokens, stride_tokens, max_windows).map_err(|e| refused(e.to_string()))?,
            runtime: raw.runtime,
            scores: raw.scores,
        })
    }

    /// Reads a table's file.
    ///
    /// # Errors
    /// A file that cannot be read, and as [`ScoreTable::parse`].
    pub fn read(path: &Path) -> Result<Self, ClassifierError> {
        Self::parse(&path.display().to_string(), &read(path)?)
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether the table has no scores.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// The score of the text with this SHA-256.
    pub fn score_of(&self, sha256: &[u8; 32]) -> Option<f64> {
        self.scores.get(&Key(*sha256)).copied()
    }

    /// The score of a text; the empty text scores 0 and needs no key.
    pub fn score(&self, text: &Text) -> Option<f64> {
        if text.as_str().is_empty() { Some(0.0) } else { self.score_of(text.sha256()) }
    }

    /// Sets a score.
    ///
    /// # Errors
    /// A score outside 0..=1, as of a model whose weights hold no numbers.
    pub fn insert(&mut self, sha256: [u8; 32], score: f64) -> Result<(), ClassifierError> {
        if !(0.0..=1.0).contains(&score) {
            return Err(ClassifierError::Table {
                table: self.model.clone(),
                message: format!("score {score} of {} is outside 0..=1", Key(sha256)),
            });
        }
        self.scores.insert(Key(sha256), score);
        Ok(())
    }

    /// The keys, in order, with their scores.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8; 32], f64)> {
        self.scores.iter().map(|(k, s)| (&k.0, *s))
    }

    /// Checks that every text has a score; `name` is the table's in the error.
    ///
    /// # Errors
    /// Texts without a score: how many, and the first few keys.
    pub fn require<'a>(&self, name: &str, texts: impl IntoIterator<Item = &'a Text>) -> Result<(), ClassifierError> {
        let mut missing: Vec<Key> =
            texts.into_iter().filter(|t| self.score(t).is_none()).map(|t| Key(*t.sha256())).collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return Ok(());
        }
        let first: Vec<String> = missing.iter().take(3).map(Key::to_string).collect();
        Err(ClassifierError::Missing {
            table: name.to_owned(),
            count: missing.len(),
            first: first.join(", ") + if missing.len() > first.len() { ", …" } else { "" },
        })
    }

    /// The table's JSON: keys sorted, one score a line, numbers as Python writes them, no newline at the end. A published
    /// table that is read and written has the same bytes.
    pub fn to_json(&self) -> String {
        let string = |s: &str| Value::from(s).to_string();
        let Chunking { window_tokens, stride_tokens, max_windows } = self.chunking;
        let cap = max_windows.map_or_else(String::new, |n| format!("  \"max_windows\": {n},\n"));
        let mut json = format!("{{\n \"chunking\": {{\n{cap}  \"stride_tokens\": {stride_tokens},\n");
        let mut line = |text: fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            let _ = json.write_fmt(text);
        };
        line(format_args!("  \"window_tokens\": {window_tokens}\n }},\n"));
        line(format_args!(" \"model\": {},\n", string(&self.model)));
        line(format_args!(" \"positive_label\": {},\n", string(&self.positive_label)));
        line(format_args!(" \"requested_revision\": {},\n", string(&self.requested_revision)));
        line(format_args!(" \"revision\": {},\n", string(&self.revision)));
        let runtime: Vec<_> = self.runtime.iter().map(|(k, v)| format!("\n  {}: {v}", string(k))).collect();
        line(format_args!(" \"runtime\": {},\n", object(&runtime)));
        let scores: Vec<_> = self.scores.iter().map(|(k, s)| format!("\n  \"{k}\": {}", Number(*s))).collect();
        line(format_args!(" \"scores\": {}\n}}", object(&scores)));
        json
    }

    /// Writes the table beside its path and renames it, so that a crash leaves the old file or the new one.
    ///
    /// # Errors
    /// A file that cannot be written, for instance for want of space.
    pub fn write(&self, path: &Path) -> Result<(), ClassifierError> {
        write_beside(path, self.to_json().as_bytes())
    }
}

fn object(entries: &[String]) -> String {
    if entries.is_empty() { "{}".to_owned() } else { format!("{{{}\n }}", entries.join(",")) }
}

/// A finite number in Python's notation: the shortest digits that read back, an exponent of two digits or more outside
/// 1e-4..1e16.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
            let scientific = format!("{:e}", self.0);
            if let Some((digits, exponent)) = scientific.split_once('e') {
                let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
                return write!(f, "{digits}e{sign}{exponent:0>2}");
            }
        }
        let shortest = format!("{:?}", self.0);
        // Where two shortest forms are equally near, Python takes the even one, as rounding to that many places does.
        let places = shortest.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let rounded = format!("{:.places$}", self.0);
        f.write_str(if rounded.parse() == Ok(self.0) { &rounded } else { &shortest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ScoreTable {
        let mut table = ScoreTable::new("ours/tiny", "r1", "INJECTION", Chunking::PUBLISHED);
        table.insert(*Text::new("a").sha256(), 0.25).unwrap();
        table.insert(*Text::new("b").sha256(), 3.5e-6).unwrap();
        table.runtime.insert("engine".into(), "test".into());
        table
    }

    #[test]
    fn numbers_are_written_as_python_does() {
        let shown = [0.0, 1.0, 0.5, 1e-4, 9.99e-5, 1.5e-7, 1e-10, 123456.0, 0.9950332641601562, 1e16]
            .map(|x| Number(x).to_string());
        assert_eq!(
            shown,
            ["0.0", "1.0", "0.5", "0.0001", "9.99e-05", "1.5e-07", "1e-10", "123456.0", "0.9950332641601562", "1e+16"]
        );
    }

    #[test]
    fn a_table_reads_back_as_written() {
        let json = table().to_json();
        assert!(json.contains("\"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\": 0.25"), "{json}");
        let back = ScoreTable::parse("t", json.as_bytes()).unwrap();
        assert_eq!(back, table());
        assert_eq!(back.to_json(), json);
        let mut capped = table();
        capped.chunking = Chunking::new(510, 256, Some(4)).unwrap();
        assert_eq!(ScoreTable::parse("t", capped.to_json().as_bytes()).unwrap().chunking.suffix(), "+4w");
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let key = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
        let with = |scores: &str| {
            let json = format!(
                r#"{{"model":"m","revision":"r","positive_label":"X","chunking":{{"window_tokens":510,"stride_tokens":256}},"scores":{{{scores}}}}}"#
            );
            ScoreTable::parse("t.json", json.as_bytes()).unwrap_err().to_string()
        };
        let upper = key.to_uppercase();
        for (scores, want) in [
            (format!("\"{key}\": 1.5"), "score 1.5 of ca97"),
            (format!("\"{key}\": NaN"), "t.json"),
            (format!("\"{key}\": null"), "t.json"),
            (format!("\"{key}\": 0.5, \"{key}\": 0.5"), "stands twice"),
            (format!("\"{upper}\": 0.5"), "lower-case hex"),
            ("\"ab\": 0.5".to_owned(), "no SHA-256"),
        ] {
            let error = with(&scores);
            assert!(error.contains(want) && error.contains("t.json"), "{error}");
        }
        let error = ScoreTable::parse("t.json", b"[]").unwrap_err().to_string();
        assert!(error.contains("t.json"), "{error}");
        let json = table().to_json().replace("\"stride_tokens\": 256", "\"stride_tokens\": 600");
        let error = ScoreTable::parse("t.json", json.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("unread"), "{error}");
    }

    #[test]
    fn a_list_and_a_name_that_moves_the_cursor_are_no_tables() {
        let chunking = r#"{"window_tokens":510,"stride_tokens":256}"#;
        let list = format!(r#"["m","r","","X",{chunking},{{}},{{}}]"#);
        let error = ScoreTable::parse("t.json", list.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("t.json") && error.contains("a table is a JSON object"), "{error}");
        let named = format!(
            r#"{{"model":"x\u001b[31m","revision":"r","positive_label":"X","chunking":{chunking},"scores":{{}}}}"#
        );
        let error = ScoreTable::parse("t.json", named.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("control characters") && !error.contains('\u{1b}'), "{error}");
    }

    #[test]
    fn missing_texts_are_counted_and_named() {
        let texts = [Text::new("a"), Text::new(""), Text::new("c"), Text::new("c"), Text::new("d")];
        let error = table().require("t.json", &texts).unwrap_err().to_string();
        assert!(error.starts_with("t.json lacks 2 texts"), "{error}");
        assert!(error.contains("18ac3e7343f016890c510e93f935261169d9e3f565436429830faf0934f4f8e4"), "{error}");
        table().require("t.json", &texts[..2]).unwrap();
        assert_eq!(table().score(&Text::new("")), Some(0.0));
    }

    #[test]
    fn published_tables_are_written_byte_for_byte() {
        #[expect(clippy::disallowed_methods, reason = "the folder of test data is named by a variable")]
        let Some(folder) = std::env::var_os("WARDLINE_SCORES") else {
            println!("skipped: WARDLINE_SCORES is not set (folder of published score tables)");
            return;
        };
        let folder = Path::new(&folder);
        for name in ["pairs/protectai", "attacks/protectai", "transformed/protectai-leet"] {
            let path = folder.join(name).with_extension("json");
            let table = ScoreTable::read(&path).unwrap();
            let (written, published) = (table.to_json(), std::fs::read_to_string(&path).unwrap());
            if let Some((a, b)) = written.lines().zip(published.lines()).find(|(a, b)| a != b) {
                panic!("{name}: {a} is not {b}");
            }
            assert_eq!(written.len(), published.len(), "{name}");
        }
    }
}
