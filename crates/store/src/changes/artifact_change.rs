//! The change of one artifact, in one commit with the sprint status that lists it where possible.

use crate::{Error, changes::not_edited};
use std::rc::Rc;

use crate::bmad::sprint::{MovedStory, listing_of};
use crate::changes::recording::{Versions, state_of};
use crate::changes::{ChangeReport, UpdateError};
use crate::commit::{
    CommitError, Expected, FileDecision, FileTransition, Halt, Outcome, PublishError, Transaction,
};
use crate::repository::git::GitFacts;
use crate::workspace::Workspace;
use stepmark_frontmatter::{Edited, Yaml};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Artifact, ProjectPath, state_region},
    bmad::sprint::LedgerKey,
    journal::{Event, EventDraft, EventId},
    transition::{Plan, Remark},
};

pub(crate) struct ArtifactChange<'w, D> {
    deciding: Deciding<'w, D>,
    telling: Telling<'w>,
    ledger_remarks: Vec<Remark>,
}

enum ToFollow {
    Nothing,
    Ledger(ProjectPath),
    /// The artifact could not be read, or the change was refused; the sprint status is updated afterwards.
    Unknown,
}

struct Deciding<'w, D> {
    workspace: &'w Workspace,
    path: &'w ProjectPath,
    decide: D,
    unwritten: Option<Artifact>,
    /// The last decision, reused if the bytes under the lock are the same.
    last: Option<Rc<Decision>>,
}

struct Decision {
    versions: Versions,
    after: TrackedArtifact,
    changes: bool,
    moved: Option<MovedStory>,
    remarks: Vec<Remark>,
}

struct Telling<'w> {
    workspace: &'w Workspace,
    path: &'w ProjectPath,
    /// The ticket's plan that the change creates, as it is before.
    unwritten: Option<Artifact>,
    draft: &'w EventDraft,
    facts: GitFacts,
    told: Option<EventId>,
}

