//! A finding of `stepmark doctor`: what is wrong, and what to do; and what was repaired.

use serde::Serialize;

use crate::{checkpoints::CheckpointReadError, commit::CommitSetAside, disk::WalkProblem};
use crate::{history::SegmentProblem, replay::Obstacle, replay::Replayed, workspace::ArtifactError};
use stepmark_model::{artifact::ProjectPath, journal::HistoryState};

/// Something that is not as it should be in `.stepmark/`, or between an artifact and its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    kind: &'static str,
    /// The file that it is about, seen from the root.
    pub path: String,
    pub message: String,
    pub help: String,
}

/// Something that was repaired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorFix {
    pub kind: &'static str,
    pub path: String,
    /// The place at which bytes are kept that had to go.
    pub kept: Option<String>,
    #[serde(skip)]
    pub message: String,
}

impl DoctorFix {
    pub(super) fn new(kind: &'static str, path: impl ToString, message: &str) -> Self {
        Self { kind, path: path.to_string(), kept: None, message: message.to_owned() }
    }
}

impl DoctorFinding {
    fn new(
        kind: &'static str,
        path: impl ToString,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { kind, path: path.to_string(), message: message.into(), help: help.into() }
    }

    pub const fn word(&self) -> &'static str {
        self.kind
    }

    /// A commit was cut off; whatever writes next finishes it.
    pub(super) fn interrupted_commit(path: &ProjectPath) -> Self {
        let message = "a commit of this file was cut off and is not finished";
        let help = "any command that writes finishes it, `stepmark doctor --repair` too";
        Self::new("interrupted-commit", path, message, help)
    }

    /// A commit was cut off and cannot be finished; it is in nobody's way.
    pub(super) fn commit_set_aside(aside: &CommitSetAside, record: &str) -> Self {
        let files: Vec<String> = aside.files.iter().map(|file| format!("`{file}`")).collect();
        let message = if files.is_empty() {
            "a record of a commit that this version did not write: nothing of it was done".to_owned()
        } else {
            let files = files.join(", ");
            format!("a commit of {files} was cut off and could not be finished; its bytes are kept here")
        };
        let help = "`stepmark doctor --repair` finishes it if that is possible by now, else gives it up and keeps its bytes";
        Self::new("commit-set-aside", record, message, help)
    }

    /// Something stands where a project without git keeps the state of a clone.
    pub(super) fn old_state() -> Self {
        let message = "files stand here that are not read: the state of this clone is in git's folder";
        let help = "remove it; where it is your own history from before `git init`: `mv .stepmark/local/* .git/stepmark/`";
        Self::new("old-state", ".stepmark/local", message, help)
    }

    /// Sealing a segment was cut off: git does not get it yet.
    pub(super) fn unpublished_segment(file: &str) -> Self {
        let message = "sealing this segment was cut off, so git does not get it; this clone has a whole copy";
        let help = "`stepmark doctor --repair`, or the next command that seals, writes it";
        Self::new("segment-unpublished", file, message, help)
    }

    /// A line of the journal cannot be used, or does not follow the one before.
    pub(super) fn journal_line(problem: &SegmentProblem) -> Self {
        let (kind, help) = match problem {
            problem if problem.is_gap() => (
                "journal-incomplete",
                "take the segment that holds it from git or from the clone where the work was done; without it, history begins later",
            ),
            problem if problem.is_damage() => {
                ("journal-damaged", "take the file back from git or a backup; the other events of it count")
            }
            _ => {
                ("journal-torn", "`stepmark doctor --repair` cuts the line off and keeps it beside the file")
            }
        };
        Self::new(kind, &problem.file, format!("line {}: {}", problem.line, problem.problem), help)
    }

    pub(super) fn checkpoint(place: &ProjectPath, error: &CheckpointReadError) -> Self {
        let message = match std::error::Error::source(error) {
            Some(cause) => format!("the checkpoint cannot be trusted: {cause}"),
            None => error.to_string(),
        };
        Self::new("checkpoint", place, message, "take it back from git, or remove it")
    }

    pub(super) fn kept_bytes(path: &str) -> Self {
        let message = "bytes that another program wrote in the middle of a commit were kept here";
        Self::new("kept-bytes", path, message, "compare it with the file beside it, and remove it")
    }

    pub(super) fn temporary_file(path: &str) -> Self {
        let message = "a stepmark process that was killed left this file";
        Self::new("temporary-file", path, message, "`stepmark doctor --repair` removes it")
    }

    /// A folder cannot be read, or a name is not one that an artifact may have.
    pub(super) fn unreadable_folder(problem: &WalkProblem) -> Self {
        let help = "make it readable, or give it another name";
        Self::new("unreadable", &problem.path, problem.kind.to_string(), help)
    }

    pub(super) fn unreadable_artifact(error: &ArtifactError) -> Self {
        Self::new("unreadable", error.path(), error.to_string(), "`stepmark check` shows the place")
    }

    /// Everything that is not as it should be between an artifact and its history.
    pub(super) fn of(artifact: &Replayed) -> Vec<Self> {
        let path = &artifact.path;
        let help = "the event was forged or is damaged: take its segment back from git or a backup";
        let wrong = |error: &_| Self::new("history-damaged", path, format!("{error}"), help);
        let mut findings: Vec<Self> = artifact.damage.iter().map(wrong).collect();
        if let HistoryState::Unexplained { head } = artifact.state {
            let since = format!("by other means since event {head}");
            findings.push(match (&artifact.obstacle, artifact.earlier) {
                (Some(Obstacle::Gone), _) => Self::new(
                    "gone",
                    path,
                    format!("it was removed or moved {since}"),
                    "nothing is to be done if that was meant; `stepmark track` gives an id that survives moving",
                ),
                (Some(Obstacle::Unreadable(_)), _) => Self::new(
                    "damaged",
                    path,
                    format!("it was changed {since}, and its state cannot be read"),
                    format!(
                        "`stepmark check {path}` shows the place, `stepmark resume {path}` leads on, `stepmark restore` puts a \
                         checkpoint back"
                    ),
                ),
                // It is in an earlier state again, which git has not checked out.
                (_, Some(earlier)) => Self::new(
                    "written-back",
                    path,
                    format!(
                        "it is in the state after event {earlier} again, without what was recorded up to event {head}; neither the \
                         checked out commit nor the index of git has it so: an editor may have written an older text over it"
                    ),
                    format!(
                        "`stepmark log at {head} {path}` shows the newer state, `stepmark log {path}` what led to it; the file wins: the next \
                         command that changes it records this as an edit"
                    ),
                ),
                _ => Self::new(
                    "unexplained",
                    path,
                    format!("it was changed {since}: history cannot explain its state"),
                    "the file wins: the next command that changes it records the edit; `stepmark checkpoint` does so now",
                ),
            });
        }
        findings
    }
}
