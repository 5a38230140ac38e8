//! A finding of `stepmark doctor`: what is wrong, and what to do.

use crate::{checkpoints::CheckpointReadError, commit::CommitSetAside, disk::WalkProblem};
use crate::{history::SegmentProblem, workspace::ArtifactError};
use stepmark_model::{
    artifact::ProjectPath,
    journal::{EventId, ReplayError},
};

/// Something that is not as it should be in `.stepmark/`, or between an artifact and its history.
#[derive(Debug)]
pub enum DoctorFinding {
    /// A commit was cut off; whatever writes next finishes it.
    InterruptedCommit {
        path: ProjectPath,
    },
    /// A commit was cut off and cannot be finished; it is in nobody's way.
    CommitSetAside {
        aside: CommitSetAside,
        /// The record as messages show it.
        shown: String,
    },
    /// Something stands where a project without git keeps the state of a clone.
    OldState,
    /// Sealing a segment was cut off: git does not get it yet.
    UnpublishedSegment {
        file: String,
    },
    /// A line of the journal cannot be used, or does not follow the one before.
    JournalLine {
        problem: SegmentProblem,
        file: String,
    },
    Checkpoint {
        place: ProjectPath,
        source: CheckpointReadError,
    },
    KeptBytes {
        path: String,
    },
    TemporaryFile {
        path: String,
    },
    Unexplained {
        path: ProjectPath,
        /// The last event that history knows of it.
        head: EventId,
    },
    /// An artifact is in an earlier state again, which git has not checked out.
    WrittenBack {
        path: ProjectPath,
        /// The last event that history knows of it.
        head: EventId,
        /// The event that led to this state before.
        earlier: EventId,
    },
    Damaged {
        path: ProjectPath,
        /// The last event that history knows of it.
        head: EventId,
    },
    Gone {
        path: ProjectPath,
        /// The last event that history knows of it.
        head: EventId,
    },
    /// An event of an artifact does not lead to the state that it records.
    WrongHistory {
        path: ProjectPath,
        source: ReplayError,
    },
    /// A folder cannot be read, or a name is not one that an artifact may have.
    UnreadableFolder {
        problem: WalkProblem,
    },
    UnreadableArtifact {
        source: ArtifactError,
    },
}

