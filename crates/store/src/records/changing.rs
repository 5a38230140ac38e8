//! Changes of the records of a system, each one commit.

use crate::Error;
use std::{cell::RefCell, collections::BTreeSet, io};

use crate::{
    changes::{ChangeError, ConfigureError, RecordDecision, UpdateError},
    commit::{CommitError, FolderError, make_folders_to},
    git::GitVersion,
    projection::{
        Overwrite, ProjectionError,
        file_findings::{self, FileFindings, FollowingFile},
        pack_files::{Followed, RecordFormat},
    },
    records::{KindOf, RecordSystem, RecordsError},
    repository::ChangedArtifact,
    workspace::Workspace,
};
use stepmark_frontmatter::EditError;
use stepmark_model::{
    artifact::{Artifact, ProjectPath, ProjectPathError},
    asdd::{AsddRefusal, ManifestError},
    coordination::{FormatError, TaskRefusal},
    journal::{EventDraft, Kind},
    records::{Drift, Record, RecordSet, Signal, Signals},
    spelling::with_causes,
};

/// A system whose records follow in files of other programs.
pub(crate) trait ChangedRecords: RecordSystem {
    type Format<'f>: RecordFormat<State = Self::State, Error = SystemError>
    where
        Self: 'f;

    fn record_format(&self) -> Result<Self::Format<'_>, SystemError>;

    /// Writes the files; changes that other programs made are given up as `overwrite` says.
    fn write_files(&self, overwrite: &Overwrite) -> Result<Followed<Drift<KindOf<Self>>>, SystemError>;

    fn known_signals(&self) -> Signals;

    fn note_signal(&self, signal: &Signal) -> Result<(), SystemError>;

    fn attempt<T>(
        &self,
        paths: &[ProjectPath],
        draft: EventDraft,
        mut decide: impl FnMut(&[Option<Artifact>]) -> Result<(T, Vec<RecordDecision>), SystemError>,
    ) -> Result<T, SystemError> {
        let made = RefCell::new(None);
        self.workspace().change_records(
            paths,
            |_| draft.clone(),
            |found| {
                let (outcome, decisions) = decide(found)?;
                made.replace(Some(outcome));
                Ok::<_, SystemError>(decisions)
            },
        )?;
        // A commit that ends well has decided at least once.
        made.into_inner().ok_or_else(|| SystemError::Busy { path: self.folder().clone() })
    }

    /// Writes a record that is not there yet.
    fn write_new(
        &self,
        record: &Record<KindOf<Self>>,
        draft: EventDraft,
        taken: impl Fn() -> SystemError,
    ) -> Result<(), SystemError> {
        let path = self.place_of(record.kind, &record.id)?;
        self.make_folders(std::slice::from_ref(&path))?;
        let bytes = self.bytes_of(record)?;
        self.attempt(&[path], draft, |found| match found {
            [None] => Ok(((), vec![RecordDecision::Write(bytes.clone())])),
            _ => Err(taken()),
        })
    }

    fn bytes_of(&self, record: &Record<KindOf<Self>>) -> Result<Vec<u8>, SystemError> {
        let path = self.place_of(record.kind, &record.id)?;
        record.to_file().map_err(|source| SystemError::Edit { path, source })
    }

    fn make_folders(&self, paths: &[ProjectPath]) -> Result<(), SystemError> {
        let fsync = self.workspace().commit_options().fsync;
        for (place, path) in paths.iter().enumerate() {
            if place == 0 || path.parent() != paths[place - 1].parent() {
                make_folders_to(self.workspace().root(), path, fsync)?;
            }
        }
        Ok(())
    }

    fn states_of_files(&self) -> Result<Vec<FollowingFile>, SystemError> {
        let read = |path: &ProjectPath| self.workspace().read_file(path).ok();
        Ok(file_findings::states(self.workspace().root(), &self.record_format()?, &self.records()?, read))
    }

    fn findings_of_files(
        &self,
        state: &Self::State,
        is_old_as_wanted: bool,
        read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
    ) -> Vec<FileFindings> {
        let Ok(format) = self.record_format() else { return Vec::new() };
        file_findings::findings(self.workspace().root(), (&format, is_old_as_wanted), state, read)
    }

    /// The records in `version`, where some can be read, and one of them, or a file of theirs, is `changed`.
    fn state_in(
        &self,
        changed: &[ChangedArtifact],
        version: &GitVersion,
    ) -> Result<Option<Self::State>, Error> {
        let Ok(format) = self.record_format() else { return Ok(None) };
        let is_touched = changed.iter().any(|changed| changed.latest().path().starts_with(self.folder()));
        let Some(files) = file_findings::files_touched((&format, self.folder()), is_touched, version)? else {
            return Ok(None);
        };
        let records: Result<Vec<_>, _> =
            files.into_iter().map(|(path, bytes)| self.read_bytes(&path, bytes)).collect();
        // One that is damaged has findings of its own.
        Ok(records.ok().and_then(|records| Self::State::from_records(records.into_iter().flatten())))
    }
}

