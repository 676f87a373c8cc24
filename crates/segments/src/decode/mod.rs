//! From bytes to text: transfer encodings, character sets, encoded words and the encodings that stand in plain text.

pub(crate) mod charset;
pub(crate) mod inline;
mod legacy;
pub(crate) mod transfer;
pub(crate) mod words;
