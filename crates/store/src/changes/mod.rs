//! Changing artifacts: read, decide, edit, prove, commit; again from the start if another program wrote
//! meanwhile.

pub(crate) mod artifact_change;
pub(crate) mod change_guard;
pub(crate) mod delegating;
pub(crate) mod guards;
pub(crate) mod migrating;
pub(crate) mod recording;
mod memlogs;
pub(crate) mod removing;

use std::{cell::LazyCell, collections::BTreeSet, path::Path};

use crate::{
    Error, ErrorKind,
    changes::{artifact_change::ArtifactChange, recording::Versions},
    commit::{
        self, CommitError, Conflict, FileDecision, FileTransition, Halt, Outcome, PublishError, Transaction,
        WriteState,
    },
    configuration::{PACKS_FOLDER, STEPMARK_GITIGNORE, initial_configuration},
    disk::CONFIGURATION_PATH,
    repository::{git::GitFacts, git_history::head_commit},
    workspace::Workspace,
};
use stepmark_frontmatter::{Edit, EditError, KeyIndex, KeyPath, Value};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    journal::{Event, EventDraft, Kind},
    lifecycle::{Lasting, Once},
    packs::{MoveCall, NamedMove},
    tracked_artifact::TrackedArtifact,
    transition::{Command, Plan, Remark, Strictness, TransitionRefusal},
};

pub use delegating::{Delegated, DelegationOrder};
pub use memlogs::MemlogChange;
pub use migrating::MigrationLoss;
pub(crate) use recording::RECORDS_A_COMMIT;
pub use recording::RecordDecision;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeReason {
    Unsaid,
    Said(String),
    /// Overrides the lifecycle and open children, for this reason.
    Forced(String),
}

impl ChangeReason {
    pub fn said(reason: Option<String>) -> Self {
        reason.map_or(Self::Unsaid, Self::Said)
    }

    pub(crate) fn on(self, draft: EventDraft) -> EventDraft {
        match self {
            Self::Unsaid => draft,
            Self::Said(reason) => draft.with_reason(Some(reason)),
            Self::Forced(reason) => draft.with_reason(Some(reason.clone())).insisting(Some(reason)),
        }
    }
}

#[derive(Debug)]
pub struct ChangeReport {
    pub artifact: TrackedArtifact,
    pub remarks: Vec<Remark>,
    pub outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialised {
    Created,
    Existing,
}

impl Workspace {
    /// Changes the artifact by the plan of `decide`, which is called again if another program changed the
    /// file meanwhile, so it must depend only on the artifact that it gets. Appends an event. `decide` may
    /// run under the artifact's lock: debug builds stop it from starting git there. It fails with a plan's
    /// refusal or the caller's own error.
    pub fn update<E: 'static>(
        &self,
        path: impl AsRef<Path>,
        decide: impl FnMut(&TrackedArtifact) -> Result<Plan, E>,
    ) -> Result<ChangeReport, UpdateError<E>> {
        let path = ProjectPath::new(path).map_err(Error::from)?;
        self.update_telling(&path, &EventDraft::new(Kind::CHANGE), decide)
    }

