//! Checks before a publication, and steps after a commit.
//!
//! Every change of an artifact passes [`Workspace::guard`] under its locks, when the new bytes are known and
//! nothing is written yet, and `Gates::follow` once all is on the disk.

use crate::Error;
use crate::workspace::{Delegations, Workspace};
use stepmark_frontmatter::apply;
use stepmark_model::{
    artifact::{Artifact, ProjectPath, state_region},
    autodev,
    delegation::Member,
    journal::{ActorKind, Event, EventDraft, Kind},
    lifecycle::{Guard, Lifecycle, MoveRefusal},
    spelling::listed,
    tracked_artifact::TrackedArtifact,
    transition::{OpenChild, Plan, StatusMove, TransitionRefusal, finish_above, judge_status},
};

use stepmark_model::packs::MoveCall;

impl Workspace {
    /// Decides whether the artifact may change from `old` (`None`: no file) to `new`: no lease of another
    /// holder, a lifecycle that has the move and allows the change, no open children below a finished parent;
    /// the draft may force this. Only flow commands may change a flow's records. Returns the events that
    /// precede those of the change.
    pub(crate) fn guard(
        &self,
        path: &ProjectPath,
        [old, new]: [Option<&Artifact>; 2],
        draft: &EventDraft,
    ) -> Result<Vec<Event>, Error> {
        self.leases().admit(path, old)?;
        let mut insisted = match (old, new) {
            // Imports move nothing: they record what is already so.
            _ if draft.kind == Kind::IMPORT => Vec::new(),
            (Some(old), Some(new)) => self.guard_state(old, new, draft)?,
            _ => Vec::new(),
        };
        insisted.extend(self.guard_change(path, [old, new], draft)?);
        // Cannot be forced: history would explain what no flow command decided.
        if !draft.is_decided && self.flows().is_some_and(|flows| flows.is_record(path)) {
            let source = TransitionRefusal::OfFlow;
            return Err(Error::left(path, source));
        }
        if let (false, None, Some(new)) = (draft.is_decided, &draft.insistence, new)
            && let Some(reason) = self.coordination().and_then(|own| own.wrong_reference(old, new))
        {
            let help = format!(
                "`stepmark task list` shows all tasks; `--force --reason TEXT` writes `{path}` all the same"
            );
            let source = TransitionRefusal::Record { reason, help };
            return Err(Error::left(path, source));
        }
        // An import is judged as a whole.
        if let (false, None, Some(new)) = (draft.brings_back, &draft.insistence, new)
            && draft.kind != Kind::IMPORT
            && let Some(source) = self.judge_peers(old, new)
        {
            return Err(Error::left(path, source));
        }
        Ok(insisted)
    }

    /// Reopens gates that were closed for a change that was then not made.
    pub(crate) fn reopen_gates(&self, path: &ProjectPath) {
        // The change's own error is reported; `stepmark project` restores a missing gate.
        let _closed = self.gates().follow(path);
    }

    /// Checks the change against the lifecycle and open children. Returns forced exceptions.
    pub(super) fn guard_state(
        &self,
        before: &Artifact,
        after: &Artifact,
        draft: &EventDraft,
    ) -> Result<Vec<Event>, Error> {
        let path = before.path();
        let after = self.tracked(after)?;
        // Most changes neither move the status nor finish the work.
        if status_of(before) == status_of(after.artifact()) && !after.completion().is_finished() {
            return Ok(Vec::new());
        }
        let before = self.tracked(before)?;
        let status = self.guard_status(&before, &after, draft)?;
        let wants_children = status.as_ref().is_some_and(|status| status.wants_children_finished);
        let overridden = status.and_then(|status| {
            let refused = status.overridden.as_ref()?.to_string();
            let told = EventDraft::new(Kind::OVERRIDE)
                .with("lifecycle", status.lifecycle)
                .with("from", status.from)
                .with("to", status.to)
                .with("refused", refused);
            Some(self.insisted(path, told, draft))
        });
        let above = match draft.knows_parts {
            true => None,
            false => self.guard_children(&before, &after, wants_children, draft)?,
        };
        Ok(overridden.into_iter().chain(above).collect())
    }

