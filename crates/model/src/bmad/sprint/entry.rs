//! One copy of a story's status that does not say what the frontmatter says, and what in history explains it.

use std::fmt;

use super::{Story, StorySide};
use crate::{
    artifact::ProjectPath,
    bmad::sprint::{LedgerWords, WordChange},
    journal::{Event, Kind, Lineage},
};
use stepmark_frontmatter::{KeyPath, Operation};

/// A place in a ledger and what is to stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub story: ProjectPath,
    pub key: String,
    pub location: EntryLocation,
    /// The word of the copy, as written; `None` where it says nothing.
    pub from: Option<String>,
    pub status: String,
    pub to: String,
    pub change: WordChange,
}

/// The location of a copy in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryLocation {
    /// The line `Status:` of the story's own body.
    StatusLine,
    Listed {
        ledger: ProjectPath,
    },
    /// An entry of the ledger at this path whose value is a map or a list. It is never replaced: what else
    /// stands there would be lost.
    Structured {
        ledger: ProjectPath,
    },
    Shared {
        ledger: ProjectPath,
    },
    /// The ledger at this path lists the number of the story under another name.
    NumberTaken {
        ledger: ProjectPath,
        by: String,
    },
    /// The ledger at this path does not list the story yet.
    Behind {
        ledger: ProjectPath,
        /// The entry behind which it belongs; `None`: its epic is not listed, so nobody knows.
        above: Option<String>,
    },
}

impl LedgerEntry {
    pub const fn file(&self) -> &ProjectPath {
        match &self.location {
            EntryLocation::StatusLine => &self.story,
            EntryLocation::Listed { ledger }
            | EntryLocation::Structured { ledger }
            | EntryLocation::Shared { ledger }
            | EntryLocation::NumberTaken { ledger, .. }
            | EntryLocation::Behind { ledger, .. } => ledger,
        }
    }

    /// Returns whether it may be written without anybody's reason: it goes on, or says the same in another
    /// word.
    pub const fn is_harmless(&self) -> bool {
        matches!(self.change, WordChange::Same | WordChange::Forward)
    }

    /// Returns whether a review may have sent the story back in this copy, and in its line, if it has one.
    pub fn may_be_sent_back(&self, story: &Story) -> bool {
        let is_back = |copy: &str| story.words().is_sent_back(&self.status, copy);
        self.from.as_deref().is_some_and(is_back)
            && story.line.as_ref().is_none_or(|line| is_back(&line.text))
    }

    pub const fn obstacle(&self) -> Option<&'static str> {
        match self.location {
            EntryLocation::Structured { .. } => {
                Some("that is no word, and what else stands there would be lost")
            }
            EntryLocation::Shared { .. } => {
                Some("several files are about this entry, so nobody knows which one counts")
            }
            EntryLocation::NumberTaken { .. } => {
                Some("a number has one entry; give both the same name, or one of them another number")
            }
            EntryLocation::Behind { above: None, .. } => {
                Some("its epic is not listed there, so nobody knows where it belongs")
            }
            EntryLocation::StatusLine | EntryLocation::Listed { .. } | EntryLocation::Behind { .. } => None,
        }
    }

    /// Returns whether the copy says what goes with `status` in the frontmatter.
    pub fn is_fitting(&self, status: &str, words: LedgerWords<'_>) -> bool {
        self.from.as_deref().is_some_and(|from| match self.location {
            EntryLocation::StatusLine => words.is_same(from, status),
            _ => words.fits(status, from),
        })
    }

    /// Returns whether `lineage`, the history of `story`, tells how it came from what the copy says to what
    /// the frontmatter says.
    pub fn is_explained(&self, story: &Story, lineage: &Lineage) -> bool {
        let words = story.words();
        let copy = match self.location {
            EntryLocation::StatusLine => StorySide::StatusLine,
            _ => StorySide::SprintStatus,
        };
        let Some(from) = self.from.as_deref() else { return false };
        status_moves_explain(lineage, copy, (from, &self.status), words)
    }
}

impl fmt::Display for LedgerEntry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.as_deref();
        match (&self.location, from) {
            (EntryLocation::StatusLine, from) => {
                write!(
                    out,
                    "its line `Status:` says `{}`, its frontmatter `{}`",
                    from.unwrap_or_default(),
                    self.status
                )
            }
            (EntryLocation::Structured { ledger }, _) => {
                write!(out, "`{ledger}` says a map or a list, its frontmatter `{}`", self.status)
            }
            (EntryLocation::NumberTaken { ledger, by }, _) => {
                write!(out, "`{ledger}` lists `{by}`, the file is `{}`", self.key)
            }
            (_, Some(from)) => {
                write!(out, "`{}` says `{from}`, its frontmatter `{}`", self.file(), self.status)
            }
            (_, None) => write!(out, "`{}` says nothing, its frontmatter `{}`", self.file(), self.status),
        }
    }
}

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
fn status_moves_explain(
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
            events.extend(builder.events(prior, (&old, &new), draft, ExternalAuthor::unknown()));
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
