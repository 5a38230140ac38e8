//! Entries of `sprint-status.yaml`.

use std::{collections::HashMap, fmt};

use super::{
    Story,
    sprint_status::{STATES_KEY, UPDATED_KEY},
};
use crate::{
    artifact::ProjectPath,
    bmad::sprint::{LedgerKey, LedgerPart, SprintStatus},
};
use jiff::Zoned;
use stepmark_frontmatter::{Edit, EditError, KeyPath, Region, Value, apply};

#[derive(Clone, Debug)]
pub struct EntriesWritten {
    pub bytes: Vec<u8>,
    pub written: Vec<LedgerEntry>,
    /// Those that could not be written faithfully, and why.
    pub left: Vec<(LedgerEntry, EditError)>,
}

pub fn listed_entries(path: &ProjectPath, ledger: &SprintStatus, stories: &[&Story]) -> Vec<LedgerEntry> {
    let mut missing: Vec<&Story> = Vec::new();
    let mut listed: Vec<(&str, &Story)> = Vec::new();
    let mut times_told: HashMap<&str, usize> = HashMap::new();
    for story in stories {
        match ledger.entry_of(story.path.file_stem()) {
            Some(key) => {
                listed.push((key, story));
                *times_told.entry(key).or_default() += 1;
            }
            None if story.belongs_in_ledger => missing.push(story),
            None => {}
        }
    }
    let mut entries: Vec<LedgerEntry> = Vec::new();
    for (key, story) in listed {
        let location = if ledger.is_structured(key) {
            EntryLocation::Structured { ledger: path.clone() }
        } else if times_told.get(key).is_some_and(|times| *times > 1) {
            EntryLocation::Shared { ledger: path.clone() }
        } else {
            EntryLocation::Listed { ledger: path.clone() }
        };
        entries.extend(entry(story, key, location, ledger.status(key)));
    }
    // The later one goes behind the earlier.
    missing.sort_by(|one, other| (one.key, one.name()).cmp(&(other.key, other.name())));
    let mut keys: Vec<String> = ledger.keys().map(str::to_owned).collect();
    let names: Vec<(LedgerKey, &str)> = missing.iter().map(|story| (story.key, story.name())).collect();
    for story in missing {
        let same = names.iter().find(|(key, name)| *key == story.key && *name != story.name());
        if let Some(by) = ledger.namesake(story.name()).or(same.map(|(_, name)| *name)) {
            let location = EntryLocation::NumberTaken { ledger: path.clone(), by: by.to_owned() };
            entries.extend(entry(story, story.name(), location, None));
            continue;
        }
        let above = place_of(story.key, &keys);
        if let Some(at) = above {
            keys.insert(at + 1, story.name().to_owned());
        }
        let above = above.map(|at| keys[at].clone());
        entries.extend(entry(
            story,
            story.name(),
            EntryLocation::Behind { ledger: path.clone(), above },
            None,
        ));
    }
    entries
}

/// `None` where the ledger says it already, or has no word for it.
fn entry(story: &Story, key: &str, location: EntryLocation, from: Option<&str>) -> Option<LedgerEntry> {
    let words = story.words();
    let to = words.in_ledger(&story.status)?;
    let is_needed = from.is_none_or(|from| !words.fits(&story.status, from));
    is_needed.then(|| LedgerEntry {
        story: story.path.clone(),
        key: key.to_owned(),
        location,
        from: from.map(str::to_owned),
        status: story.status.clone(),
        to: to.to_owned(),
        is_foreign: from.is_some_and(|from| !words.have(from)),
    })
}

/// The entry that `key` follows: its epic's last story with a smaller number, else the epic itself.
fn place_of(key: LedgerKey, keys: &[String]) -> Option<usize> {
    let is_above = |other: &LedgerKey| {
        other.epic == key.epic && *other <= key && other.part != LedgerPart::Retrospective
    };
    let earlier = |at: usize| LedgerKey::read(&keys[at]).filter(is_above);
    let epic_is_listed =
        (0..keys.len()).any(|at| earlier(at).is_some_and(|other| other.part == LedgerPart::Epic));
    let candidates = (0..keys.len()).filter_map(|at| Some((earlier(at)?, at)));
    candidates.max().map(|(_, at)| at).filter(|_| epic_is_listed)
}