    /// Uses the lifecycle before the change. Undo and restore follow history, not the table.
    fn guard_status(
        &self,
        before: &TrackedArtifact,
        after: &TrackedArtifact,
        draft: &EventDraft,
    ) -> Result<Option<StatusMove>, Error> {
        let is_same = status_of(before.artifact()) == status_of(after.artifact());
        // So do autodev's corrections. After its last step a flow has ended.
        let is_free = [Kind::UNDO, Kind::RESTORE, Kind::AUTODEV_CORRECTED, Kind::AUTODEV_UNPARSABLE];
        if is_same || is_free.contains(&draft.kind) || autodev::is_done(after.artifact()) {
            return Ok(None);
        }
        let Some(choice) = before.lifecycle() else { return Ok(None) };
        let insistence = draft.insistence.as_deref();
        let refused = |source| Error::left(before.path(), source);
        let artifacts = [before.artifact(), after.artifact()];
        let elsewhere = |guard: &Guard| match draft.is_decided {
            true => None,
            false => self.unmet(guard, artifacts, &choice.lifecycle),
        };
        let open_steps = after.open_steps();
        let judged =
            judge_status(artifacts[0], artifacts[1], &choice.lifecycle, &open_steps, &elsewhere, insistence)
                .map_err(refused)?;
        let is_human = self.attribution().actor.kind == ActorKind::Human;
        let is_checkpoint = || {
            let to = after.lifecycle_state().map(|state| state.name.as_str());
            choice.lifecycle.name().starts_with("bmad-")
                && to.is_some_and(|to| self.is_checkpoint(before.path(), to))
        };
        let waits = |status: &StatusMove| status.wants_human || is_checkpoint();
        if !is_human && insistence.is_none() && judged.as_ref().is_some_and(waits) {
            return Err(refused(TransitionRefusal::NotHuman));
        }
        Ok(judged)
    }

    /// Refuses a named move if requirements are missing; the error lists all.
    pub(super) fn guard_move(
        &self,
        call: &MoveCall,
        before: &TrackedArtifact,
        plan: &Plan,
    ) -> Result<(), TransitionRefusal> {
        let Some(choice) = before.lifecycle() else { return Ok(()) };
        let lifecycle = &choice.lifecycle;
        let Some(made) = lifecycle.named_moves().iter().find(|made| made.name == call.name) else {
            return Ok(());
        };
        let bytes = before.artifact().bytes();
        let Ok(edited) = apply(bytes, &state_region(before.path()), &plan.edits) else { return Ok(()) };
        let Ok(after) = self.read_again(before.path(), &edited.bytes) else { return Ok(()) };
        let reasons = made.guards.iter().filter_map(|guard| {
            let reason = self.unmet_by(guard, [before, &after], lifecycle)?;
            Some(format!("{reason} (`{guard}`)"))
        });
        let unmet: Vec<String> = reasons.collect();
        if unmet.is_empty() {
            return Ok(());
        }
        let state = status_of(before.artifact()).and_then(|word| lifecycle.state_of(word));
        let others = state.into_iter().flat_map(|state| lifecycle.named_from(state));
        let legal = others.filter(|other| other.name != made.name).map(|other| other.name.clone()).collect();
        Err(MoveRefusal::Unmet { made: made.name.clone(), unmet, legal }.into())
    }

    fn unmet_by(
        &self,
        guard: &Guard,
        [before, after]: [&TrackedArtifact; 2],
        lifecycle: &Lifecycle,
    ) -> Option<String> {
        let open = |open: Vec<String>| (!open.is_empty()).then(|| format!("open: {}", listed(&open)));
        let actor = &self.attribution().actor;
        match guard {
            Guard::Human => (actor.kind != ActorKind::Human)
                .then(|| format!("only a person makes it, and `{actor}` is none")),
            Guard::StepsFinished => open(after.open_steps()),
            Guard::ChildrenFinished => match self.delegations().open_children_of(after) {
                Ok(children) => open(children.into_iter().map(|child| child.path).collect()),
                Err(error) => Some(error.to_string()),
            },
            Guard::Filled(key) => {
                (!after.artifact().root_keys().is_filled(key)).then(|| format!("`{key}` says nothing"))
            }
            other => {
                let state = after.artifact().state_value().unwrap_or_default();
                other
                    .unmet_in(&state)
                    .or_else(|| self.unmet(other, [before.artifact(), after.artifact()], lifecycle))
            }
        }
    }

    fn guard_children(
        &self,
        before: &TrackedArtifact,
        after: &TrackedArtifact,
        wants_children: bool,
        draft: &EventDraft,
    ) -> Result<Option<Event>, Error> {
        let ends = after.completion().is_finished() && after.completion().is_news_after(before.completion());
        if !ends && !wants_children {
            return Ok(None);
        }
        let member = Member::of(before.artifact(), None);
        let Some(id) = member.id() else { return Ok(None) };
        let open = self.open_children(before.path(), id)?;
        let told = open.iter().map(|child| child.path.clone()).collect::<Vec<_>>();
        finish_above(open, draft.insistence.as_deref())
            .map_err(|source| Error::left(before.path(), source))?;
        if told.is_empty() {
            return Ok(None);
        }
        let insisted = EventDraft::new(Kind::OVERRIDE).with("id", id).with("open_children", told);
        Ok(Some(self.insisted(before.path(), insisted, draft)))
    }

