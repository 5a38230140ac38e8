//! Changes of a system's records, each one commit.

use std::{cell::RefCell, io};
use stepmark_model::{journal::Actor, transition::TransitionRefusal};

use crate::{
    Error, ErrorKind,
    changes::RecordDecision,
    commit::make_folders_to,
    git::GitVersion,
    projection::{
        Overwrite,
        file_findings::{self, FileFindings, FollowingFile},
        pack_files::{Followed, RecordFormat},
    },
    records::{KindOf, RecordSystem},
    repository::ChangedArtifact,
    workspace::Workspace,
};
use stepmark_frontmatter::EditError;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    journal::{EventDraft, Kind},
    records::{Drift, Record, RecordSet, Signal, Signals},
    spelling::with_causes,
};

pub(crate) trait ChangedRecords: RecordSystem {
    type Format<'f>: RecordFormat<State = Self::State>
    where
        Self: 'f;

    fn record_format(&self) -> Result<Self::Format<'_>, Error>;

    /// `overwrite` says which foreign changes to discard.
    fn write_files(&self, overwrite: &Overwrite) -> Result<Followed<Drift<KindOf<Self>>>, Error>;

    fn known_signals(&self) -> Signals;

    fn note_signal(&self, signal: &Signal) -> Result<(), Error>;

    fn attempt<T>(
        &self,
        paths: &[ProjectPath],
        draft: EventDraft,
        mut decide: impl FnMut(&[Option<Artifact>]) -> Result<(T, Vec<RecordDecision>), Error>,
    ) -> Result<T, Error> {
        let made = RefCell::new(None);
        let changed = self.workspace().change_records(
            paths,
            |_| draft.clone(),
            |found| {
                let (outcome, decisions) = decide(found)?;
                made.replace(Some(outcome));
                Ok::<_, Error>(decisions)
            },
        );
        changed.map_err(|error| parts_first(error.into()))?;
        // A successful commit has decided at least once.
        made.into_inner().ok_or_else(|| busy(self.folder()))
    }

    fn write_new(
        &self,
        record: &Record<KindOf<Self>>,
        draft: EventDraft,
        taken: impl Fn() -> Error,
    ) -> Result<(), Error> {
        let path = self.place_of(record.kind, &record.id)?;
        self.make_folders(std::slice::from_ref(&path))?;
        let bytes = self.bytes_of(record)?;
        self.attempt(&[path], draft, |found| match found {
            [None] => Ok(((), vec![RecordDecision::Write(bytes.clone())])),
            _ => Err(taken()),
        })
    }

    fn bytes_of(&self, record: &Record<KindOf<Self>>) -> Result<Vec<u8>, Error> {
        let path = self.place_of(record.kind, &record.id)?;
        record.to_file().map_err(|source| not_written(&path, source))
    }

    fn make_folders(&self, paths: &[ProjectPath]) -> Result<(), Error> {
        let fsync = self.workspace().commit_options().fsync;
        for (place, path) in paths.iter().enumerate() {
            if place == 0 || path.parent() != paths[place - 1].parent() {
                make_folders_to(self.workspace().root(), path, fsync)?;
            }
        }
        Ok(())
    }

    fn states_of_files(&self) -> Result<Vec<FollowingFile>, Error> {
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

    /// The readable records in `version`, if one of them or of their files is `changed`.
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
        // Damaged records have findings of their own.
        Ok(records.ok().and_then(|records| Self::State::from_records(records.into_iter().flatten())))
    }
}

impl Workspace {
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

pub(crate) fn behind<D>(error: &Error) -> Followed<D> {
    Followed { behind: Some(with_causes(error)), ..Followed::default() }
}

pub(crate) fn draft(kind: Kind, command: impl Into<String>) -> EventDraft {
    EventDraft::new(kind).with_command(command.into()).decided()
}

pub(crate) fn keep(count: usize) -> Vec<RecordDecision> {
    vec![RecordDecision::Keep; count]
}

/// Adds help for systems of records if parts of the artifact are open.
fn parts_first(error: Error) -> Error {
    match error.detail() {
        Some(TransitionRefusal::OpenChildren { .. }) => error
            .help("its parts come first: `stepmark tree` shows them")
            .help_of_tools("complete_task its parts first: get_all_tasks lists them"),
        _ => error,
    }
}

pub(crate) fn busy(path: &ProjectPath) -> Error {
    let message = format!("other agents change `{path}` again and again; nothing was changed");
    Error::new(ErrorKind::Conflict, message).help("try it again").help_of_tools("call the tool again")
}

pub(crate) fn not_written(path: &ProjectPath, source: EditError) -> Error {
    Error::refused(format!("cannot write `{path}`")).because(source)
}

pub(crate) fn not_human(wanted: &str, actor: &Actor) -> Error {
    Error::refused(format!(
        "{wanted} is for a person, and `{actor}` is none: run it without `--actor` and `STEPMARK_ACTOR`"
    ))
}

/// Values in a file that no command would write. Nothing was written.
pub(crate) fn faulty(faults: &[String]) -> Error {
    let faults = faults.join("; ");
    Error::refused(format!("nothing was brought in: {faults}; correct that in the file, and import it again"))
}

pub(crate) fn nothing_to_import(wanted: &str, place: &str) -> Error {
    Error::refused(format!("there is no {wanted} `{place}`"))
}

pub(crate) fn not_alive(agent: &str, source: io::Error) -> Error {
    Error::refused(format!("cannot note that `{agent}` is alive")).because(source)
}
