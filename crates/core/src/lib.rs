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

#[doc(inline)]
pub use stepmark_frontmatter as document;
pub use stepmark_model::{
    artifact, check, delegation, journal, lease, lifecycle, projection, resume, selection, tracked_artifact,
    transition, workflow,
};
#[cfg(feature = "write")]
pub use stepmark_store::commit;
pub use stepmark_store::{file_lock, history, index_db, workspace};

pub use stepmark_frontmatter::{Document, Edit, Value};
pub use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    tracked_artifact::TrackedArtifact,
};
pub use stepmark_store::workspace::Workspace;
