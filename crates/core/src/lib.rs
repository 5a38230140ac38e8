//! stepmark-core: the frontmatter of agentic workflows as a single source of truth.
//!
//! The stages stand in flow order, `document → artifact → workflow → check → transition → commit → project`,
//! and a stage uses only stages to its left. `workspace` is the edge: there the file system, the clock and the
//! environment enter; every other stage except `commit` is pure and receives values.

pub mod document;
pub mod artifact;
pub mod workflow;
pub mod check;
pub mod transition;
#[cfg(feature = "write")]
pub mod commit;
pub mod project;
pub mod workspace;
