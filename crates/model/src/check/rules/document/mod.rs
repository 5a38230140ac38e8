//! Fences, YAML, bytes.

pub(crate) mod fence_unclosed;
pub(crate) mod frontmatter_misplaced;
pub(crate) mod not_yaml;
pub(crate) mod not_a_mapping;
pub(crate) mod several_documents;
pub(crate) mod key_twice;
pub(crate) mod alias_unresolved;
pub(crate) mod line_ends_mixed;
pub(crate) mod byte_order_mark;
pub(crate) mod over_limit;
pub(crate) mod tab_in_indentation;
pub(crate) mod value_ambiguous;
