//! Bytes ⇄ frontmatter + body: lossless reading, spans, and proven edits.

mod span;
mod file_hash;

pub use file_hash::{FileHash, FileHashError};
pub use span::{LineIndex, Position, Span};