impl DoctorFinding {
    pub fn word(&self) -> &'static str {
        match self {
            Self::InterruptedCommit { .. } => "interrupted-commit",
            Self::CommitSetAside { .. } => "commit-set-aside",
            Self::OldState => "old-state",
            Self::UnpublishedSegment { .. } => "segment-unpublished",
            Self::JournalLine { problem, .. } if problem.is_gap() => "journal-incomplete",
            Self::JournalLine { problem, .. } if problem.is_damage() => "journal-damaged",
            Self::JournalLine { .. } => "journal-torn",
            Self::Checkpoint { .. } => "checkpoint",
            Self::KeptBytes { .. } => "kept-bytes",
            Self::TemporaryFile { .. } => "temporary-file",
            Self::Unexplained { .. } => "unexplained",
            Self::WrittenBack { .. } => "written-back",
            Self::Damaged { .. } => "damaged",
            Self::Gone { .. } => "gone",
            Self::WrongHistory { .. } => "history-damaged",
            Self::UnreadableFolder { .. } | Self::UnreadableArtifact { .. } => "unreadable",
        }
    }

    /// The file that it is about, seen from the root.
    pub fn path(&self) -> String {
        match self {
            Self::InterruptedCommit { path }
            | Self::Unexplained { path, .. }
            | Self::WrittenBack { path, .. }
            | Self::Damaged { path, .. }
            | Self::WrongHistory { path, .. }
            | Self::Gone { path, .. } => path.to_string(),
            Self::CommitSetAside { shown, .. } => shown.clone(),
            Self::OldState => ".stepmark/local".to_owned(),
            Self::UnpublishedSegment { file } | Self::JournalLine { file, .. } => file.clone(),
            Self::Checkpoint { place, .. } => place.to_string(),
            Self::KeptBytes { path } | Self::TemporaryFile { path } => path.clone(),
            Self::UnreadableFolder { problem } => problem.path.clone(),
            Self::UnreadableArtifact { source } => source.path().to_string(),
        }
    }

    pub fn message(&self) -> String {
        match self {
            Self::InterruptedCommit { .. } => {
                "a commit of this file was cut off and is not finished".to_owned()
            }
            Self::CommitSetAside { aside, .. } if aside.files.is_empty() => {
                "a record of a commit that this version did not write: nothing of it was done".to_owned()
            }
            Self::CommitSetAside { aside, .. } => {
                let files: Vec<String> = aside.files.iter().map(|file| format!("`{file}`")).collect();
                format!(
                    "a commit of {} was cut off and could not be finished; its bytes are kept here",
                    files.join(", ")
                )
            }
            Self::OldState => {
                "files stand here that are not read: the state of this clone is in git's folder".to_owned()
            }
            Self::UnpublishedSegment { .. } => {
                "sealing this segment was cut off, so git does not get it; this clone has a whole copy"
                    .to_owned()
            }
            Self::JournalLine { problem, .. } => format!("line {}: {}", problem.line, problem.problem),
            Self::Checkpoint { source, .. } => match std::error::Error::source(source) {
                Some(cause) => format!("the checkpoint cannot be trusted: {cause}"),
                None => source.to_string(),
            },
            Self::KeptBytes { .. } => {
                "bytes that another program wrote in the middle of a commit were kept here".to_owned()
            }
            Self::TemporaryFile { .. } => "a stepmark process that was killed left this file".to_owned(),
            Self::Unexplained { head, .. } => {
                format!("it was changed by other means since event {head}: history cannot explain its state")
            }
            Self::WrittenBack { head, earlier, .. } => format!(
                "it is in the state after event {earlier} again, without what was recorded up to event {head}; neither the \
                 checked out commit nor the index of git has it so: an editor may have written an older text over it"
            ),
            Self::Damaged { head, .. } => {
                format!("it was changed by other means since event {head}, and its state cannot be read")
            }
            Self::Gone { head, .. } => format!("it was removed or moved by other means since event {head}"),
            Self::WrongHistory { source, .. } => source.to_string(),
            Self::UnreadableFolder { problem } => problem.kind.to_string(),
            Self::UnreadableArtifact { source } => source.to_string(),
        }
    }

    pub fn help(&self) -> String {
        match self {
            Self::InterruptedCommit { .. } => {
                "any command that writes finishes it, `stepmark doctor --repair` too".to_owned()
            }
            Self::CommitSetAside { .. } => {
                "`stepmark doctor --repair` finishes it if that is possible by now, else gives it up and keeps its bytes".to_owned()
            }
            Self::OldState => {
                "remove it; where it is your own history from before `git init`: `mv .stepmark/local/* .git/stepmark/`".to_owned()
            }
            Self::UnpublishedSegment { .. } => {
                "`stepmark doctor --repair`, or the next command that seals, writes it".to_owned()
            }
            Self::JournalLine { problem, .. } if problem.is_gap() => {
                "take the segment that holds it from git or from the clone where the work was done; without it, history begins later"
                    .to_owned()
            }
            Self::WrongHistory { .. } => {
                "the event was forged or is damaged: take its segment back from git or a backup".to_owned()
            }
            Self::JournalLine { problem, .. } if problem.is_damage() => {
                "take the file back from git or a backup; the other events of it count".to_owned()
            }
            Self::JournalLine { .. } => {
                "`stepmark doctor --repair` cuts the line off and keeps it beside the file".to_owned()
            }
            Self::Checkpoint { .. } => "take it back from git, or remove it".to_owned(),
            Self::KeptBytes { .. } => "compare it with the file beside it, and remove it".to_owned(),
            Self::TemporaryFile { .. } => "`stepmark doctor --repair` removes it".to_owned(),
            Self::Unexplained { .. } => {
                "the file wins: the next command that changes it records the edit; `stepmark checkpoint` does so now".to_owned()
            }
            Self::WrittenBack { path, head, .. } => format!(
                "`stepmark log at {head} {path}` shows the newer state, `stepmark log {path}` what led to it; the file wins: the next \
                 command that changes it records this as an edit"
            ),
            Self::Damaged { path, .. } => format!(
                "`stepmark check {path}` shows the place, `stepmark resume {path}` leads on, `stepmark restore` puts a \
                 checkpoint back"
            ),
            Self::Gone { .. } => {
                "nothing is to be done if that was meant; `stepmark track` gives an id that survives moving".to_owned()
            }
            Self::UnreadableFolder { .. } => "make it readable, or give it another name".to_owned(),
            Self::UnreadableArtifact { .. } => "`stepmark check` shows the place".to_owned(),
        }
    }
}
