//! Signals that the texts themselves give.

use crate::result::Extraction;

/// Fills in the signals of text.
pub(crate) fn fill(_out: &mut Extraction) {}
