//! Changes of the records of a system, each one commit.

use std::cell::RefCell;

use crate::git::{GitVersion, GitVersionError};
use crate::projection::{
    Overwrite,
    file_findings::{self, FileFindings, FollowingFile},
    record_format::{Followed, RecordFormat},
};
use crate::records::{KindOf, RecordSystem, SystemError};
use crate::{changes::RecordDecision, commit::make_folders_to};
use crate::{repository::ChangedArtifact, workspace::Workspace};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
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

    /// The records in `version`, where there are some that can be read, and one of them is `changed`, or a
    /// file that follows them.
    fn state_in(
        &self,
        changed: &[ChangedArtifact],
        version: &GitVersion,
    ) -> Result<Option<Self::State>, GitVersionError> {
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
    ) -> Result<Vec<FileFindings>, GitVersionError> {
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