impl<'w, D, E> ArtifactChange<'w, D>
where
    D: FnMut(&TrackedArtifact) -> Result<Plan, E>,
{
    pub(crate) fn new(
        workspace: &'w Workspace,
        path: &'w ProjectPath,
        draft: &'w EventDraft,
        decide: D,
    ) -> Self {
        let unwritten = workspace.unwritten_plan(path);
        let deciding = Deciding { workspace, path, decide, unwritten: unwritten.clone(), last: None };
        let telling = Telling { workspace, path, unwritten, draft, facts: GitFacts::default(), told: None };
        Self { deciding, telling, ledger_remarks: Vec::new() }
    }

    pub(crate) fn execute(mut self) -> Result<ChangeReport, UpdateError<E>> {
        let (workspace, path) = (self.deciding.workspace, self.deciding.path);
        let to_follow = self.ledger_to_follow();
        let outcome = match &to_follow {
            ToFollow::Ledger(ledger) => self.commit_with(ledger),
            ToFollow::Nothing | ToFollow::Unknown => self.commit(None),
        };
        let told = self.telling.told;
        if told.is_some() && matches!(outcome, Err(_) | Ok(Outcome::Unchanged)) {
            workspace.reopen_gates(path);
        }
        let outcome = outcome?;
        // A successful commit has decided at least once, and nobody else holds the decision.
        let Some(Decision { after, moved, mut remarks, .. }) = self.deciding.last.and_then(Rc::into_inner)
        else {
            return Err(Error::missing(path.clone()).into());
        };
        if outcome != Outcome::Unchanged {
            remarks.append(&mut self.ledger_remarks);
            if matches!(to_follow, ToFollow::Unknown) && moved.is_some() {
                remarks.extend(workspace.ledgers().project(std::slice::from_ref(&after), false).remarks());
            }
            if let Err(error) = workspace.gates().follow(path) {
                remarks.push(Remark::GatesLeft { reason: error.to_string() });
            }
            remarks.extend(workspace.follow_records(path));
        }
        Ok(ChangeReport { artifact: after, remarks, outcome })
    }

    /// Commits the artifact and `ledger` as one; only the artifact gets an event.
    fn commit(&mut self, ledger: Option<&ProjectPath>) -> Result<Outcome, UpdateError<E>> {
        let Self { deciding, telling, ledger_remarks } = self;
        let workspace = telling.workspace;
        let paths: Vec<ProjectPath> = [deciding.path].into_iter().chain(ledger).cloned().collect();
        let mut remark = None;
        let decide = |found: &[Option<&[u8]>]| {
            let decision = match (found.first().copied().flatten(), deciding.unwritten.clone()) {
                (Some(bytes), _) => deciding.decide(bytes, true)?,
                (None, Some(unwritten)) => deciding.decide(unwritten.bytes(), false)?,
                (None, None) => {
                    let missing = Error::missing(deciding.path.clone());
                    return Err(UpdateError::from(missing).into());
                }
            };
            let own = match decision.changes {
                true => FileDecision::Write(decision.after.artifact().bytes().to_vec()),
                false => FileDecision::Keep,
            };
            let bytes = found.get(1).copied().flatten();
            let (entry, left) = match (&decision.moved, ledger.zip(bytes)) {
                (Some(moved), Some((ledger, bytes))) => moved.ledger(ledger, bytes, &workspace.local_time()),
                _ => (FileDecision::Keep, None),
            };
            Ok(([own].into_iter().chain(ledger.map(|_| entry)).collect(), (decision, left)))
        };
        let record = |(decision, left): (Rc<Decision>, _), changed: &[FileTransition<'_>]| {
            remark = left;
            telling.record(&decision.versions, changed)
        };
        let transaction = Transaction::new(workspace.root(), &paths, workspace.commit_options());
        // With a sprint status, the first look has already decided.
        let transaction = if ledger.is_none() { transaction.looking_first() } else { transaction };
        let outcomes = transaction.run(decide, record)?;
        ledger_remarks.extend(remark);
        Ok(outcomes.into_iter().next().unwrap_or(Outcome::Unchanged))
    }

    fn ledger_to_follow(&mut self) -> ToFollow {
        let Deciding { workspace, path, .. } = self.deciding;
        if LedgerKey::of(path).is_none() && listing_of(workspace, path).0.is_none() {
            return ToFollow::Nothing;
        }
        let Ok(bytes) = workspace.read_file(path) else { return ToFollow::Unknown };
        match self.deciding.decide(&bytes, true) {
            Ok(decision) if decision.moved.is_none() => return ToFollow::Nothing,
            Ok(_) => {}
            Err(_) => return ToFollow::Unknown,
        }
        let (listing, remarks) = listing_of(workspace, path);
        self.ledger_remarks = remarks;
        listing.map_or(ToFollow::Nothing, ToFollow::Ledger)
    }

    /// Commits both as one; if the sprint status prevents that, the artifact alone.
    fn commit_with(&mut self, ledger: &ProjectPath) -> Result<Outcome, UpdateError<E>> {
        match self.commit(Some(ledger)) {
            Err(UpdateError::Change(error)) => match error.detail() {
                Some(CommitError::Overtaken { path }) => {
                    let is_ledger = path == ledger;
                    self.overtaken(is_ledger, error)
                }
                Some(failed) if is_before_publication(failed) => {
                    self.ledger_remarks.push(Remark::LedgerLeft { reason: error.to_string() });
                    self.commit(None)
                }
                _ => Err(UpdateError::Change(error)),
            },
            done => done,
        }
    }

    /// After a foreign write during the commit: if it hit the sprint status, the artifact is changed alone.
    fn overtaken(&mut self, is_ledger: bool, error: Error) -> Result<Outcome, UpdateError<E>> {
        match &self.deciding.last {
            Some(last) if is_ledger => {
                let after = last.after.artifact().file_hash();
                let before = Expected::of(last.versions.old.as_ref().map(Artifact::bytes));
                self.ledger_remarks.push(Remark::LedgerLeft { reason: error.to_string() });
                Ok(Outcome::Written { before, after, attempts: 1 })
            }
            _ => Err(error.into()),
        }
    }
}

