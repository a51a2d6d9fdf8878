//! What is wrong with a text that should have been a position, a record or a setup.

/// Where reading stopped, and what would have been right there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}")]
pub struct TextError {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// What would have been right, as words after "expected".
    pub expected: &'static str,
}

impl TextError {
    /// An error on the only line of a text, at this byte of it.
    pub(crate) fn at(text: &str, byte: usize, expected: &'static str) -> Self {
        let before = text.char_indices().take_while(|(at, _)| *at < byte).count();
        Self { line: 1, column: before as u32 + 1, expected }
    }
}

/// The words of a line with the byte at which each begins.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}
