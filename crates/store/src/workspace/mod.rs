//! The edge: root, configuration, discovery, file system.

mod workflow_declaration;
mod configuration;
mod initial_files;
mod file_stat;
mod in_parts;
mod folder;
mod walk;
mod workflow_listing;
mod workflow_state;
mod workflows;
mod clock;
mod file_reading;
mod handle;
mod artifact_files;
mod artifact_folders;
mod context;
mod instructions;
mod gates;
mod checking;
mod checking_changes;
mod checking_beside;
mod ledgers;
mod listed_artifact;
mod sprint_ledgers;
mod manifest_rows;
mod chains_in_version;
mod journal_account;
mod check_report;
mod verdicts;
mod checked_before;
mod checking_run;
#[cfg(feature = "write")]
mod baseline;
mod leases;
mod chain;
use crate::git_process;
mod git_version;
mod changed_artifacts;
mod checked_out;
#[cfg(feature = "write")]
mod changes;
#[cfg(feature = "write")]
mod update_error;
#[cfg(feature = "write")]
mod committed_files;
#[cfg(feature = "write")]
mod default_branch;
#[cfg(feature = "write")]
mod git;
#[cfg(feature = "write")]
mod story_ledgers;
#[cfg(feature = "write")]
mod artifact_change;
#[cfg(feature = "write")]
mod recording;
#[cfg(feature = "write")]
mod guards;
#[cfg(feature = "write")]
mod delegating;
#[cfg(feature = "write")]
mod git_hooks;
#[cfg(feature = "write")]
mod commit_message;
#[cfg(feature = "write")]
mod telling;
mod git_history;
mod replaying;
mod history_verification;
mod checkpoints;
mod resuming;
mod resuming_everything;
mod resume_choice;
#[cfg(feature = "write")]
mod checkpointing;
#[cfg(feature = "write")]
mod removing;
#[cfg(feature = "write")]
mod restoring;
#[cfg(feature = "write")]
mod mending;
#[cfg(feature = "write")]
mod git_index;
#[cfg(feature = "write")]
mod staged_mending;
#[cfg(feature = "write")]
mod staged_history;
#[cfg(feature = "write")]
mod milestones;
#[cfg(feature = "write")]
mod doctor_finding;
#[cfg(feature = "write")]
mod doctor;
#[cfg(feature = "write")]
mod kept_files;
mod ignore_files;
mod hash_files;
mod stat_cache;
mod listed_files;
mod index;
pub mod manifest;
mod catalogues;

pub use crate::local_state::{LocalState, LocalStateError, StateFolder};
pub use crate::root::{CONFIGURATION_PATH, RelativeError, ResolveError, Root, RootError};
#[cfg(feature = "write")]
pub use baseline::BaselineWriteError;
pub use catalogues::{CATALOGUES_FOLDER, Catalogue, Catalogues, catalogue_path};
#[cfg(feature = "write")]
pub use catalogues::{CatalogueError, CatalogueRebuild};
pub use chain::ChainLink;
pub use changed_artifacts::{ChangedArtifact, ChangedArtifacts, ChangedArtifactsError};
#[cfg(feature = "write")]
pub use changes::{Carried, ChangeError, ChangeReason, Initialised};
pub use check_report::{CheckReport, CheckedFile, Known, LeftOut};
pub use checked_before::CheckedBefore;
pub use checked_out::CheckedOut;
pub use checking::{BASELINE_PATH, CheckError, Selection};
#[cfg(feature = "write")]
pub use checkpointing::{CheckpointError, CheckpointMade};
pub use checkpoints::{CheckpointListError, CheckpointPlacesError, CheckpointReadError};
pub use clock::Clock;
#[cfg(feature = "write")]
pub use commit_message::CommitMessageError;
#[cfg(feature = "write")]
pub use committed_files::CommittedFiles;
pub use configuration::{
    Configuration, ConfigurationError, ConfigurationSources, ConfiguredValue, DynamicPlace, Milestone,
    Origin, PathAllowance, Place, Side, StaticLevel, UnknownKey, VARIABLES, Variable,
};
pub use context::{Context, ContextWorkflow};
#[cfg(feature = "write")]
pub use delegating::{Delegated, DelegationOrder};
#[cfg(feature = "write")]
pub use doctor::{Diagnosis, DoctorError};
#[cfg(feature = "write")]
pub use doctor_finding::DoctorFinding;
#[cfg(feature = "write")]
pub use gates::GateRebuild;
pub use gates::{GateAnswer, GateError, Tier};
#[cfg(feature = "write")]
pub use git_hooks::{HookChange, HookError, HookOutcome, HookStanding};
pub use git_version::{ChangedFile, Comparison, GitChanges, GitVersion, GitVersionError, OverLimit};
pub use handle::{ArtifactError, Artifacts, OpenError, Workspace};
pub use history_verification::verify_history;
pub use in_parts::map_in_parts;
pub use index::{AskError, Freshness, IndexRefreshed, RefreshError, TicketRow};
pub use initial_files::{STEPMARK_GITIGNORE, initial_configuration};
#[cfg(feature = "write")]
pub use instructions::Refreshed;
pub use instructions::{CachedInstructions, CycleBoundary, InstructionError};
pub use leases::{LeaseError, LeaseStanding};
pub use listed_artifact::ListedArtifact;
pub use replaying::{Obstacle, ReplayArtifactsError, Replayed, ReplayedArtifacts};
#[cfg(feature = "write")]
pub use restoring::{RestoreError, Restored};
pub use resume_choice::{ChoiceError, ResumeChoice};
pub use resuming::Resumption;
pub use sprint_ledgers::{SprintLedger, SprintLedgers};
#[cfg(feature = "write")]
pub use staged_history::{StageHistoryError, StagedHistory};
#[cfg(feature = "write")]
pub use staged_mending::{StagedMending, StagedMendingError, StagedOutcome};
pub use stepmark_model::artifact::{PathGlob, PathGlobError, PathGlobs};
pub use stepmark_model::tracked_artifact::{Membership, TrackedArtifact};
#[cfg(feature = "write")]
pub use story_ledgers::{
    BrokenSprintStatus, ImportDecision, LedgerLeft, LedgerProjection, StoryImport, StorySurvey, WaitingStory,
};
#[cfg(feature = "write")]
pub use telling::TellError;
#[cfg(feature = "write")]
pub use update_error::UpdateError;
pub use walk::{WalkError, WalkProblem, WalkProblemKind};
pub use workflow_declaration::{StepSource, WorkflowDeclaration};
pub use workflow_listing::ListingProblem;
pub use workflows::{WorkflowFileError, Workflows};
