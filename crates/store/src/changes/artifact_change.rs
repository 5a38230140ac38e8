//! The change of one artifact from beginning to end, with the ledger that lists it in the same commit where that is possible.

use crate::bmad::sprint::{MovedStory, listing_of};
use crate::changes::{Carried, ChangeError, update_error::Undecided};
use crate::commit::{
    self, CommitError, Deliberation, Expected, FileDecision, FileTransition, Outcome, PublishError,
    UpdateError,
};
use crate::workspace::{ArtifactError, Workspace};
use stepmark_frontmatter::apply;
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{FileHash, ProjectPath, state_region},
    bmad::sprint::LedgerKey,
    journal::{Event, EventDraft, EventId},
    transition::{Plan, Remark},
};

/// A change that is under way.
pub(crate) struct ArtifactChange<'w, D> {
    deciding: Deciding<'w, D>,
    telling: Telling<'w>,
    /// The remarks on the ledger.
    ledger_remarks: Vec<Remark>,
}

/// The meaning of an artifact's change for ledgers.
enum ToFollow {
    /// No ledger is about it.
    Nothing,
    /// This one comes along.
    Ledger(ProjectPath),
    /// It cannot be told: the commit may read or allow what could not be read, or was refused. Then the ledger is looked for afterwards.
    Unknown,
}

/// The part of the change that decides what the artifact is to hold.
struct Deciding<'w, D> {
    workspace: &'w Workspace,
    path: &'w ProjectPath,
    decide: D,
    remarks: Vec<Remark>,
    /// The artifact as it is to be, after the last decision.
    last: Option<TrackedArtifact>,
    /// The move of its status in the last decision, if ledgers are about it.
    moved: Option<MovedStory>,
    /// The bytes that the last decision was about.
    before: Option<FileHash>,
}

/// The part of the change that tells the journal.
struct Telling<'w> {
    workspace: &'w Workspace,
    draft: &'w EventDraft,
    told: Option<EventId>,
}

impl<'w, D, E> ArtifactChange<'w, D>
where
    D: FnMut(&TrackedArtifact) -> Result<Plan, E>,
    E: 'static,
{
    pub(crate) fn new(
        workspace: &'w Workspace,
        path: &'w ProjectPath,
        draft: &'w EventDraft,
        decide: D,
    ) -> Self {
        let deciding =
            Deciding { workspace, path, decide, remarks: Vec::new(), last: None, moved: None, before: None };
        let telling = Telling { workspace, draft, told: None };
        Self { deciding, telling, ledger_remarks: Vec::new() }
    }

    /// Decides, commits, tells.
    pub(crate) fn carry_out(mut self) -> Result<Carried, Undecided<E>> {
        let (workspace, path) = (self.deciding.workspace, self.deciding.path);
        let to_follow = self.ledger_to_follow();
        let outcome = match &to_follow {
            ToFollow::Ledger(ledger) => self.commit_with(ledger),
            ToFollow::Nothing | ToFollow::Unknown => self.commit_alone(),
        };
        let told = self.telling.told;
        if outcome.is_err() && told.is_some() {
            workspace.reopen_gates(path);
        }
        let outcome = outcome?;
        let mut remarks = self.deciding.remarks;
        if outcome != Outcome::Unchanged {
            remarks.append(&mut self.ledger_remarks);
            if let (ToFollow::Unknown, Some(_), Some(now)) =
                (&to_follow, &self.deciding.moved, &self.deciding.last)
            {
                remarks.extend(workspace.ledgers().project(std::slice::from_ref(now), None).remarks());
            }
            if let Err(error) = workspace.follow(path, told) {
                remarks.push(Remark::GatesLeft { reason: error.to_string() });
            }
        }
        match self.deciding.last {
            Some(artifact) => Ok(Carried { artifact, remarks, outcome }),
            // A commit that ends well has decided at least once.
            None => Err(ChangeError::from(ArtifactError::Missing { path: path.clone() }).into()),
        }
    }

    fn commit_alone(&mut self) -> Result<Outcome, Undecided<E>> {
        let Self { deciding, telling, .. } = self;
        let (workspace, path) = (deciding.workspace, deciding.path);
        let decide = |bytes: &[u8]| deciding.decide(bytes);
        let record = |change: FileTransition<'_>| telling.record(change, None);
        let options = workspace.commit_options();
        commit::update_and_record(workspace.root(), path, options, decide, record)
            .map_err(Undecided::of_commit)
    }

    /// Looks, without a lock, whether the status is going to change, and which ledger lists the artifact.
    fn ledger_to_follow(&mut self) -> ToFollow {
        let Deciding { workspace, path, .. } = self.deciding;
        if LedgerKey::of(path).is_none() {
            return ToFollow::Nothing;
        }
        let Ok(bytes) = workspace.read_file(path) else { return ToFollow::Unknown };
        match self.deciding.decide(&bytes) {
            Ok(_) if self.deciding.moved.is_none() => return ToFollow::Nothing,
            Ok(_) => {}
            Err(_) => return ToFollow::Unknown,
        }
        let (listing, remarks) = listing_of(workspace, path);
        self.ledger_remarks = remarks;
        listing.map_or(ToFollow::Nothing, ToFollow::Ledger)
    }

    /// Changes the artifact and its ledger as one. Where the ledger stands in the way, the artifact is changed without it.
    fn commit_with(&mut self, ledger: &ProjectPath) -> Result<Outcome, Undecided<E>> {
        let (workspace, path) = (self.deciding.workspace, self.deciding.path);
        let Self { deciding, telling, .. } = self;
        let mut together = Together { deciding, telling, ledger, remark: None };
        let paths = [path.clone(), ledger.clone()];
        let outcomes = commit::transact(workspace.root(), &paths, workspace.commit_options(), &mut together);
        let remark = together.remark.take();
        match outcomes {
            Ok(outcomes) => {
                self.ledger_remarks.extend(remark);
                Ok(outcomes.into_iter().next().unwrap_or(Outcome::Unchanged))
            }
            Err(UpdateError::Commit(error @ CommitError::Overtaken { .. })) => self.overtaken(ledger, error),
            Err(UpdateError::Commit(error)) if is_before_publication(&error) => {
                self.ledger_remarks.push(Remark::LedgerLeft { reason: error.to_string() });
                self.commit_alone()
            }
            Err(error) => Err(Undecided::of_commit(error)),
        }
    }

    /// A foreign write won in the middle of the commit; where it won in the ledger, the artifact is changed as it was meant to be.
    fn overtaken(&mut self, ledger: &ProjectPath, error: CommitError) -> Result<Outcome, Undecided<E>> {
        let is_ledger = matches!(&error, CommitError::Overtaken { path } if path == ledger);
        match (&self.deciding.last, self.deciding.before) {
            (Some(last), Some(before)) if is_ledger => {
                let after = last.artifact().file_hash();
                self.ledger_remarks.push(Remark::LedgerLeft { reason: error.to_string() });
                Ok(Outcome::Written { before: Expected::Hash(before), after, attempts: 1 })
            }
            _ => Err(ChangeError::from(error).into()),
        }
    }
}

