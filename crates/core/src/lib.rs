//! stepmark-core: the frontmatter of agentic workflows as a single source of truth.
//!
//! This crate is the part of stepmark that other programs use. Behind it stand `stepmark-frontmatter` (text
//! and edits), `stepmark-model` (pure: artifacts, workflows, lifecycles, rules, transitions) and
//! `stepmark-store` (files, history, git); each uses only those before it. Begin with [`Workspace`].
//!
//! ```
//! # #[cfg(feature = "write")] {
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
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything that can change a file stands behind the feature `write`, which is on by default. A crate that
//! must only read depends on this one with `default-features = false`; history, comparisons with git and
//! SQLite then stand behind `history`. Watching a project stands behind `watch`.
//!
//! | what for | begin with |
//! |---|---|
//! | text and edits | [`document`] |
//! | files and what they say | [`Artifact`], [`TrackedArtifact`], [`Progress`] |
//! | the project | [`Workspace`], [`Configuration`], [`ArtifactChanges`] |
//! | rules | [`Workspace::checks`], [`Finding`], [`RULES`] |
//! | changes | `Workspace::update`, [`Plan`], [`Lifecycle`] |
//! | history, sessions, leases, resumption | [`Event`], [`Lease`], [`Gates`], [`Resumption`] |
//!
//! [`examples`] has a running example for each name.
#![warn(missing_docs)]
pub mod examples;

#[doc(inline)]
pub use stepmark_frontmatter as document;

// Files and what they say.
pub use stepmark_model::artifact::{PathGlobs, ProjectPath, ProjectPathError};

pub use stepmark_model::artifact::{
    Artifact, Delegation, Diagnosis, FileHash, FrontmatterState, Problem, Scope, StateDigest,
    StateUnreadable, StepItem, Steps,
};

pub use stepmark_model::tracked_artifact::{Membership, TrackedArtifact};

pub use stepmark_model::workflow::{Next, Progress, Step, Track, WorkflowDefinition};
pub use stepmark_store::workspace::Workflows;

// The project.
pub use stepmark_store::workspace::{Artifacts, Clock, Context, Workspace};

pub use stepmark_store::configuration::{Configuration, ConfigurationSources};
pub use stepmark_store::disk::{ResolveError, Root, WalkProblem};

pub use stepmark_store::workspace::{ArtifactChange, ArtifactChanges, Revision};

#[cfg(feature = "watch")]
pub use stepmark_store::watching::ArtifactWatch;

// Rules.
pub use stepmark_model::check::{Finding, Level, RULES, Rule, Severity, rule_of};
pub use stepmark_store::checking::{CheckReport, CheckedFile, Checks, Known, Selection};

pub use stepmark_model::check::{Fix, Remedy, Safety};
#[cfg(feature = "write")]
pub use stepmark_store::fixing::Fixes;

// Changes.
pub use stepmark_model::lifecycle::{Lifecycle, Lifecycles, MoveDecision, MoveRefusal};

pub use stepmark_model::transition::{Command, Plan, Remark, Strictness, TransitionRefusal};

#[cfg(feature = "write")]
pub use stepmark_store::changes::{ChangeReason, ChangeReport, UpdateError};

#[cfg(feature = "write")]
pub use stepmark_store::changes::DelegationOrder;
#[cfg(feature = "write")]
pub use stepmark_store::commit::{
    ArtifactLock, CommitError, CommitOptions, Conflict, FsyncPolicy, LockError, Outcome, WriteState,
};
pub use stepmark_store::workspace::Delegations;

// History, sessions, leases, resumption.
pub use stepmark_model::journal::{Actor, ActorError, Attribution, SessionId, SessionIdError};

pub use stepmark_model::journal::{ArtifactKey, Event, EventDraft, EventId, Kind};
pub use stepmark_model::lease::{Lease, LeaseRefusal, LeaseTerm};
pub use stepmark_model::projection::{checkpoint::Checkpoint, gates::Closed};
pub use stepmark_store::checkpoints::Checkpoints;
#[cfg(feature = "write")]
pub use stepmark_store::checkpoints::{CheckpointMade, Restored};
pub use stepmark_store::gates::{GateAnswer, Gates};
#[cfg(feature = "history")]
pub use stepmark_store::history::{History, Selection as EventSelection};
#[cfg(feature = "history")]
pub use stepmark_store::workspace::ProjectHistory;
pub use stepmark_store::{Error, ErrorKind, leases::Leases};

pub use stepmark_model::resume::{ResumeAnswer, ResumeDecision, ResumeReport, Tier as ResumeTier};
#[cfg(feature = "history")]
pub use stepmark_store::resuming::ResumeChoice;
pub use stepmark_store::resuming::Resumption;
