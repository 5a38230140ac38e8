//! Taking back what an event changed, together with what was decided with it.

use std::collections::BTreeMap;

use crate::changes::{ChangeError, ChangeReason, ChangeReport, RecordDecision, removing};
use crate::commit::Outcome;
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    journal::{self, Event, EventDraft, EventId, Kind},
    transition::{Remark, TransitionRefusal},
};

impl Workspace {
    /// Takes back what `event` changed in its artifact, as a new event; history is never rewritten. Where it
    /// is one of several of a commit that was one decision, all of them are taken back in one commit, or
    /// none. Files that were made then stay, which is remarked.
    ///
    /// # Errors
    /// When the event changed nothing that can be taken back, its places were changed since, and those of
    /// [`Workspace::update`].
    pub fn undo(&self, event: &Event, reason: ChangeReason) -> Result<ChangeReport, ChangeError> {
        let refused = match self.take_back(event, reason) {
            Err(error @ ChangeError::Refused { .. }) => error,
            other => return other,
        };
        let Some(artifact) = &event.artifact else { return Err(refused) };
        let lineage = self.history().ask(|history| history.lineage(&artifact.key, &artifact.path))?;
        let undone_by = |id: EventId| {
            let id = serde_json::Value::from(id.to_string());
            lineage.events().iter().rev().find(|other| other.data.get("undone") == Some(&id)).map(|by| by.id)
        };
        let by = undone_by(event.id).filter(|by| undone_by(*by).is_none());
        Err(by.map_or(refused, |by| ChangeError::Undone { event: event.id, by }))
    }

    fn take_back(&self, event: &Event, reason: ChangeReason) -> Result<ChangeReport, ChangeError> {
        let Some(artifact) = &event.artifact else {
            return Err(ChangeError::NoArtifact { event: event.id });
        };
        if event.kind == Kind::DELETE {
            let was_in_git = event.data.get(removing::IN_GIT) != Some(&false.into());
            return Err(ChangeError::Removed { event: event.id, path: artifact.path.clone(), was_in_git });
        }
        let draft = reason.on(EventDraft::new(Kind::UNDO).with_command(format!("undo {}", event.id)));
        let together = self.history().ask(|history| history.decided_with(event))?;
        let undone = |draft: &EventDraft, event: &Event| draft.clone().with("undone", event.id.to_string());
        if together.is_empty() {
            let draft = undone(&draft, event);
            return Ok(
                self.update_telling(&artifact.path, &draft, |now| journal::undo(now.artifact(), event))?
            );
        }
        let (others, made): (Vec<Event>, Vec<Event>) =
            together.into_iter().partition(|other| other.before.is_some());
        let mut events: BTreeMap<ProjectPath, Event> =
            BTreeMap::from([(artifact.path.clone(), event.clone())]);
        events.extend(others.into_iter().filter_map(|other| Some((other.artifact.clone()?.path, other))));
        let paths: Vec<ProjectPath> = events.keys().cloned().collect();
        let draft =
            |path: &ProjectPath| events.get(path).map_or_else(|| draft.clone(), |own| undone(&draft, own));
        let outcomes = self.change_records(
            &paths,
            |path| draft(path).in_one_decision(),
            |found| {
                let undo = |(now, event): (&Option<Artifact>, &Event)| match now {
                    Some(now) => journal::undo(now, event).map(|plan| RecordDecision::Edit(plan.edits)),
                    None => Err(TransitionRefusal::NoUndo {
                        event: event.id.to_string(),
                        reason: "the file is gone".to_owned(),
                    }),
                };
                found.iter().zip(events.values()).map(undo).collect()
            },
        )?;
        self.taken_back(&artifact.path, &paths, outcomes, &made)
    }

    /// The report of several artifacts that were taken back, of which the one at `path` was asked for.
    fn taken_back(
        &self,
        path: &ProjectPath,
        paths: &[ProjectPath],
        outcomes: Vec<Outcome>,
        made: &[Event],
    ) -> Result<ChangeReport, ChangeError> {
        let with = paths.iter().filter(|other| *other != path);
        let mut remarks: Vec<Remark> =
            with.map(|other| Remark::TakenBackToo { path: other.to_string() }).collect();
        let made = made.iter().filter_map(|event| event.artifact.as_ref());
        remarks.extend(made.map(|made| Remark::MadeStays { path: made.path.to_string() }));
        remarks.extend(paths.iter().find_map(|path| self.follow_records(path)));
        let outcome = paths.iter().zip(outcomes).find_map(|(own, outcome)| (own == path).then_some(outcome));
        let artifact = self.artifact(path).map_err(ChangeError::from)?;
        Ok(ChangeReport { artifact, remarks, outcome: outcome.unwrap_or(Outcome::Unchanged) })
    }
}