/// True if nothing is written yet, so that the artifact can be changed alone.
const fn is_before_publication(error: &CommitError) -> bool {
    matches!(
        error,
        CommitError::Lock(_)
            | CommitError::Read(_)
            | CommitError::Folder(_)
            | CommitError::Stage(_)
            | CommitError::SameFile { .. }
            | CommitError::Publish(PublishError::Conflict(_) | PublishError::Busy { .. })
    )
}

impl<D, E> Deciding<'_, D>
where
    D: FnMut(&TrackedArtifact) -> Result<Plan, E>,
{
    /// Parses `bytes` as the artifact and with comments for edits; parses the new bytes to prove the edit.
    /// For a missing file `bytes` are those that it would have.
    fn decide(&mut self, bytes: &[u8], is_there: bool) -> Result<Rc<Decision>, UpdateError<E>> {
        let (path, workspace) = (self.path, self.workspace);
        let is_of = |last: &&Rc<Decision>| last.versions.old.as_ref().is_some_and(|old| old.bytes() == bytes);
        if let Some(last) = self.last.as_ref().filter(is_of) {
            return Ok(Rc::clone(last));
        }
        self.last = None;
        let tree = state_of(path, bytes);
        let old = Artifact::read_with_value(path.clone(), bytes, tree.as_ref());
        let before = workspace.tracked(&old)?;
        let plan =
            (self.decide)(&before).map_err(|source| UpdateError::Refused { path: path.clone(), source })?;
        let read =
            |bytes: &[u8], tree: Option<&Yaml<'_>>| Artifact::read_with_value(path.clone(), bytes, tree);
        let edited =
            Edited::read(bytes, &state_region(path), &plan.edits, |bytes, tree| read(bytes, Some(tree)));
        let (edited, after) = edited.map_err(|source| not_edited(path, bytes, source))?;
        let (mut remarks, changes) = (plan.remarks, !edited.splices.is_empty());
        let mut after = match after.filter(|_| changes) {
            Some(after) => workspace.tracked(&after)?,
            None => before.clone(),
        };
        let moved = if changes { MovedStory::of(&before, &after) } else { None };
        if let Some(moved) = &moved {
            let (with_line, left) = moved.with_line(&edited.bytes);
            remarks.extend(left);
            if let Some(bytes) = with_line {
                after = workspace.tracked(&read(&bytes, None))?;
            }
        }
        let old = Some(old).filter(|_| is_there);
        let versions = Versions::of(old, tree.as_ref(), Some(after.artifact().clone()));
        Ok(Rc::clone(self.last.insert(Rc::new(Decision { versions, after, changes, moved, remarks }))))
    }
}

impl Telling<'_> {
    fn record<E>(
        &mut self,
        versions: &Versions,
        changed: &[FileTransition<'_>],
    ) -> Result<Vec<Event>, Halt<UpdateError<E>>> {
        let is_own = |path: &ProjectPath| path == self.path;
        let Some(own) = changed.iter().find(|change| is_own(change.path)) else { return Ok(Vec::new()) };
        let ledger = changed.iter().map(|change| change.path).find(|path| !is_own(path));
        let draft = match ledger {
            Some(ledger) => self.draft.clone().with("ledger", ledger.as_str()),
            None => self.draft.clone(),
        };
        let mut events = match (&self.unwritten, &versions.old, &versions.new) {
            (Some(unwritten), None, Some(new)) => self
                .workspace
                .guard_state(unwritten, new, &draft)
                .map_err(|error| Halt::Refused(error.into()))?,
            _ => Vec::new(),
        };
        events.extend(self.workspace.events_of(*own, versions, &draft, &self.facts).map_err(Halt::of)?);
        self.told = events.last().map(|event| event.id);
        Ok(events)
    }
}
