//! stepmark-core: the frontmatter of agentic workflows as a single source of truth.
//!
//! The stages stand in flow order, `document → artifact → workflow → lifecycle → check → transition → commit → project`,
//! and a stage uses only stages to its left. `workspace` is the edge: there the file system, the clock and the
//! environment enter; every other stage except `commit` is pure and receives values.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let project = folder.path();
//! # std::fs::write(project.join("prd.md"), "---\nstepsCompleted: [step-01-init, step-02-discovery]\n---\n")?;
//! # let mut printed = String::new();
//! # macro_rules! println { ($($arguments:tt)*) => { printed += &format!($($arguments)*) } }
//! use stepmark_core::Workspace;
//!
//! let workspace = Workspace::open(project)?;
//! workspace.update("prd.md", |prd| prd.complete("step-03-success"))?; // proven, atomic, retried on conflict
//! for artifact in workspace.artifacts()?.artifacts {
//!     println!("{}: {} steps are done", artifact.path(), artifact.steps().completed().len());
//! }
//! # assert_eq!(printed, "prd.md: 3 steps are done");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything that can change a file stands behind the feature `write`, which is on by default. A crate that must only
//! read depends on this one with `default-features = false`.

pub mod artifact;
pub mod workflow;
pub mod delegation;
pub mod lifecycle;
pub mod check;
pub mod transition;
mod uninterrupted;
pub mod file_lock;
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

#[doc(inline)]
pub use stepmark_frontmatter as document;

pub use artifact::{Artifact, ProjectPath};
pub use document::{Document, Edit, Value};
pub use workspace::{TrackedArtifact, Workspace};