impl Workspace {
    /// The findings in files that follow records, where these or one of the files are `changed`.
    pub(crate) fn files_of_records(
        &self,
        changed: &[ChangedArtifact],
        version: &GitVersion,
    ) -> Result<Vec<FileFindings>, Error> {
        let read = |path: &ProjectPath| version.read(path).ok().flatten();
        let mut files = Vec::new();
        if let Some(own) = self.coordination()
            && let Some(state) = own.state_in(changed, version)?
        {
            files.extend(own.file_findings(&state, read));
        }
        if let Some(own) = self.asdd()
            && let Some(state) = own.state_in(changed, version)?
        {
            files.extend(own.file_findings(&state, read));
        }
        Ok(files)
    }
}

/// The state of files that cannot follow a change, which is made: what goes wrong is told beside it.
pub(crate) fn behind<D>(error: &SystemError) -> Followed<D> {
    Followed { behind: Some(with_causes(error)), ..Followed::default() }
}

pub(crate) fn draft(kind: Kind, command: impl Into<String>) -> EventDraft {
    EventDraft::new(kind).with_command(command.into()).decided()
}

pub(crate) fn keep(count: usize) -> Vec<RecordDecision> {
    vec![RecordDecision::Keep; count]
}

#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    #[error(transparent)]
    Records(#[from] RecordsError),
    #[error(transparent)]
    Task(#[from] TaskRefusal),
    #[error(transparent)]
    Slice(#[from] AsddRefusal),
    #[error("there is no {what} `{id}`")]
    Unknown {
        /// `task` or `slice`.
        what: &'static str,
        id: String,
    },
    #[error("there is a {kind} `{id}` already")]
    IdTaken { kind: String, id: String },
    #[error("{system} has begun here already{}", goal.as_ref().map_or_else(String::new, |goal| format!(", with the goal `{goal}`")))]
    Begun { system: &'static str, goal: Option<String> },
    #[error(
        "no task can be claimed: {available} available, {waiting} waiting for others, {held} held{}{}",
        taken(orphaned),
        undecided(changed)
    )]
    NothingToClaim {
        /// Tasks that are available, but not to this agent, or not yet.
        available: usize,
        waiting: usize,
        held: usize,
        /// Tasks that were taken from silent agents before.
        orphaned: Vec<String>,
        changed: BTreeSet<String>,
    },
    #[error(
        "another program changed the task `{id}` in a state file, and perhaps works on it: nobody claims it"
    )]
    Changed { id: String },
    #[error("`{agent}` has not begun with `{slice}`: a proposal rests on what its agent read")]
    Unread { slice: String, agent: String },
    #[error("there is no proposal `{id}` that waits")]
    NoProposal { id: String },
    #[error("{wanted} is for a {role}, and `{actor}` is none")]
    Role { wanted: &'static str, role: &'static str, actor: String, holders: Vec<String> },
    #[error("{wanted} is for a person, and `{actor}` is none: run it without `--actor` and `STEPMARK_ACTOR`")]
    NotHuman { wanted: &'static str, actor: String },
    #[error("other agents change `{path}` again and again; nothing was changed")]
    Busy { path: ProjectPath },
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error("cannot read `{place}`")]
    Manifest { place: String, source: ManifestError },
    #[error("there is no {wanted} `{place}`")]
    NothingToImport { wanted: &'static str, place: String },
    /// Values of a file that no command would give a record. Nothing was written.
    #[error("nothing was brought in: {}; correct that in the file, and import it again", faults.join("; "))]
    Values { faults: Vec<String> },
    #[error("cannot read `{place}`")]
    Outside { place: String, source: io::Error },
    #[error("cannot note that `{agent}` is alive")]
    Signal { agent: String, source: io::Error },
    #[error("cannot keep {what} in the local state of the clone")]
    Local { what: &'static str, source: io::Error },
    #[error("cannot write `{path}`")]
    Edit { path: ProjectPath, source: EditError },
    #[error(transparent)]
    Store(#[from] Error),
    #[error(transparent)]
    Configuration(#[from] ConfigureError),
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The files of the system cannot follow. The records are changed.
    #[error(transparent)]
    Files(#[from] ProjectionError),
}

impl SystemError {
    /// The record that it is about, where others can be changed nevertheless.
    pub(crate) const fn record(&self) -> Option<&ProjectPath> {
        match self {
            Self::Records(error) => error.file(),
            Self::Change(ChangeError::Refused { path, .. } | ChangeError::Edit { path, .. }) => Some(path),
            Self::Change(ChangeError::Store(error)) => error.path(),
            _ => None,
        }
    }
}

impl From<ProjectPathError> for SystemError {
    fn from(error: ProjectPathError) -> Self {
        Self::Records(error.into())
    }
}

impl From<FolderError> for SystemError {
    fn from(error: FolderError) -> Self {
        Self::Change(CommitError::from(error).into())
    }
}

impl From<UpdateError<Self>> for SystemError {
    fn from(error: UpdateError<Self>) -> Self {
        match error {
            UpdateError::Refused { source, .. } => source,
            UpdateError::Change(error) => error.into(),
        }
    }
}

fn undecided(changed: &BTreeSet<String>) -> String {
    match changed.iter().map(String::as_str).collect::<Vec<_>>().join(", ") {
        ids if ids.is_empty() => ids,
        ids => format!(
            "; other programs changed {ids} in the state files: nobody claims what is undecided there"
        ),
    }
}

fn taken(orphaned: &[String]) -> String {
    match orphaned {
        [] => String::new(),
        ids => format!("; the agents of {} were silent for too long, and hold them no more", ids.join(", ")),
    }
}
