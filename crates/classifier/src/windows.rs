//! Cutting texts into windows of tokens.

use std::ops::Range;

use tokenizers::{Tokenizer, TruncationDirection};

use crate::Chunking;

/// A tokenizer and how its texts are cut.
pub(crate) struct Cutter {
    tokenizer: Tokenizer,
    chunking: Chunking,
}

impl Cutter {
    /// Reads a `tokenizer.json`. Its own padding and truncation are left out: windows are cut here.
    pub(crate) fn new(json: &[u8], chunking: Chunking) -> Result<Self, String> {
        let unreadable = |e: tokenizers::Error| format!("tokenizer.json cannot be read: {e}");
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(unreadable)?;
        tokenizer.with_truncation(None).map_err(unreadable)?;
        tokenizer.with_padding(None);
        Ok(Self { tokenizer, chunking })
    }

    /// The largest id that the tokenizer can give, added tokens included; `None` without tokens.
    pub(crate) fn largest_id(&self) -> Option<u32> {
        #[expect(clippy::disallowed_methods, reason = "the largest does not depend on the order")]
        self.tokenizer.get_vocab(true).into_values().max()
    }

    /// The special tokens put around a window.
    pub(crate) fn special_tokens(&self) -> usize {
        use tokenizers::PostProcessor;
        self.tokenizer.get_post_processor().map_or(0, |p| p.added_tokens(false))
    }

    /// The token ids of each window of a text, special tokens included.
    ///
    /// A text that is longer than a window is cut at its tokens' offsets and each piece is tokenized on its own, as a reader
    /// of that piece alone would; a piece whose tokens are more than a window, which a cut within a word can give, loses the
    /// last ones.
    pub(crate) fn windows(&self, text: &str) -> Result<Vec<Vec<u32>>, String> {
        let failed = |e: tokenizers::Error| format!("a text cannot be tokenized: {e}");
        let whole = self.tokenizer.encode(text, false).map_err(failed)?;
        let offsets = whole.get_offsets();
        let cuts = cuts(offsets.len(), self.chunking);
        if cuts.len() == 1 && cuts[0].end == offsets.len() {
            let encoding = self.tokenizer.post_process(whole, None, true).map_err(failed)?;
            return Ok(vec![encoding.get_ids().to_vec()]);
        }
        let mut windows = Vec::with_capacity(cuts.len());
        for cut in cuts {
            let piece = piece(text, offsets[cut.start].0..offsets[cut.end - 1].1);
            let mut encoding = self.tokenizer.encode(piece, false).map_err(failed)?;
            if encoding.len() > self.chunking.window_tokens {
                encoding.truncate(self.chunking.window_tokens, 0, TruncationDirection::Right);
            }
            let encoding = self.tokenizer.post_process(encoding, None, true).map_err(failed)?;
            windows.push(encoding.get_ids().to_vec());
        }
        Ok(windows)
    }
}

/// The token ranges of a text's windows: each starts a stride after the one before, and the last ends with the text. A text without
/// tokens has one empty window.
fn cuts(tokens: usize, chunking: Chunking) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let mut start = 0;
    loop {
        let end = tokens.min(start + chunking.window_tokens);
        cuts.push(start..end);
        if end == tokens || chunking.max_windows.is_some_and(|max| cuts.len() >= max) {
            return cuts;
        }
        start += chunking.stride_tokens;
    }
}

/// A part of the text, widened to whole characters.
fn piece(text: &str, range: Range<usize>) -> &str {
    let (mut start, mut end) = (range.start.min(text.len()), range.end.min(text.len()));
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_overlap_by_what_the_stride_leaves_and_the_last_ends_the_text() {
        let chunking = Chunking::new(10, 6, None).unwrap();
        assert_eq!(cuts(0, chunking), std::slice::from_ref(&(0..0)));
        assert_eq!(cuts(10, chunking), std::slice::from_ref(&(0..10)));
        assert_eq!(cuts(11, chunking), [0..10, 6..11]);
        assert_eq!(cuts(16, chunking), [0..10, 6..16]);
        assert_eq!(cuts(17, chunking), [0..10, 6..16, 12..17]);
        assert_eq!(cuts(1000, Chunking::new(10, 6, Some(2)).unwrap()), [0..10, 6..16]);
        assert_eq!(cuts(20, Chunking::new(10, 10, None).unwrap()), [0..10, 10..20]);
    }

    #[test]
    fn pieces_are_whole_characters() {
        assert_eq!(piece("aéb", 2..2), "é");
        assert_eq!(piece("aéb", 0..2), "aé");
        assert_eq!(piece("aéb", 3..99), "b");
    }
}
