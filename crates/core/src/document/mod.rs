//! Bytes ⇄ frontmatter + body: lossless reading, spans, and proven edits.

mod span;
mod file_hash;
mod line_end_hashes;
mod scan;
mod scalar;
mod node;
mod anchors;
mod merge_conflict;
mod parse;
mod value;
mod yaml_1_1;
mod argument;
mod key_path;
mod key_index;
mod region;
mod edit;
mod diff;
mod spelling;
mod frontmatter_replacement;

pub use argument::ArgumentError;
pub use diff::{Change, ChangeMismatch, Operation, diff, edits, inverse, make_changes};
pub(crate) use edit::splice;
pub use edit::{Edit, EditError, Edited, Refusal, Splice, apply};
pub use file_hash::{FileHash, FileHashError};
pub use frontmatter_replacement::{Fences, Replacement, replace_frontmatter};
pub(crate) use key_index::KeyIndex;
pub use key_path::{KeyPath, KeyPathError, Segment};
pub use line_end_hashes::{LineEndHasher, LineEndHashes};
pub(crate) use merge_conflict::merge_conflict;
pub use node::{CollectionStyle, Entry, Node, NodeKind, Properties, ScalarStyle, Tag, TagKind};
#[cfg(test)]
pub(crate) use parse::PARSED;
pub use parse::{LIMITS, Limits, ParseError, Yaml};
pub(crate) use region::heading_title;
pub use region::{Region, RegionError};
pub use scalar::Scalar;
pub use scan::{Document, Frontmatter, LineEnding};
pub use span::{LineIndex, Position, Span};
pub use spelling::Spelling;
pub use value::{Value, ValueError};
pub(crate) use yaml_1_1::{Disagreement, disagreement};
