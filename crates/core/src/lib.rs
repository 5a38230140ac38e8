//! stepmark-core: the frontmatter of agentic workflows as a single source of truth.
//!
//! The stages stand in flow order, `document → artifact → workflow → lifecycle → check → transition → commit → project`,
//! and a stage uses only stages to its left. `workspace` is the edge: there the file system, the clock and the
//! environment enter; every other stage except `commit` is pure and receives values.
//!
//! ```no_run
//! use stepmark_core::Workspace;
//!
//! let workspace = Workspace::open(".")?;
//! workspace.update("docs/prd.md", |prd| prd.complete("step-03-success"))?; // proven, atomic, retried on conflict
//! for artifact in workspace.artifacts()?.artifacts {
//!     if let Some(progress) = artifact.progress() {
//!         println!("{} {}/{}", artifact.path(), progress.done_units, progress.total);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything that can change a file stands behind the feature `write`, which is on by default. A crate that must only
//! read depends on this one with `default-features = false`.

pub mod document;
pub mod artifact;
pub mod workflow;
pub mod delegation;
pub mod lifecycle;
pub mod check;
pub mod transition;
mod git_folders;
mod local_state;
mod own_file;
mod root;
mod git_process;
mod database_files;
pub mod journal;
pub mod lease;
#[cfg(feature = "write")]
pub mod commit;
pub mod project;
pub mod resume;
pub mod selection;
pub mod workspace;

pub use artifact::{Artifact, ProjectPath};
pub use document::{Document, Edit, Value};
pub use workspace::{TrackedArtifact, Workspace};
