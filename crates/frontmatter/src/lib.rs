#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod span;
mod scan;
mod scalar;
mod node;
mod merge_conflict;
mod parse;
mod value;
mod yaml_1_1;
mod argument;
mod key_path;
mod region;
#[cfg(feature = "serde")]
mod typed;
mod edit;
#[cfg(feature = "serde_json")]
mod diff;
mod frontmatter_replacement;

pub use argument::ArgumentError;
#[cfg(feature = "serde_json")]
pub use diff::{Change, ChangeMismatch, Operation, diff, edits, inverse, make_changes};
pub use edit::{Edit, EditError, Edited, Refusal, Splice, apply, splice};
pub use frontmatter_replacement::{Fences, Replacement, replace_frontmatter, replace_region};
pub use key_path::{KeyPath, KeyPathError, Segment};
pub use merge_conflict::{merge_conflict, merge_sides};
pub use node::{CollectionStyle, Entry, Node, NodeKind, Properties, ScalarStyle, Tag, TagKind};
#[cfg(feature = "counted")]
pub use parse::PARSED;
pub use parse::{LIMITS, Limits, ParseError, Yaml};
pub use region::{Region, RegionError, heading_title};
pub use scalar::Scalar;
pub use scan::{Document, Frontmatter, LineEnding};
pub use span::{KeyIndex, KeyIndices, LineIndex, Position, Span};
#[cfg(feature = "serde")]
pub use typed::{ReadError, from_frontmatter, from_region};
pub use value::{Value, ValueError};
pub use yaml_1_1::{Disagreement, disagreement};