/// Returns whether nothing is changed yet, so that the artifact can be changed by itself.
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
    /// The new bytes; `None` where there is nothing to change.
    fn decide(&mut self, bytes: &[u8]) -> Result<Option<Vec<u8>>, Undecided<E>> {
        let path = self.path;
        let artifact = self.workspace.read_again(path, bytes)?;
        let plan = (self.decide)(&artifact).map_err(Undecided::Caller)?;
        let edited = apply(bytes, &state_region(path), &plan.edits).map_err(|source| ChangeError::Edit {
            path: path.clone(),
            bytes: bytes.to_vec(),
            source,
        })?;
        self.remarks = plan.remarks;
        self.before = Some(FileHash::of(bytes));
        self.moved = None;
        if edited.splices.is_empty() {
            self.last = Some(artifact);
            return Ok(None);
        }
        let mut after = self.workspace.read_again(path, &edited.bytes)?;
        self.moved = MovedStory::of(&artifact, &after);
        if let Some(moved) = &self.moved {
            let (with_line, left) = moved.with_line(&edited.bytes);
            self.remarks.extend(left);
            if let Some(bytes) = with_line {
                after = self.workspace.read_again(path, &bytes)?;
            }
        }
        let bytes = after.artifact().bytes().to_vec();
        self.last = Some(after);
        Ok(Some(bytes))
    }
}

impl Telling<'_> {
    /// The events of a change, which names the ledger that changes with it.
    fn record<E>(
        &mut self,
        change: FileTransition<'_>,
        ledger: Option<&ProjectPath>,
    ) -> Result<Vec<Event>, Undecided<E>> {
        let draft = self.draft.clone();
        let draft = match ledger {
            Some(ledger) => draft.with("ledger", ledger.as_str()),
            None => draft,
        };
        let events = self.workspace.events_of(change, &draft)?;
        self.told = events.last().map(|event| event.id);
        Ok(events)
    }
}

/// The deliberation on an artifact and its ledger, which is no artifact: history is told of the artifact alone.
struct Together<'c, 'w, D> {
    deciding: &'c mut Deciding<'w, D>,
    telling: &'c mut Telling<'w>,
    ledger: &'c ProjectPath,
    remark: Option<Remark>,
}

impl<D, E> Deliberation for Together<'_, '_, D>
where
    D: FnMut(&TrackedArtifact) -> Result<Plan, E>,
    E: 'static,
{
    type Refusal = Undecided<E>;

    fn decide(&mut self, found: &[Option<&[u8]>]) -> Result<Vec<FileDecision>, Undecided<E>> {
        self.remark = None;
        let [Some(bytes), ledger] = *found else {
            let path = self.deciding.path.clone();
            return Err(ChangeError::from(ArtifactError::Missing { path }).into());
        };
        let Some(new) = self.deciding.decide(bytes)? else {
            return Ok(vec![FileDecision::Keep, FileDecision::Keep]);
        };
        let ledger = match (&self.deciding.moved, ledger) {
            (Some(moved), Some(bytes)) => {
                let (decision, remark) = moved.ledger(self.ledger, bytes);
                self.remark = remark;
                decision
            }
            _ => FileDecision::Keep,
        };
        Ok(vec![FileDecision::Write(new), ledger])
    }

    fn record(&mut self, changed: &[FileTransition<'_>]) -> Result<Vec<Event>, Undecided<E>> {
        let own = changed.iter().find(|change| change.path == self.deciding.path);
        let ledger = changed.iter().map(|change| change.path).find(|path| *path == self.ledger);
        own.map_or_else(|| Ok(Vec::new()), |change| self.telling.record(*change, ledger))
    }
}
