//! Explanations in history for an earlier state of a story.

use super::StorySide;
use crate::{
    bmad::sprint::LedgerWords,
    journal::{Event, Kind, Lineage},
};
use stepmark_frontmatter::{KeyPath, Operation};

/// A change of a story's status that history tells of.
struct StatusMove<'e> {
    /// The status before in the frontmatter, and in the copy that is asked about: an import names those that
    /// disagreed.
    before: Vec<&'e str>,
    after: Option<&'e str>,
    /// True if somebody meant it: a command did it, and no editor.
    is_meant: bool,
}

/// Returns whether `lineage` tells that the story, or this `copy` of its status when it was imported, was in
/// the state that `from` means, and that commands alone led it to `to` since.
pub fn status_moves_explain(
    lineage: &Lineage,
    copy: StorySide,
    (from, to): (&str, &str),
    words: LedgerWords<'_>,
) -> bool {
    let moves: Vec<StatusMove<'_>> =
        lineage.events().iter().filter_map(|event| status_move(event, copy)).collect();
    let is_fitting = |word: &str| copy == StorySide::SprintStatus && words.fits(word, from);
    let left =
        |step: &StatusMove<'_>| step.before.iter().any(|word| words.is_same(word, from) || is_fitting(word));
    let Some(start) = moves.iter().rposition(left) else { return false };
    let since = &moves[start..];
    since.iter().all(|step| step.is_meant) && since.last().is_some_and(|last| last.after == Some(to))
}

/// Returns whether a command was the last to move the status of the story, and moved it to `status`: then it
/// brought the copies along, and what they say else came later.
pub fn was_moved_by_command(lineage: &Lineage, status: &str) -> bool {
    let mut moves = lineage.events().iter().filter_map(|event| status_move(event, StorySide::Frontmatter));
    moves.next_back().is_some_and(|last| last.is_meant && last.after == Some(status))
}

fn status_move(event: &Event, copy: StorySide) -> Option<StatusMove<'_>> {
    let key = KeyPath::key("status");
    let change = event.changes.iter().find(|change| change.path == key);
    let (old, new) = match change.map(|change| &change.op) {
        Some(Operation::Set { old, new }) => (old.as_str(), new.as_str()),
        Some(Operation::Insert { new }) => (None, new.as_str()),
        Some(Operation::Remove { old }) => (old.as_str(), None),
        None => return None,
    };
    let mut before: Vec<&str> = old.into_iter().collect();
    if event.kind == Kind::IMPORT {
        before.extend(event.data.get(&copy.data_key()).and_then(serde_json::Value::as_str));
    }
    let is_meant = ![Kind::EXTERNAL_EDIT, Kind::FIRST_SEEN, Kind::INTERRUPTED].contains(&event.kind);
    Some(StatusMove { before, after: new, is_meant })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        artifact::ProjectPath,
        bmad::sprint::LedgerKey,
        journal::{
            Actor, Ancestor, ArtifactState, Attribution, EventBuilder, EventDraft, ExternalAuthor, PriorState,
        },
    };

    /// The history of a story that was given these statuses by these kinds of events.
    fn history(steps: &[(Kind, &str)]) -> Lineage {
        let path = ProjectPath::new("1-1-a.md").unwrap();
        let attribution = Attribution::of(Actor::human("Ada"));
        let now = "2026-11-22T10:00:00Z".parse().unwrap();
        let builder = EventBuilder { attribution: &attribution, now, path: &path };
        let version =
            |word: &str| ArtifactState::of(&path, Some(format!("---\nstatus: {word}\n---\n").as_bytes()));
        let mut events: Vec<Event> = Vec::new();
        let mut old = ArtifactState::of(&path, None);
        for (kind, word) in steps {
            let prior = events.last().map_or(PriorState::Unknown, |event| PriorState::Known {
                event: Ancestor::of(event),
                state: old.state.clone(),
            });
            let new = version(word);
            let draft = EventDraft::new(kind.clone()).with("sprint_status", "done");
            events.extend(builder.events(prior, (&old, &new), draft, ExternalAuthor::unknown));
            old = new;
        }
        Lineage::new(events)
    }

    #[test]
    fn a_way_back_is_explained_by_commands_alone() {
        let words = LedgerWords::new(None, LedgerKey::read("1-1-a").unwrap());
        let (first, change, edit) = (Kind::FIRST_SEEN, Kind::CHANGE, Kind::EXTERNAL_EDIT);
        for (steps, from, to, expected) in [
            (vec![(first.clone(), "done"), (change.clone(), "review")], "done", "review", true),
            (vec![(first.clone(), "done"), (change.clone(), "review")], "completed", "review", true),
            (
                vec![(first.clone(), "done"), (Kind::UNDO, "review"), (change.clone(), "in-progress")],
                "done",
                "in-progress",
                true,
            ),
            (vec![(first.clone(), "done"), (Kind::RESTORE, "backlog")], "done", "backlog", true),
            (vec![(first.clone(), "done"), (edit.clone(), "review")], "done", "review", false),
            (
                vec![(first.clone(), "done"), (edit.clone(), "review"), (change.clone(), "in-progress")],
                "done",
                "in-progress",
                false,
            ),
            // It was never there.
            (
                vec![(first.clone(), "ready-for-dev"), (change.clone(), "in-progress")],
                "done",
                "in-progress",
                false,
            ),
            // The frontmatter was changed since, and nobody told.
            (vec![(first.clone(), "done"), (change.clone(), "review")], "done", "in-progress", false),
            (vec![(first.clone(), "cancelled"), (change.clone(), "backlog")], "cancelled", "backlog", true),
            (vec![(first.clone(), "backlog"), (Kind::IMPORT, "in-progress")], "done", "in-progress", true),
            (vec![(first.clone(), "backlog"), (Kind::IMPORT, "in-progress")], "review", "in-progress", false),
            (vec![], "done", "review", false),
        ] {
            assert_eq!(
                status_moves_explain(&history(&steps), StorySide::SprintStatus, (from, to), words),
                expected,
                "{steps:?} {from} {to}"
            );
        }
    }

    /// An import of one copy explains nothing about the other.
    #[test]
    fn an_import_explains_the_copy_that_it_names() {
        let words = LedgerWords::new(None, LedgerKey::read("1-1-a").unwrap());
        let imported = history(&[(Kind::FIRST_SEEN, "backlog"), (Kind::IMPORT, "review")]);
        for (copy, expected) in [(StorySide::SprintStatus, true), (StorySide::StatusLine, false)] {
            assert_eq!(
                status_moves_explain(&imported, copy, ("done", "review"), words),
                expected,
                "{copy:?}"
            );
        }
    }
}