/// `bytes`, a ledger, with `entries` written into it, which is proven; one that cannot be written is left.
pub fn write_entries(bytes: &[u8], entries: Vec<LedgerEntry>) -> EntriesWritten {
    let mut done = EntriesWritten { bytes: bytes.to_vec(), written: Vec::new(), left: Vec::new() };
    let is_listed = |entry: &LedgerEntry| matches!(entry.location, EntryLocation::Listed { .. });
    let (listed, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_listed);
    done.write_all(listed);
    others.into_iter().for_each(|entry| done.write(entry));
    done
}

impl EntriesWritten {
    /// Does what BMAD does with each change of a story: an epic that waited is in progress with its first
    /// story (`sync-sprint-status.md`), and the ledger says when it changed, in the form that it has.
    #[must_use]
    pub fn kept_up(mut self, now: &Zoned) -> Self {
        let Ok(ledger) = SprintStatus::read(&self.bytes) else { return self };
        let is_begun = |entry: &&LedgerEntry| entry.to != "backlog";
        let begun = self.written.iter().filter(is_begun);
        let epics = ledger.epics_of(begun.map(|entry| entry.key.as_str()));
        let waiting = epics.into_iter().filter(|epic| ledger.status(epic) == Some("backlog"));
        let path = |epic: &str| KeyPath::key(STATES_KEY).then(epic);
        let lifted = waiting.map(|epic| Edit::Set { path: path(epic), value: Value::from("in-progress") });
        let dated = ledger.updated().filter(|_| !self.written.is_empty()).and_then(form_of);
        let dated = dated.map(|form| {
            let text = now.strftime(form).to_string();
            Edit::Set { path: KeyPath::key(UPDATED_KEY), value: Value::String(text) }
        });
        for edit in lifted.chain(dated).collect::<Vec<_>>() {
            // What cannot be written faithfully stays.
            if let Ok(edited) = apply(&self.bytes, &Region::WholeFile, &[edit]) {
                self.bytes = edited.bytes;
            }
        }
        self
    }

    /// Writes entries that are listed: all at once, and where that cannot be, one half after the other.
    fn write_all(&mut self, mut entries: Vec<LedgerEntry>) {
        if entries.is_empty() {
            return;
        }
        let edits: Vec<Edit> = entries.iter().filter_map(edit).collect();
        if let Ok(edited) = apply(&self.bytes, &Region::WholeFile, &edits) {
            self.bytes = edited.bytes;
            self.written.extend(entries);
            return;
        }
        let later = entries.split_off(entries.len() / 2);
        for half in [entries, later] {
            match <[LedgerEntry; 1]>::try_from(half) {
                Ok([entry]) => self.write(entry),
                Err(half) => self.write_all(half),
            }
        }
    }

    fn write(&mut self, entry: LedgerEntry) {
        let Some(edit) = edit(&entry) else { return };
        match apply(&self.bytes, &Region::WholeFile, &[edit]) {
            Ok(edited) => {
                self.bytes = edited.bytes;
                self.written.push(entry);
            }
            Err(error) => self.left.push((entry, error)),
        }
    }
}

/// The form of a time as BMAD writes it; `None` for any other text.
fn form_of(text: &str) -> Option<&'static str> {
    let shape: String =
        text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    Some(match &*shape {
        "00-00-0000 00:00" => "%m-%d-%Y %H:%M",
        "00-00-0000" => "%m-%d-%Y",
        "0000-00-00 00:00" => "%Y-%m-%d %H:%M",
        "0000-00-00T00:00" => "%Y-%m-%dT%H:%M",
        "0000-00-00" => "%Y-%m-%d",
        _ => return None,
    })
}

