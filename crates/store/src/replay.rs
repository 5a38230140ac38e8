//! Replays the history of artifacts, and compares the result with their state.

use std::collections::HashSet;

use crate::disk::{WalkProblem, WalkProblemKind};
use crate::history::History;
use crate::repository::CheckedOut;
use crate::workspace::ProjectHistory;
use crate::{Error, ErrorKind};
use stepmark_frontmatter::{Change, diff};
use stepmark_model::{
    artifact::{Artifact, ProjectPath, StateDigest},
    journal::{ArtifactKey, Digests, EventId, HistoryState, Lineage, ReplayError},
};

#[derive(Debug)]
pub struct Replayed {
    pub path: ProjectPath,
    pub key: ArtifactKey,
    pub state: HistoryState,
    pub events: usize,
    /// The event that led to the unexplained state earlier, if git has not checked it out.
    pub earlier: Option<EventId>,
    /// From the state after the last event, if the current one is unexplained.
    pub changes: Vec<Change>,
    pub obstacle: Option<Error>,
    /// Events that do not lead to their recorded state.
    pub damage: Vec<ReplayError>,
}

#[derive(Debug, Default)]
pub struct ReplayedArtifacts {
    pub artifacts: Vec<Replayed>,
    pub unreadable: Vec<Error>,
    /// Unreadable folders, and invalid names.
    pub problems: Vec<WalkProblem>,
    pub checkpoints: Vec<(ProjectPath, Error)>,
}

impl ProjectHistory<'_> {
    pub fn replay_all(&self) -> Result<ReplayedArtifacts, Error> {
        let found = self.workspace.artifacts()?;
        let mut all = ReplayedArtifacts { unreadable: found.unreadable, ..ReplayedArtifacts::default() };
        all.problems = found.problems;
        // History loses nothing by a dangling link.
        all.problems.retain(|problem| !matches!(problem.kind, WalkProblemKind::BrokenLink { .. }));
        let mut checked_out = self.workspace.repository().checked_out();
        let mut seen: HashSet<EventId> = HashSet::new();
        for tracked in &found.artifacts {
            let artifact = tracked.artifact();
            let (path, key) = (artifact.path().clone(), ArtifactKey::of(artifact));
            let lineage = self.ask(|history| history.lineage(&key, &path))?;
            seen.extend(lineage.heads().into_iter().map(|head| head.id));
            all.artifacts.push(self.compared(path, key, Some(artifact), &lineage, &mut checked_out)?);
        }
        // Files that are gone, or without workflow state.
        let reported: HashSet<ProjectPath> =
            all.unreadable.iter().filter_map(|error| error.path().cloned()).collect();
        for known in self.ask(History::artifacts)? {
            if known.goes_on
                || known.heads.iter().all(|head| seen.contains(head))
                || reported.contains(&known.path)
            {
                continue;
            }
            let artifact = match self.present(&known.path) {
                Ok(artifact) => artifact,
                Err(error) => {
                    all.unreadable.push(error);
                    continue;
                }
            };
            let lineage = self.ask(|history| history.lineage(&known.key, &known.path))?;
            let (path, key) = (known.path, known.key);
            all.artifacts.push(self.compared(path, key, artifact.as_ref(), &lineage, &mut checked_out)?);
        }
        for place in self.workspace.checkpoints().all()? {
            all.checkpoints.extend(self.workspace.checkpoints().at(&place).err().map(|error| (place, error)));
        }
        all.artifacts.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(all)
    }

    pub fn replay(&self, path: &ProjectPath, checked_out: &mut CheckedOut) -> Result<Replayed, Error> {
        let artifact = self.present(path)?;
        let key = artifact.as_ref().map_or_else(|| ArtifactKey::of_path(path), ArtifactKey::of);
        let lineage = self.ask(|history| history.lineage(&key, path))?;
        self.compared(path.clone(), key, artifact.as_ref(), &lineage, checked_out)
    }

    fn present(&self, path: &ProjectPath) -> Result<Option<Artifact>, Error> {
        match self.workspace.read_file(path) {
            Ok(bytes) => Ok(Some(Artifact::read(path.clone(), bytes))),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn compared(
        &self,
        path: ProjectPath,
        key: ArtifactKey,
        artifact: Option<&Artifact>,
        lineage: &Lineage,
        checked_out: &mut CheckedOut,
    ) -> Result<Replayed, Error> {
        let state = artifact.map(Artifact::state_value);
        let digests = artifact.map(|artifact| Digests {
            file: artifact.file_hash(),
            state: state.as_ref().and_then(|state| state.as_ref().ok()).map(StateDigest::of),
        });
        let (mut history_state, mut earlier) = history_state(lineage, &path, digests, checked_out);
        if let (HistoryState::Unexplained { head }, Some(Ok(state))) = (history_state, &state)
            && lineage.is_merged(state)
        {
            (history_state, earlier) = (HistoryState::Merged { head }, None);
        }
        if let (HistoryState::Current { .. } | HistoryState::Merged { .. }, Some(Ok(state))) =
            (history_state, &state)
            && let Some(head) = self.ask(|history| history.lost_in_merge(lineage, state))?
        {
            history_state = HistoryState::Unexplained { head };
        }
        let damage = lineage.verify();
        let (mut changes, mut obstacle) = (Vec::new(), None);
        if let HistoryState::Unexplained { head } = history_state {
            match (self.ask(|history| history.state_after(head)), state) {
                (Ok(recorded), Some(Ok(now))) => changes = diff(&recorded, &now),
                (_, Some(Err(error))) => {
                    obstacle = Some(Error::refused("it cannot be read now").because(error));
                }
                (_, None) => {
                    obstacle = Some(Error::new(ErrorKind::Missing, "there is no such file any more"));
                }
                (Err(error), _) => obstacle = Some(error),
            }
        }
        Ok(Replayed {
            path,
            key,
            state: history_state,
            events: lineage.events().len(),
            earlier,
            changes,
            obstacle,
            damage,
        })
    }
}

/// With the event that led to an unexplained state earlier, if any.
fn history_state(
    lineage: &Lineage,
    path: &ProjectPath,
    digests: Option<Digests>,
    checked_out: &mut CheckedOut,
) -> (HistoryState, Option<EventId>) {
    match lineage.history_state(digests) {
        // Not in HEAD either: this is the state before its first event.
        HistoryState::Unexplained { head } if digests.is_none() && checked_out.lacks(path) => (
            first(lineage)
                .map_or(HistoryState::Unexplained { head }, |event| HistoryState::Earlier { event }),
            None,
        ),
        // Only git explains an earlier state; an editor that writes an older text does not.
        HistoryState::Earlier { event } if !checked_out.explains(path, digests) => {
            let head = lineage.heads().last().map_or(event, |head| head.id);
            (HistoryState::Unexplained { head }, Some(event))
        }
        state => (state, None),
    }
}

fn first(lineage: &Lineage) -> Option<EventId> {
    lineage.events().first().filter(|event| event.parents.is_empty()).map(|event| event.id)
}
