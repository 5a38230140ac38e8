//! The history of a change in this clone's journal.

use crate::history::{JoinedSegments, files_of_segment, joined_segments};
use crate::workspace::Workspace;
use crate::{Error, git::GitVersion};
use jiff::Timestamp;
use serde_json::Value as Json;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use stepmark_model::artifact::{Artifact, ProjectPath};
use stepmark_model::check::{AcceptedLosses, Loss};
use stepmark_model::journal::{
    ArtifactKey, ChangeInHistory, Digests, EventId, Lineage, LossExplanation, NewerState, SegmentName,
};

pub(crate) struct JournalAccount<'w> {
    workspace: &'w Workspace,
    before: &'w Artifact,
    /// Possibly renamed or with a new id; `None` if deleted.
    now: Option<&'w Artifact>,
    held: &'w HeldHistory<'w>,
    facts: OnceCell<Facts>,
    failure: RefCell<Option<Error>>,
    /// True if history that the newer state does not hold accepted something.
    is_missing: RefCell<bool>,
}

struct Facts {
    lineage: Lineage,
    now_state: Option<Json>,
    newer: NewerState,
    committed_before: Option<Timestamp>,
}

impl<'w> JournalAccount<'w> {
    pub(crate) fn new(
        workspace: &'w Workspace,
        before: &'w Artifact,
        now: Option<&'w Artifact>,
        held: &'w HeldHistory<'w>,
    ) -> Self {
        let (facts, failure, is_missing) = (OnceCell::new(), RefCell::new(None), RefCell::new(false));
        Self { workspace, before, now, held, facts, failure, is_missing }
    }

    pub(crate) fn failure(self) -> Result<(), Error> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }

    pub(crate) fn explanation(&self, loss: &Loss<'_>) -> LossExplanation {
        let facts = self.facts.get_or_init(|| Facts {
            lineage: self.lineage().unwrap_or_else(|error| {
                *self.failure.borrow_mut() = Some(error);
                Lineage::default()
            }),
            now_state: self.now.and_then(|now| now.state_value().ok()),
            newer: self.newer(),
            // If the older state is not a commit, nothing was committed before.
            committed_before: self.held.version().committed_before(self.before.path()).unwrap_or_default(),
        });
        let answered = |answer: Result<bool, Error>| {
            answer.unwrap_or_else(|error| {
                *self.failure.borrow_mut() = Some(error);
                false
            })
        };
        let change = ChangeInHistory {
            lineage: &facts.lineage,
            before: Some(Digests::of(self.before)),
            now: self.now.map(Digests::of),
            now_state: facts.now_state.as_ref(),
            newer: facts.newer,
            committed_before: facts.committed_before,
            is_held_before: &|event| answered(self.held.before(event)),
            is_held_now: &|event| answered(self.held.now(event)),
        };
        change.explanation(loss)
    }

    fn lineage(&self) -> Result<Lineage, Error> {
        let mut names: Vec<(ArtifactKey, &ProjectPath)> = [Some(self.before), self.now]
            .into_iter()
            .flatten()
            .map(|artifact| (ArtifactKey::of(artifact), artifact.path()))
            .collect();
        names.dedup();
        let mut events = Vec::new();
        for (key, path) in names {
            let lineage = self.workspace.history().ask(|history| history.lineage(&key, path))?;
            events.extend(lineage.events().iter().cloned());
        }
        Ok(Lineage::new(events))
    }

    fn newer(&self) -> NewerState {
        if !self.held.version().is_index() {
            return NewerState::Commit;
        }
        let path = self.now.unwrap_or(self.before).path();
        // An unreadable file is in none of the recorded states.
        let file = self.workspace.read_file(path).ok();
        let worktree = file.map(|bytes| Digests::of(&Artifact::read(path.clone(), bytes)));
        NewerState::Index { worktree }
    }
}

impl AcceptedLosses for JournalAccount<'_> {
    fn accepts(&self, loss: &Loss<'_>) -> bool {
        let explanation = self.explanation(loss);
        if explanation == LossExplanation::NotHeld {
            *self.is_missing.borrow_mut() = true;
        }
        explanation != LossExplanation::Unexplained
    }

    fn is_missing(&self) -> bool {
        *self.is_missing.borrow()
    }
}

pub(crate) struct HeldHistory<'v> {
    workspace: &'v Workspace,
    version: &'v GitVersion,
    joined: OnceCell<JoinedSegments>,
    known: RefCell<HashMap<(SegmentName, Side), bool>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Before,
    Now,
}

impl<'v> HeldHistory<'v> {
    pub(crate) fn new(workspace: &'v Workspace, version: &'v GitVersion) -> Self {
        Self { workspace, version, joined: OnceCell::new(), known: RefCell::default() }
    }

    pub(crate) const fn version(&self) -> &'v GitVersion {
        self.version
    }

    pub(crate) fn before(&self, event: EventId) -> Result<bool, Error> {
        self.holds(event, Side::Before)
    }

    pub(crate) fn now(&self, event: EventId) -> Result<bool, Error> {
        self.holds(event, Side::Now)
    }

    fn holds(&self, event: EventId, side: Side) -> Result<bool, Error> {
        let segments = self.workspace.history().ask(|history| history.segments_of(event))?;
        Ok(segments.into_iter().any(|segment| self.holds_segment(segment, side)))
    }

    /// By itself, or joined with others.
    fn holds_segment(&self, segment: SegmentName, side: Side) -> bool {
        let key = (segment, side);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let joined = self.joined.get_or_init(|| joined_segments(self.workspace.root()).unwrap_or_default());
        // If git fails here, it has already failed for the artifacts, which is an error.
        let is_held = files_of_segment(&key.0, joined).any(|path| match side {
            Side::Before => self.version.held_before(&path).unwrap_or(false),
            Side::Now => self.version.holds(&path).unwrap_or(true),
        });
        self.known.borrow_mut().insert(key, is_held);
        is_held
    }
}
