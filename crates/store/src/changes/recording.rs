//! The events that the journal is told of a change, found under the locks of the files.

use serde_json::Value as Json;

use crate::changes::ChangeError;
use crate::commit::FileTransition;
use crate::history::{History, HistoryError};
use crate::repository::{CheckedOut, git};
use crate::workspace::Workspace;
use stepmark_frontmatter::diff;
use stepmark_model::{
    artifact::{Artifact, ProjectPath, state_region},
    journal::{Ancestor, ArtifactState, Digests, Event, EventBuilder, EventDraft, EventId, PriorState},
};

impl Workspace {
    /// The events of one change, which `draft` describes, if nothing forbids it.
    pub(crate) fn events_of(
        &self,
        change: FileTransition<'_>,
        draft: &EventDraft,
    ) -> Result<Vec<Event>, ChangeError> {
        let read = |bytes: &[u8]| Artifact::read(change.path.clone(), bytes.to_vec());
        let artifacts = [change.old, change.new].map(|bytes| bytes.map(read));
        let mut events = self.guard(change.path, artifacts.each_ref().map(Option::as_ref), draft)?;
        let moment = |artifact: &Option<Artifact>| match artifact {
            Some(artifact) => ArtifactState::of_artifact(artifact),
            None => ArtifactState::of(change.path, None),
        };
        let [mut old, new] = artifacts.each_ref().map(moment);
        if old.digests.is_none() {
            // A file that is not there has the history of the one that comes.
            old.key.clone_from(&new.key);
        }
        let past = match (change.last_told, &old.state) {
            (Some(event), Some(state)) => PriorState::Known { event, state: Some(state.clone()) },
            _ => self
                .history()
                .ask(|history| past(history, change.path, &old, self.repository().checked_out()))?,
        };
        let changes = old.state.as_ref().zip(new.state.as_ref()).map(|(old, new)| diff(old, new));
        let draft = match change.old.zip(change.new) {
            // Where there is no state to compare, the texts alone lead back.
            Some((before, after)) => draft.clone().keeping(
                &state_region(change.path),
                [before, after],
                &changes.unwrap_or_default(),
            ),
            None => draft.clone(),
        };
        let account = EventBuilder { attribution: self.attribution(), now: self.now(), path: change.path };
        let outsider = || git::outsider(self.root(), change.path, change.old.unwrap_or_default());
        events.extend(account.events(past, (&old, &new), draft, outsider));
        Ok(events)
    }
}

/// Looks up in history the artifact at `path` in the state of `old`. A state that only an earlier event led to is believed
/// where git has it checked out; else somebody wrote it back.
fn past(
    history: &History,
    path: &ProjectPath,
    old: &ArtifactState,
    mut checked_out: CheckedOut,
) -> Result<PriorState, HistoryError> {
    let ArtifactState { key, digests, state } = old;
    let digests = *digests;
    let found = history.heads_and_ways(key, path)?;
    if found.is_empty() {
        return Ok(PriorState::Unknown);
    }
    if let Some((event, true)) = found.iter().rev().find(|(head, _)| is_same_file(head.after, digests))
        && state.is_some()
    {
        // The very file whose state history recorded: there is nothing to replay. The digest of a state would not do, since it
        // says nothing of times.
        return Ok(PriorState::Known { state: state.clone(), event: Ancestor::of(event) });
    }
    let heads: Vec<Event> = found.into_iter().map(|(head, _)| head).collect();
    let is_head = |head: &&Event| Digests::are_same_state(head.after, digests);
    if let Some(head) = heads.iter().rev().find(is_head) {
        return known(history, head, old);
    }
    let earlier = history.find_state(key, path, digests)?;
    match &earlier {
        Some(event) if checked_out.explains(path, digests) => known(history, event, old),
        _ => {
            let state = heads.last().map(|latest| recorded_state(history, latest.id)).transpose()?.flatten();
            Ok(PriorState::Unexplained { state, heads, earlier: earlier.map(|event| event.id) })
        }
    }
}

/// The past of an artifact whose state is that of `event`. The digest of a state says nothing of times: where they, or anything
/// else that is recorded, differ, somebody changed them since.
fn known(history: &History, event: &Event, old: &ArtifactState) -> Result<PriorState, HistoryError> {
    let recorded = recorded_state(history, event.id)?;
    Ok(match (recorded, &old.state) {
        (Some(recorded), Some(now)) if recorded != *now => {
            PriorState::Unexplained { heads: vec![event.clone()], state: Some(recorded), earlier: None }
        }
        (state, _) => PriorState::Known { state, event: Ancestor::of(event) },
    })
}

fn is_same_file(recorded: Option<Digests>, now: Option<Digests>) -> bool {
    recorded.zip(now).is_some_and(|(recorded, now)| recorded.file == now.file)
}

/// The state after an event; `None` where the way to it is cut, or there was none that could be read.
fn recorded_state(history: &History, event: EventId) -> Result<Option<Json>, HistoryError> {
    match history.state_after(event) {
        Ok(state) => Ok(Some(state)),
        Err(HistoryError::Replay { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write files directly")]
mod tests {
    use super::*;
    use crate::changes::ChangeReason;
    use stepmark_frontmatter::{PARSED, Value};
    use stepmark_model::transition::{Command, Strictness};

    /// Reading is most of the work on a large file; each of these commands took 17 readings and more.
    #[test]
    fn a_change_reads_its_artifact_few_times() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.md"), "---\r\nstatus: draft\r\nk: 1\r\n---\r\n").unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let path = ProjectPath::new("a.md").unwrap();
        for (command, most) in [
            (Command::Set { assignments: vec![("k".parse().unwrap(), Value::from("x"))] }, 10),
            (Command::Complete { steps: vec!["a".to_owned()] }, 13),
        ] {
            let before = PARSED.get();
            workspace.carry_out(&path, &command, Strictness::Warn, ChangeReason::Unsaid).unwrap();
            let count = PARSED.get() - before;
            assert!(count <= most, "{command}: {count} readings");
        }
    }
}
