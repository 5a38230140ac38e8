//! stepmark-core: the frontmatter of agentic workflows as a single source of truth.
//!
//! This crate is the part of stepmark that other programs use. Behind it stand `stepmark-frontmatter` (text and edits),
//! `stepmark-model` (pure: artifacts, workflows, lifecycles, rules, transitions) and `stepmark-store` (files, history, git); each uses
//! only those before it.
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

// Files and what they say.
pub use stepmark_model::artifact::{
    Artifact, Delegation, Diagnosis, FileHash, FrontmatterState, PathGlobs, Problem, ProjectPath,
    ProjectPathError, Scope, StateDigest, StateUnreadable, StepItem, Steps,
};
pub use stepmark_model::tracked_artifact::{Membership, TrackedArtifact};
pub use stepmark_model::workflow::{Next, Progress, Step, Track, WorkflowDefinition};

// The project.
pub use stepmark_store::configuration::{Configuration, ConfigurationError, ConfigurationSources};
pub use stepmark_store::disk::{ResolveError, Root, RootError, WalkError, WalkProblem};
#[cfg(feature = "watch")]
pub use stepmark_store::watching::{ArtifactWatch, ProjectWatch, WatchChoice, WatchEvent, WatchTrouble};
pub use stepmark_store::workspace::{
    ArtifactChange, ArtifactChanges, ArtifactError, Artifacts, Clock, Context, Delegations, OpenError,
    ProjectHistory, Revision, Workflows, Workspace,
};

// Rules.
pub use stepmark_model::check::{Finding, Fix, Level, RULES, Remedy, Rule, Severity, rule_of};
pub use stepmark_store::checking::{CheckError, CheckReport, CheckedFile, Checks, Known, Selection};

// Changes.
pub use stepmark_model::lifecycle::{Lifecycle, Lifecycles, MoveDecision, MoveRefusal};
pub use stepmark_model::transition::{Command, Plan, Remark, Strictness, TransitionRefusal};
#[cfg(feature = "write")]
pub use stepmark_store::{
    changes::{Carried, ChangeError, ChangeReason, DelegationOrder, UpdateError},
    commit::{ArtifactLock, CommitError, CommitOptions, Conflict, FsyncPolicy, LockError, WriteState},
};

// History, sessions, leases, resumption.
pub use stepmark_model::{
    journal::{Actor, ActorError, Attribution, Event, EventDraft, EventId, Kind, SessionId, SessionIdError},
    lease::{Lease, LeaseRefusal},
    projection::checkpoint::Checkpoint,
    resume::{ResumeAnswer, Tier},
};
#[cfg(feature = "write")]
pub use stepmark_store::checkpoints::{CheckpointError, CheckpointMade, RestoreError, Restored};
pub use stepmark_store::{
    gates::{GateAnswer, GateError},
    history::{History, HistoryError, Selection as EventSelection},
    leases::LeaseError,
    resuming::Resumption,
};
