//! The demands of a lifecycle on a change beside the move of the status, and guards that ask about others.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: whether a named file is there is looked up here"
)]

use crate::changes::ChangeError;
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    journal::{Event, EventDraft, Kind},
    lifecycle::{ChangeRefusal, Guard, Lifecycle, LifecycleState},
    tracked_artifact::TrackedArtifact,
};

impl Workspace {
    /// Checks the change of an artifact (`None`: no file) against what its lifecycle says of every change, in
    /// whatever way it is made. Answers with what was insisted on. An import may change all but lists that
    /// only grow: a person brings in what is so already.
    pub(super) fn guard_change(
        &self,
        path: &ProjectPath,
        versions: [Option<&Artifact>; 2],
        draft: &EventDraft,
    ) -> Result<Option<Event>, ChangeError> {
        let lifecycles = self.configuration().lifecycles();
        // Mostly no lifecycle says anything of the kind.
        let Some(artifact) =
            versions[0].or(versions[1]).filter(|_| lifecycles.judge_changes() && !draft.brings_back)
        else {
            return Ok(None);
        };
        let Some(choice) = lifecycles.choose(artifact) else { return Ok(None) };
        let (actor, roles) = (self.attribution().actor.to_string(), self.configuration().roles());
        let writer = (!draft.is_decided).then_some((actor.as_str(), roles));
        let mut refused = choice.lifecycle.judge_change(versions, writer);
        if draft.kind == Kind::IMPORT {
            refused.retain(|refusal| !refusal.may_be_forced());
        }
        let told: Vec<String> = refused.iter().map(ToString::to_string).collect();
        let is_final = |refusal: &ChangeRefusal| draft.insistence.is_none() || !refusal.may_be_forced();
        if let Some(source) = refused.into_iter().find(is_final) {
            return Err(ChangeError::Refused { path: path.clone(), source: source.into() });
        }
        if told.is_empty() {
            return Ok(None);
        }
        let insisted = EventDraft::new(Kind::OVERRIDE)
            .with("lifecycle", choice.lifecycle.name())
            .with("refused", told.join("; "));
        Ok(Some(self.insisted(path, insisted, draft)))
    }

    /// The reason why `guard`, which is about who moves or about other artifacts, does not hold.
    pub(super) fn unmet(
        &self,
        guard: &Guard,
        [before, after]: [&Artifact; 2],
        lifecycle: &Lifecycle,
    ) -> Option<String> {
        match guard {
            Guard::Holder(key) => {
                let actor = &self.attribution().actor.name;
                let holders = guard.named_in(before);
                let told = || match holders.first() {
                    Some(holder) => format!("`{key}` is `{holder}`, not `{actor}`"),
                    None => format!("`{key}` says nothing"),
                };
                (!holders.contains(actor)).then(told)
            }
            Guard::DependenciesDone(_) => {
                let mut open = guard.named_in(after);
                if open.is_empty() {
                    return None;
                }
                let found = match self.artifacts() {
                    Ok(found) => found.artifacts,
                    Err(error) => return Some(error.to_string()),
                };
                let is_done = |artifact: &&TrackedArtifact| {
                    artifact.lifecycle_state().is_some_and(LifecycleState::is_reached_end)
                };
                for done in found.iter().filter(is_done) {
                    open.retain(|id| done.member().id() != Some(id));
                }
                (!open.is_empty()).then(|| format!("open: `{}`", open.join("`, `")))
            }
            Guard::FileExists(key) => {
                let named = guard.named_in(after);
                let missing = named.iter().find(|name| !self.is_file(name));
                match (missing, named.is_empty()) {
                    (_, true) => Some(format!("`{key}` names no file")),
                    (missing, false) => missing.map(|name| format!("`{name}` is no file of the project")),
                }
            }
            Guard::Approved => lifecycle.unapproved(after, self.configuration().roles()),
            _ => None,
        }
    }

    /// Returns whether `name` is the path of a file of the project.
    fn is_file(&self, name: &str) -> bool {
        let place = ProjectPath::new(name).ok().and_then(|path| self.root().resolve(&path).ok());
        place.is_some_and(|place| place.is_file())
    }
}
