//! Lifecycle checks other than the status move, and guards about other artifacts.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: whether a named file is there is looked up here"
)]

use crate::{Error, workspace::Workspace};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    journal::{Event, EventDraft, Kind},
    lifecycle::{ChangeRefusal, Guard, Lifecycle, LifecycleState},
    packs::is_name_of,
    records::read_time,
    spelling::listed,
    tracked_artifact::TrackedArtifact,
};

impl Workspace {
    /// Checks a change (`old` is `None` for a new file) against the lifecycle's rules for all changes.
    /// Returns forced exceptions. Imports are held only to append-only lists: they record what is already so.
    pub(super) fn guard_change(
        &self,
        path: &ProjectPath,
        versions: [Option<&Artifact>; 2],
        draft: &EventDraft,
    ) -> Result<Option<Event>, Error> {
        let lifecycles = self.configuration().lifecycles();
        // Few lifecycles have such rules.
        let Some(artifact) =
            versions[0].or(versions[1]).filter(|_| lifecycles.judge_changes() && !draft.brings_back)
        else {
            return Ok(None);
        };
        let (actor, roles) = (self.attribution().actor.to_string(), &self.configuration().roles);
        let writer = (!draft.is_decided).then_some((actor.as_str(), roles));
        let (lifecycle, mut refused) = match (lifecycles.choose(artifact), artifact.state().kind) {
            (Some(choice), _) => {
                let state = |artifact: &Artifact| artifact.state_value().unwrap_or_default();
                let judges = choice.lifecycle.judges_changes();
                let states = versions.map(|version| version.filter(|_| judges).map(state));
                let refused = choice.lifecycle.judge_change(states.each_ref().map(Option::as_ref), writer);
                (choice.lifecycle.name().to_owned(), refused)
            }
            (None, Some(kind)) => {
                let refused = writer.and_then(|(actor, roles)| kind.judge_writer(actor, roles));
                (kind.name.clone(), refused.into_iter().collect())
            }
            (None, None) => return Ok(None),
        };
        if draft.is_move {
            refused.retain(|refusal| !matches!(refusal, ChangeRefusal::OnlyByMoves { .. }));
        }
        if draft.kind == Kind::IMPORT {
            refused.retain(|refusal| !refusal.may_be_forced());
        }
        let told: Vec<String> = refused.iter().map(ToString::to_string).collect();
        let is_final = |refusal: &ChangeRefusal| draft.insistence.is_none() || !refusal.may_be_forced();
        if let Some(source) = refused.into_iter().find(is_final) {
            return Err(Error::left(path, source.into()));
        }
        if told.is_empty() {
            return Ok(None);
        }
        let insisted =
            EventDraft::new(Kind::OVERRIDE).with("lifecycle", lifecycle).with("refused", told.join("; "));
        Ok(Some(self.insisted(path, insisted, draft)))
    }

    pub(super) fn unmet(
        &self,
        guard: &Guard,
        [before, after]: [&Artifact; 2],
        lifecycle: &Lifecycle,
    ) -> Option<String> {
        match guard {
            Guard::Holder(key) => {
                let actor = &self.attribution().actor;
                let holders = guard.named_in(&before.state_value().unwrap_or_default());
                let told = || match holders.first() {
                    Some(holder) => format!("`{key}` is `{holder}`, not `{}`", actor.name),
                    None => format!("`{key}` says nothing"),
                };
                (!holders.iter().any(|holder| *holder == actor.name || *holder == actor.to_string()))
                    .then(told)
            }
            Guard::DependenciesDone(_) => {
                let mut open = guard.named_in(&after.state_value().unwrap_or_default());
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
                    open.retain(|name| !is_name_of(name, done.path().as_str(), done.member().id()));
                }
                (!open.is_empty()).then(|| format!("open: `{}`", open.join("`, `")))
            }
            Guard::FileExists(key) => {
                let named = guard.named_in(&after.state_value().unwrap_or_default());
                let missing = named.iter().find(|name| !self.is_file(name));
                match (missing, named.is_empty()) {
                    (_, true) => Some(format!("`{key}` names no file")),
                    (missing, false) => missing.map(|name| format!("`{name}` is no file of the project")),
                }
            }
            Guard::OtherThan(key) => {
                let (own, actor) =
                    (guard.named_in(&before.state_value().unwrap_or_default()), &self.attribution().actor);
                let is_own = own.iter().any(|name| *name == actor.name || *name == actor.to_string());
                is_own.then(|| format!("`{key}` is `{}`: another one makes it", own.join("`, `")))
            }
            Guard::Exists(key) => {
                self.unknown_ids(key, &guard.named_in(&after.state_value().unwrap_or_default()))
            }
            Guard::NotBefore(key) => {
                let times = guard.named_in(&before.state_value().unwrap_or_default());
                let later = times.iter().filter_map(|time| read_time(time)).find(|time| *time > self.now());
                later.map(|time| format!("`{key}` is {time}"))
            }
            Guard::Role(role) => {
                let (actor, roles) = (self.attribution().actor.to_string(), &self.configuration().roles);
                let who = roles.of(role);
                let who = if who.is_empty() {
                    "declared nowhere".to_owned()
                } else {
                    format!("that of {}", listed(&who))
                };
                (!roles.has(role, &actor))
                    .then(|| format!("`{actor}` does not have the role `{role}`, which is {who}"))
            }
            Guard::Approved => {
                lifecycle.unapproved(&after.state_value().unwrap_or_default(), &self.configuration().roles)
            }
            _ => None,
        }
    }

    fn unknown_ids(&self, key: &str, ids: &[String]) -> Option<String> {
        if ids.is_empty() {
            return Some(format!("`{key}` names nothing"));
        }
        let found = match self.artifacts() {
            Ok(found) => found.artifacts,
            Err(error) => return Some(error.to_string()),
        };
        let is_known =
            |name: &&String| found.iter().any(|own| is_name_of(name, own.path().as_str(), own.member().id()));
        ids.iter()
            .find(|id| !is_known(id))
            .map(|id| format!("`{key}` names `{id}`, and no artifact has that id"))
    }

    fn is_file(&self, name: &str) -> bool {
        let place = ProjectPath::new(name).ok().and_then(|path| self.root().resolve(&path).ok());
        place.is_some_and(|place| place.is_file())
    }
}