/// `None` for an entry without a place.
fn edit(entry: &LedgerEntry) -> Option<Edit> {
    let states = KeyPath::key(STATES_KEY);
    let value = Value::from(entry.to.as_str());
    match &entry.location {
        EntryLocation::Listed { .. } => Some(Edit::Set { path: states.then(&entry.key), value }),
        EntryLocation::Behind { above, .. } => {
            Some(Edit::InsertEntry { path: states, after: above.clone()?, key: entry.key.clone(), value })
        }
        EntryLocation::StatusLine
        | EntryLocation::Structured { .. }
        | EntryLocation::Shared { .. }
        | EntryLocation::NumberTaken { .. } => None,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub story: ProjectPath,
    pub key: String,
    pub location: EntryLocation,
    /// The word of the copy, as written; `None` where it says nothing.
    pub from: Option<String>,
    pub status: String,
    pub to: String,
    /// True if the copy says a word that no lifecycle has: it is left to a person.
    pub is_foreign: bool,
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{artifact::Artifact, bmad::sprint::StoryState};

    fn story(name: &str, status: &str) -> Story {
        let text = format!("---\nstatus: {status}\n---\n# Story\n");
        let path = ProjectPath::new(format!("docs/{name}.md")).unwrap();
        match Story::read(&Artifact::read(path, text.into_bytes()), None) {
            StoryState::Told(story) => *story,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// The ledger after everything is written, and what had no place or was refused.
    fn projected(ledger: &str, stories: &[(&str, &str)]) -> (String, Vec<String>) {
        let stories: Vec<Story> = stories.iter().map(|(name, status)| story(name, status)).collect();
        let path = ProjectPath::new("docs/sprint-status.yaml").unwrap();
        let read = SprintStatus::read(ledger.as_bytes()).unwrap();
        let entries = listed_entries(&path, &read, &stories.iter().collect::<Vec<_>>());
        let placeless =
            entries.iter().filter(|entry| entry.obstacle().is_some()).map(|entry| entry.key.clone());
        let mut left: Vec<String> = placeless.collect();
        let done = write_entries(ledger.as_bytes(), entries);
        left.extend(done.left.iter().map(|(entry, error)| format!("{}: {error}", entry.key)));
        (String::from_utf8(done.bytes).unwrap(), left)
    }

    const LEDGER: &str = "# STATUS DEFINITIONS\nproject: Lamp\n\ndevelopment_status:\n  epic-1: in-progress\n  1-1-switch: \
                          'ready-for-dev' # Ana\n  1-3-hum: drafted\n  epic-1-retrospective: optional\n\n  # second\n  epic-2: backlog\n";

    #[test]
    fn values_change_and_nothing_else() {
        let (after, left) = projected(
            LEDGER,
            &[("1-1-switch", "in-review"), ("1-3-hum", "ready-for-dev"), ("epic-2", "in-progress")],
        );
        let expected =
            LEDGER.replace("'ready-for-dev'", "'review'").replace("epic-2: backlog", "epic-2: in-progress");
        assert_eq!((after, left), (expected, Vec::new()));
    }

    #[test]
    fn a_missing_story_goes_behind_its_neighbour() {
        for (stories, expected) in [
            (vec![("1-2-dim", "done")], "# Ana\n  1-2-dim: 'done'\n  1-3-hum"),
            (vec![("1-4-x", "done")], "1-3-hum: drafted\n  1-4-x: done\n  epic-1-r"),
            (
                vec![("1-1a-x", "backlog"), ("1-2-y", "review")],
                "# Ana\n  1-1a-x: 'backlog'\n  1-2-y: 'review'\n  1-3-hum",
            ),
            (vec![("2-1-x", "review")], "  epic-2: backlog\n  2-1-x: review\n"),
            (vec![("1-0-x", "review")], "  epic-1: in-progress\n  1-0-x: review\n"),
        ] {
            let (after, left) = projected(LEDGER, &stories);
            assert!(after.contains(expected) && left.is_empty(), "{stories:?}: {left:?}\n{after}");
            let kept: String = after
                .split_inclusive('\n')
                .filter(|line| !stories.iter().any(|(name, _)| line.contains(name)))
                .collect();
            assert_eq!(kept, LEDGER, "only lines came in");
        }
        assert_eq!(projected(LEDGER, &[("7-1-x", "review")]), (LEDGER.to_owned(), vec!["7-1-x".to_owned()]));
        assert_eq!(
            projected(LEDGER, &[("epic-3", "done")]),
            (LEDGER.to_owned(), Vec::new()),
            "epics are not made up"
        );
    }

    #[test]
    fn a_map_or_a_list_is_never_replaced() {
        let ledger = "development_status:\n  epic-1: backlog\n  1-1-a: {status: done, owner: Ana, pr: 12}  # x\n  1-2-b:\n    - done\n  \
                      1-3-c: done\n";
        let stories = [("1-1-a", "review"), ("1-2-b", "done"), ("1-3-c", "review")];
        let (after, left) = projected(ledger, &stories);
        assert_eq!(
            after,
            ledger.replace("1-3-c: done", "1-3-c: review"),
            "what may go back is asked elsewhere"
        );
        assert_eq!(left, ["1-1-a", "1-2-b"]);
    }

    #[test]
    fn a_spec_is_written_as_the_steps_of_bmad_build_write_it() {
        let ledger = "development_status:\n  epic-1: in-progress\n  1-1-one: backlog\n  1-2-two: ready-for-dev\n  1-3-three: in-progress\n  \
                      1-4-four: in-progress\n  1-5-five: done\n  1-6-six: backlog\n  1-7-seven: backlog\n  1-7-again: backlog\n";
        let stories = [
            ("spec-1-1-une", "ready-for-dev"),
            ("spec-1-2-deux", "in-progress"),
            ("spec-1-3-trois", "in-review"),
            ("spec-1-4-quatre", "done"),
            ("spec-1-5-cinq", "done"),
            ("spec-1-6-six", "draft"),
            ("spec-1-7-seven", "done"),
            ("spec-1-8-huit", "done"),
        ];
        let (after, left) = projected(ledger, &stories);
        let expected = ledger
            .replace("1-2-two: ready-for-dev", "1-2-two: in-progress")
            .replace("1-4-four: in-progress", "1-4-four: review");
        assert_eq!((after, left), (expected, Vec::new()));
    }

    #[test]
    fn an_entry_that_several_files_are_about_is_left() {
        let ledger = "development_status:\n  1-1-a: in-progress\n";
        let (after, left) = projected(ledger, &[("spec-1-1-a", "done"), ("spec-1-1-a-2", "in-progress")]);
        assert_eq!((after.as_str(), left), (ledger, vec!["1-1-a".to_owned()]));
    }

    #[test]
    fn what_cannot_be_written_faithfully_is_left_and_the_rest_is_written() {
        let ledger = "development_status:\n  epic-1: &b backlog\n  1-1-a: *b\n  1-2-b: backlog\n  1-3-c:\n  1-4-d: done\n  1-4-d: done\n";
        let (after, left) = projected(
            ledger,
            &[
                ("1-1-a", "done"),
                ("1-2-b", "done"),
                ("1-3-c", "done"),
                ("1-4-d", "review"),
                ("1-5-e", "done"),
            ],
        );
        assert!(after.contains("  1-1-a: *b\n  1-2-b: done\n  1-3-c: done\n"), "{after}");
        assert_eq!(left.len(), 3, "{left:?}");
        let flow = "development_status: {epic-1: backlog, 1-1-a: backlog}\n";
        let (after, left) = projected(flow, &[("1-1-a", "done"), ("1-2-b", "done")]);
        assert_eq!(after, "development_status: {epic-1: backlog, 1-1-a: done}\n");
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
