//! What stands before a publication, and what follows a commit.
//!
//! Every change of an artifact goes through both: [`Workspace::guard`] under the locks, when the new bytes are known and nothing is
//! written yet; [`Workspace::follow`] when all of it is on the disk.

use std::time::Duration;

use super::{GateAnswer, GateError, LeaseError, Tier, Workspace, changes::ChangeError};
use crate::{
    artifact::{Artifact, ProjectPath},
    commit::FileTransition,
    delegation::{Completion, Member},
    journal::{Event, EventDraft, EventId, Kind},
    lease::Claim,
    transition::{OpenChild, finish_above},
    workspace::TrackedArtifact,
};

impl Workspace {
    /// Decides whether `change` may be published: no lease of anybody else forbids it, and it does not finish an artifact
    /// above open children unless the draft insists. Then the gates of steps that it takes away are removed. Answers with
    /// the events that come before those of the change.
    ///
    /// # Errors
    /// Why nothing may be published.
    pub(super) fn guard(
        &self,
        change: &FileTransition<'_>,
        draft: &EventDraft,
    ) -> Result<Vec<Event>, ChangeError> {
        self.admit(change)?;
        let events = self.guard_children(change, draft)?;
        let failed = |source| ChangeError::GatesNotClosed { path: change.path.clone(), source };
        self.close_gates(change.path, change.new).map_err(failed)?;
        Ok(events)
    }

    /// What is to be done after a commit that changed the artifact at `path` and told it as `event`.
    ///
    /// # Errors
    /// When its gates could not be brought up to date. The commit stands, and gates that stayed behind are closed.
    pub(super) fn follow(&self, path: &ProjectPath, event: Option<EventId>) -> Result<(), GateError> {
        self.open_gates(path, event).map(drop)
    }

    /// After a change that was guarded and not made: gates that were closed for it open again.
    pub(super) fn reopen_gates(&self, path: &ProjectPath) {
        // The reason why the change was not made is told; a gate that stays closed is only slower.
        let _closed = self.follow(path, None);
    }

    /// Takes the lease of the artifact at `path`, then asks whether `step` is done (tier 3). Where it is not, a lease that was
    /// not held before is given up again.
    ///
    /// # Errors
    /// When somebody else holds the lease, or the artifact cannot be read.
    pub fn check_gate_exclusively(
        &self,
        path: &ProjectPath,
        step: &str,
        duration: Duration,
    ) -> Result<GateAnswer, LeaseError> {
        let taken = self.take_lease(path, duration, Claim::WhenFree)?;
        let answer = self.verify_gate(path, step);
        let is_open = answer.as_ref().is_ok_and(|answer| answer.verdict.is_ok());
        if !is_open && !taken.is_renewed {
            self.release_taken(path, &taken.lease)?;
        }
        let lease = is_open.then_some(taken.lease);
        Ok(GateAnswer { tier: Tier::Lease, lease, ..answer? })
    }

    fn guard_children(
        &self,
        change: &FileTransition<'_>,
        draft: &EventDraft,
    ) -> Result<Vec<Event>, ChangeError> {
        let (Some(old), Some(new)) = (change.old, change.new) else { return Ok(Vec::new()) };
        let after = self.read_again(change.path, new)?;
        let completion =
            |artifact: &TrackedArtifact| Completion::of(artifact.artifact(), artifact.progress().as_ref());
        if !completion(&after).is_finished() {
            return Ok(Vec::new());
        }
        let before = self.read_again(change.path, old)?;
        let member = Member::of(before.artifact(), None);
        let Some(id) = member.id().filter(|_| completion(&after).is_news_after(completion(&before))) else {
            return Ok(Vec::new());
        };
        let open = self.open_children(change.path, id)?;
        let told = open.iter().map(|child| child.path.clone()).collect::<Vec<_>>();
        finish_above(open, draft.insistence.as_deref())
            .map_err(|source| ChangeError::Refused { path: change.path.clone(), source })?;
        if told.is_empty() {
            return Ok(Vec::new());
        }
        let insisted = EventDraft::new(Kind::OVERRIDE)
            .with_reason(draft.insistence.clone())
            .with("path", change.path.as_str())
            .with("id", id)
            .with("open_children", told);
        let mut event = Event::new(insisted, self.attribution().actor.clone(), self.now());
        event.session.clone_from(&self.attribution().session);
        event.correlation.clone_from(&self.attribution().correlation);
        event.command.clone_from(&draft.command);
        Ok(vec![event.sealed()])
    }

    /// The children of `id`, which stands at `parent`, that are not finished. All artifacts are read. One that cannot be read
    /// counts as open where delegation puts the children of this parent.
    fn open_children(&self, parent: &ProjectPath, id: &str) -> Result<Vec<OpenChild>, ChangeError> {
        let found = self.artifacts()?;
        let folder = super::delegating::default_folder(parent);
        let mut open = Vec::new();
        for artifact in found.artifacts.iter().filter(|artifact| artifact.path() != parent) {
            let member = Member::of(artifact.artifact(), artifact.progress().as_ref());
            let is_child = member.parent_id() == Some(id) && !member.completion.is_finished();
            if is_child {
                open.push(OpenChild::from(&member));
            } else if is_unreadable_child(&member, artifact.artifact(), &folder) {
                let path = artifact.path().to_string();
                open.push(OpenChild { path, agent: None, status: Some("unreadable".to_owned()) });
            }
        }
        Ok(open)
    }
}

fn is_unreadable_child(member: &Member, artifact: &Artifact, folder: &ProjectPath) -> bool {
    member.delegation.is_none() && member.path.starts_with(folder) && artifact.state_value().is_err()
}
