//! What the journal is told of a change, found under the locks of the files.

use serde_json::Value as Json;

use super::{Workspace, changes::ChangeError, git};
use crate::{
    artifact::ProjectPath,
    commit::FileTransition,
    journal::{
        Account, ArtifactKey, Digests, Event, EventDraft, EventId, Moment, Past,
        store::{History, HistoryError},
    },
};

impl Workspace {
    /// The events of one change, which `draft` describes, if nothing forbids it.
    pub(super) fn events_of(
        &self,
        change: FileTransition<'_>,
        draft: &EventDraft,
    ) -> Result<Vec<Event>, ChangeError> {
        let mut events = self.guard(&change, draft)?;
        let [mut old, new] = [change.old, change.new].map(|bytes| Moment::of(change.path, bytes));
        if old.digests.is_none() {
            // A file that is not there has the history of the one that comes.
            old.key.clone_from(&new.key);
        }
        let past = self.with_history(|history| past(history, &old.key, change.path, old.digests))?;
        let account = Account { attribution: self.attribution(), now: self.now(), path: change.path };
        let outsider = || git::outsider(self.root(), change.path);
        events.extend(account.events(past, (&old, &new), draft.clone(), outsider));
        Ok(events)
    }
}

/// What history knows of an artifact in this state.
fn past(
    history: &History,
    key: &ArtifactKey,
    path: &ProjectPath,
    digests: Option<Digests>,
) -> Result<Past, HistoryError> {
    let heads = history.heads(key, path)?;
    let Some(latest) = heads.last() else { return Ok(Past::Unknown) };
    let head = heads.iter().rev().find(|head| Digests::are_same_state(head.after, digests)).cloned();
    let known = match head {
        Some(head) => Some(head),
        None => history.find_state(key, path, digests)?,
    };
    Ok(match known {
        Some(event) => Past::Known { state: recorded_state(history, event.id)?, event: Box::new(event) },
        None => Past::Unexplained { state: recorded_state(history, latest.id)?, heads },
    })
}

/// The state after an event; `None` where the way to it is cut, or there was none that could be read.
fn recorded_state(history: &History, event: EventId) -> Result<Option<Json>, HistoryError> {
    match history.state_after(event) {
        Ok(state) => Ok(Some(state)),
        Err(HistoryError::Replay { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