    /// The event that records why a refused change was forced.
    pub(super) fn insisted(&self, path: &ProjectPath, told: EventDraft, draft: &EventDraft) -> Event {
        let told = told.with_reason(draft.insistence.clone()).with("path", path.as_str());
        let mut event = Event::new(told, self.attribution().actor.clone(), self.now());
        event.session = self.attribution().session.clone().map(String::from);
        event.correlation.clone_from(&self.attribution().correlation);
        event.command.clone_from(&draft.command);
        event.sealed()
    }

    /// The unfinished children of `id`. Reads all artifacts; an unreadable one counts as open if it is in the
    /// parent's delegation folder.
    fn open_children(&self, parent: &ProjectPath, id: &str) -> Result<Vec<OpenChild>, Error> {
        let found = self.artifacts()?;
        let folder = crate::changes::delegating::default_folder(parent);
        let mut open = Vec::new();
        for artifact in found.artifacts.iter().filter(|artifact| artifact.path() != parent) {
            let member = artifact.member();
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

impl Delegations<'_> {
    /// Open delegated work, which keeps `artifact` from ending. Reads all artifacts.
    pub fn open_children_of(&self, artifact: &TrackedArtifact) -> Result<Vec<OpenChild>, Error> {
        match artifact.member().id() {
            Some(id) => self.workspace.open_children(artifact.path(), id).map_err(Error::unwritten),
            None => Ok(Vec::new()),
        }
    }
}

fn status_of(artifact: &Artifact) -> Option<&str> {
    artifact.state().status.as_ref().map(|status| status.text.as_str())
}

fn is_unreadable_child(member: &Member, artifact: &Artifact, folder: &ProjectPath) -> bool {
    member.delegation.is_none() && member.path.starts_with(folder) && artifact.state_value().is_err()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write and read files directly")]
mod tests {
    use super::*;
    use stepmark_frontmatter::{Edit, KeyPath, Value};
    use stepmark_model::{
        journal::Attribution,
        lifecycle::MoveRefusal,
        transition::{Plan, TransitionRefusal},
    };

    #[test]
    fn no_way_leads_around_the_lifecycle() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("spec.md");
        let spec = "---\ntype: chore\nstatus: draft\ncontext: []\n---\n";
        std::fs::write(&place, spec).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let status = |word: &str| Edit::Set { path: KeyPath::key("status"), value: Value::from(word) };
        let plan = |word: &str| {
            Ok::<_, std::convert::Infallible>(Plan { edits: vec![status(word)], remarks: Vec::new() })
        };
        let error = workspace.update("spec.md", |_| plan("done")).unwrap_err();
        let crate::changes::UpdateError::Change(error) = error;
        let Some(TransitionRefusal::Move(refusal)) = error.detail() else { panic!("{error}") };
        assert!(matches!(**refusal, MoveRefusal::Illegal { .. }), "{refusal}");
        assert_eq!(std::fs::read_to_string(&place).unwrap(), spec);
        workspace.update("spec.md", |_| plan("in-progress")).unwrap();
        workspace.update("spec.md", |spec| spec.transition("in-review")).unwrap();
        assert_eq!(std::fs::read_to_string(&place).unwrap(), spec.replace("draft", "in-review"));
    }

    /// The facts about others that a table wants are asked for where the status is changed.
    #[test]
    fn a_task_waits_for_others_and_is_moved_by_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let write = |id: &str, rest: &str| {
            let text = format!("---\nstepmark_kind: task\nid: {id}\n{rest}\n---\n");
            std::fs::write(folder.path().join(format!("{id}.md")), text).unwrap();
        };
        write("t", "status: available\ndependencies: [a, b, n]");
        write("a", "status: done");
        write("b", "status: cancelled");
        write("held", "status: claimed\nclaimed_by: w1");
        let refused = |id: &str, to: &str, actor: &str| {
            let attribution = Attribution::of(actor.parse().unwrap());
            let workspace = Workspace::open(folder.path()).unwrap().with_attribution(attribution);
            let moved = workspace.update(format!("{id}.md"), |task| task.transition(to));
            moved.err().map(|error| stepmark_model::spelling::with_causes(&error))
        };
        let waits = refused("t", "claimed", "agent:w1").unwrap();
        assert!(waits.contains("only with `dependencies-done(dependencies)`: open: `b`, `n`"), "{waits}");
        write("n", "status: complete");
        write("b", "status: done");
        assert_eq!(refused("t", "claimed", "agent:w1"), None);
        let held = refused("held", "in_progress", "agent:w2").unwrap();
        assert!(held.contains("only with `holder(claimed_by)`: `claimed_by` is `w1`, not `w2`"), "{held}");
        assert_eq!(refused("held", "in_progress", "agent:w1"), None);
    }
}