    /// Like `Workspace::update`, with the event from `draft`. If a story's status moves, its `Status:` line
    /// and its entry in `sprint-status.yaml` are updated in the same commit; failures become remarks.
    pub(crate) fn update_telling<E: 'static>(
        &self,
        path: &ProjectPath,
        draft: &EventDraft,
        decide: impl FnMut(&TrackedArtifact) -> Result<Plan, E>,
    ) -> Result<ChangeReport, UpdateError<E>> {
        ArtifactChange::new(self, path, draft, decide).execute()
    }

    /// Changes several files as one: all or none, whenever the process dies. `decide` gets the bytes of each
    /// (`None`: no such file) and may be called again; `draft` describes the event of each changed file.
    pub fn change_files(
        &self,
        paths: &[ProjectPath],
        draft: impl Fn(&ProjectPath) -> EventDraft,
        mut decide: impl FnMut(&[Option<&[u8]>]) -> Result<Vec<FileDecision>, Error>,
    ) -> Result<Vec<Outcome>, Error> {
        let outcomes = self.change_files_asking(paths, draft, |found| Ok::<_, Halt<Error>>(decide(found)?));
        let outcomes = outcomes.map_err(Error::unwritten)?;
        // The next command that changes a record reports what is not updated.
        paths.iter().find_map(|path| self.follow_records(path));
        Ok(outcomes)
    }

    /// Like `change_files`; `decide` may ask slow questions outside the locks.
    pub(crate) fn change_files_asking<E: From<Error> + From<CommitError>>(
        &self,
        paths: &[ProjectPath],
        draft: impl Fn(&ProjectPath) -> EventDraft,
        mut decide: impl FnMut(&[Option<&[u8]>]) -> Result<Vec<FileDecision>, Halt<E>>,
    ) -> Result<Vec<Outcome>, E> {
        // Files that an attempt was to change, with the last event of each.
        let mut told = BTreeSet::new();
        let facts = GitFacts::default();
        let record = |(), changed: &[FileTransition<'_>]| -> Result<Vec<Event>, Halt<E>> {
            let (mut events, mut questions, mut first) = (Vec::new(), Vec::new(), None);
            for change in changed {
                let versions = Versions::read(change.path, [change.old, change.new]);
                let draft = draft(change.path).together(first, changed.len());
                match self.events_of(*change, &versions, &draft, &facts) {
                    Ok(own) => {
                        first = first.or_else(|| own.last().map(|event| event.id));
                        told.insert(change.path.clone());
                        events.extend(own);
                    }
                    Err(Halt::Ask(question)) => questions.push(question),
                    Err(refused) => return Err(Halt::of(refused)),
                }
            }
            match questions.is_empty() {
                true => Ok(events),
                false => Err(Halt::Ask(Box::new(|| questions.into_iter().for_each(|question| question())))),
            }
        };
        let transaction = Transaction::new(self.root(), paths, self.commit_options());
        let outcomes = transaction.run::<(), E>(|found| Ok((decide(found)?, ())), record);
        if outcomes.is_err() {
            told.iter().for_each(|path| self.reopen_gates(path));
        }
        let outcomes = outcomes?;
        for (path, outcome) in paths.iter().zip(&outcomes) {
            match told.contains(path) {
                false => {}
                // An earlier attempt created an event that was never appended.
                true if *outcome == Outcome::Unchanged => self.reopen_gates(path),
                true => self
                    .gates()
                    .follow(path)
                    .map_err(|source| {
                        let message = format!(
                            "`{path}` is changed, but its gates are not up to date: `stepmark project` rebuilds them"
                        );
                        Error::io(message, source).wrote(WriteState::Written)
                    })?,
            }
        }
        Ok(outcomes)
    }

    pub fn execute(
        &self,
        path: &ProjectPath,
        command: &Command,
        strictness: Strictness,
        reason: ChangeReason,
    ) -> Result<ChangeReport, Error> {
        let text = match &reason {
            ChangeReason::Unsaid => None,
            ChangeReason::Said(text) | ChangeReason::Forced(text) => Some(text.clone()),
        };
        let mut draft = reason.on(EventDraft::new(Kind::CHANGE).with_command(command.to_string()));
        draft.is_move = matches!(command, Command::Move(_));
        // Read before anything is locked.
        let head = LazyCell::new(|| head_commit(self.root()));
        let mut carried = self.update_telling(path, &draft, |artifact| {
            let mut plan = artifact.decide(command, strictness)?;
            plan.edits.extend(self.date_of_move(artifact, &plan));
            plan.edits.extend(self.lasting_keys(artifact, &plan, (text.as_deref(), &head)));
            if let Command::Move(call) = command {
                self.guard_move(call, artifact, &plan)?;
            }
            Ok::<_, TransitionRefusal>(plan)
        })?;
        if matches!(command, Command::Complete { .. })
            && let Err(error) = self.leases().release_after_step(carried.artifact.artifact())
        {
            carried.remarks.push(Remark::LeaseLeft { reason: error.to_string() });
        }
        Ok(carried)
    }

    /// Named moves from the artifact's state, in the order of its pack.
    pub fn legal_moves(&self, path: &ProjectPath) -> Result<Vec<NamedMove>, Error> {
        let artifact = self.artifact(path)?;
        let Some(choice) = artifact.lifecycle() else { return Ok(Vec::new()) };
        let status = artifact.artifact().state().status.as_ref().map(|status| status.text.as_str());
        let state = match status {
            Some(status) => choice.lifecycle.state_of(status),
            None => choice.lifecycle.states().iter().find(|state| state.is_initial),
        };
        Ok(state.into_iter().flat_map(|state| choice.lifecycle.named_from(state)).cloned().collect())
    }

    /// Replaces `$now`, `$actor`, `$agent`, `$session`, `$id` and `$reason`.
    pub fn make_move(
        &self,
        path: &ProjectPath,
        mut call: MoveCall,
        reason: Option<String>,
    ) -> Result<ChangeReport, Error> {
        let (artifact, attribution) = (self.artifact(path).map_err(Error::unwritten)?, self.attribution());
        let given = [
            ("now", Some(self.now().to_string())),
            ("actor", Some(attribution.actor.to_string())),
            ("agent", Some(attribution.actor.name.clone())),
            ("session", attribution.session.clone().map(String::from)),
            ("id", Some(artifact.member().id().unwrap_or(path.as_str()).to_owned())),
            ("reason", reason.clone()),
        ];
        call.given.extend(given.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into()))));
        self.execute(path, &Command::Move(call), Strictness::Warn, ChangeReason::said(reason))
    }

    fn lasting_keys<F: FnOnce() -> Option<String>>(
        &self,
        artifact: &TrackedArtifact,
        plan: &Plan,
        (reason, head): (Option<&str>, &LazyCell<Option<String>, F>),
    ) -> Vec<Edit> {
        let status = KeyPath::key("status");
        let to = plan.edits.iter().find_map(|edit| match edit {
            Edit::Set { path, value: Value::String(word) } if *path == status => Some(word),
            _ => None,
        });
        let Some((choice, to)) = artifact.lifecycle().zip(to) else { return Vec::new() };
        let keys = artifact.artifact().root_keys();
        let left = artifact.lifecycle_state().into_iter().flat_map(|state| state.while_in.keys());
        let state = choice.lifecycle.state_of(to);
        let once = state.and_then(|state| choice.once(state, artifact.artifact()));
        let once = once.filter(|(key, _)| !keys.is_filled(key)).map(|(key, Once::Head)| {
            let text = head.as_deref().unwrap_or("NO_VCS");
            Edit::Set { path: KeyPath::key(key), value: Value::from(text) }
        });
        let entered = state.into_iter().flat_map(|state| &state.while_in);
        let set = entered.filter_map(|(key, lasting)| {
            let text = match lasting {
                Lasting::Today => self.local_time().strftime("%Y-%m-%d").to_string(),
                Lasting::Reason => reason?.to_owned(),
            };
            Some(Edit::Set { path: KeyPath::key(key), value: Value::String(text) })
        });
        let set: Vec<Edit> = set.collect();
        let is_set = |path: &KeyPath| set.iter().any(|edit| edit.path() == path);
        let gone = left.filter(|key| keys.has(key)).map(KeyPath::key).filter(|path| !is_set(path));
        let gone: Vec<Edit> = gone.map(|path| Edit::Remove { path }).collect();
        gone.into_iter().chain(set).chain(once).collect()
    }

    fn date_of_move(&self, artifact: &TrackedArtifact, plan: &Plan) -> Option<Edit> {
        let path = KeyPath::key(artifact.lifecycle()?.lifecycle.dated()?);
        let edits = |path: &KeyPath| plan.edits.iter().any(|edit| edit.path() == path);
        if !edits(&KeyPath::key("status")) || edits(&path) {
            return None;
        }
        let yaml = artifact.artifact().state_yaml()?;
        let old = KeyIndex::default().node_at(yaml.root()?, &path.0)?.text()?.to_owned();
        let form = if old.contains('T') { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%d" };
        let value = Value::String(self.now().strftime(form).to_string());
        Some(Edit::Set { path, value })
    }

    /// Creates the configuration with the identity `project_id`, if there is none.
    pub fn initialise(&self, project_id: &str) -> Result<Initialised, Error> {
        let create = |path: &str, text: &str| -> Result<Initialised, Error> {
            let path = ProjectPath::new(path)?;
            match commit::create(self.root(), &path, text.as_bytes(), self.commit_options()) {
                Ok(_) => Ok(Initialised::Created),
                Err(CommitError::Publish(PublishError::Conflict(_))) => Ok(Initialised::Existing),
                Err(error) => Err(error.into()),
            }
        };
        create(".stepmark/.gitignore", STEPMARK_GITIGNORE)?;
        create(CONFIGURATION_PATH, &initial_configuration(project_id))
    }

    pub fn make_pack(&self, name: &str, text: &str, schema: &str) -> Result<(), Error> {
        let create = |file: &str, text: &str| -> Result<Outcome, Error> {
            let path = ProjectPath::new(format!("{PACKS_FOLDER}/{file}"))?;
            Ok(commit::create(self.root(), &path, text.as_bytes(), self.commit_options())?)
        };
        create(&format!("{name}.yaml"), text)?;
        match create("pack.schema.json", schema) {
            Err(error) if error.conflict().is_none() => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn read_again(&self, path: &ProjectPath, bytes: &[u8]) -> Result<TrackedArtifact, Error> {
        self.tracked(&Artifact::read(path.clone(), bytes.to_vec()))
    }

    pub(crate) fn tracked(&self, artifact: &Artifact) -> Result<TrackedArtifact, Error> {
        self.track(artifact.clone())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot edit `{path}`")]
pub struct EditFailure {
    pub path: ProjectPath,
    pub bytes: Vec<u8>,
    pub source: EditError,
}

pub(crate) fn not_edited(path: &ProjectPath, bytes: &[u8], source: EditError) -> Error {
    let failure = EditFailure { path: path.clone(), bytes: bytes.to_vec(), source };
    Error::told(ErrorKind::Refused, failure).at(path).unwritten()
}

pub(crate) fn exists(path: &ProjectPath) -> Error {
    Error::exists(format!("`{path}` exists already: name another file")).unwritten()
}

pub fn left_for(path: &ProjectPath, reason: &str) -> Error {
    Error::refused(format!("`{path}` is left as it is: {reason}")).unwritten()
}

/// `E` is the caller's own error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError<E> {
    #[error("`{path}` is left as it is")]
    Refused { path: ProjectPath, source: E },
    #[error(transparent)]
    Change(Error),
}

impl<E> UpdateError<E> {
    pub fn write_state(&self) -> WriteState {
        match self {
            Self::Refused { .. } => WriteState::NotWritten,
            Self::Change(error) => error.write_state().unwrap_or(WriteState::NotWritten),
        }
    }

    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Change(error) if error.is_conflict())
    }

    pub fn conflict(&self) -> Option<&Conflict> {
        match self {
            Self::Change(error) => error.conflict(),
            Self::Refused { .. } => None,
        }
    }
}

impl From<UpdateError<TransitionRefusal>> for Error {
    fn from(error: UpdateError<TransitionRefusal>) -> Self {
        match error {
            UpdateError::Refused { path, source } => Self::left(&path, source),
            UpdateError::Change(error) => error,
        }
    }
}

impl From<UpdateError<Self>> for Error {
    fn from(error: UpdateError<Self>) -> Self {
        match error {
            UpdateError::Refused { source, .. } | UpdateError::Change(source) => source,
        }
    }
}

impl<E> From<Error> for UpdateError<E> {
    fn from(error: Error) -> Self {
        Self::Change(error.unwritten())
    }
}

impl<E> From<CommitError> for UpdateError<E> {
    fn from(error: CommitError) -> Self {
        Self::Change(error.into())
    }
}
