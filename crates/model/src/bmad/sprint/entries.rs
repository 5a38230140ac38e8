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
use stepmark_frontmatter::{Edit, KeyPath, ParseError, Region, Value, apply};

/// A change of the copies of a status in one file: a ledger, or a story with a line `Status:`.
#[derive(Clone, Debug, Default)]
pub struct LedgerChange {
    /// The file with what is `written`; `None` where it stays.
    pub bytes: Option<Vec<u8>>,
    pub written: Vec<LedgerEntry>,
    /// Those whose copy says a word that no lifecycle has.
    pub refused: Vec<LedgerEntry>,
    pub left: Vec<LedgerLeft>,
}

/// An entry that cannot be written faithfully, and why.
#[derive(Clone, Debug)]
pub struct LedgerLeft {
    pub entry: LedgerEntry,
    pub reason: String,
}

pub(super) fn listed_entries(
    path: &ProjectPath,
    ledger: &SprintStatus,
    stories: &[&Story],
) -> Vec<LedgerEntry> {
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
            EntryLocation::Structured
        } else if times_told.get(key).is_some_and(|times| *times > 1) {
            EntryLocation::Shared
        } else {
            EntryLocation::Listed
        };
        entries.extend(entry(story, (path, key), location, ledger.status(key)));
    }
    // The later one goes behind the earlier.
    missing.sort_by(|one, other| (one.key, one.name()).cmp(&(other.key, other.name())));
    let mut keys: Vec<String> = ledger.keys().map(str::to_owned).collect();
    let names: Vec<(LedgerKey, &str)> = missing.iter().map(|story| (story.key, story.name())).collect();
    for story in missing {
        let same = names.iter().find(|(key, name)| *key == story.key && *name != story.name());
        if let Some(by) = ledger.namesake(story.name()).or(same.map(|(_, name)| *name)) {
            let location = EntryLocation::NumberTaken { by: by.to_owned() };
            entries.extend(entry(story, (path, story.name()), location, None));
            continue;
        }
        let above = place_of(story.key, &keys);
        if let Some(at) = above {
            keys.insert(at + 1, story.name().to_owned());
        }
        let location = EntryLocation::Behind { above: above.map(|at| keys[at].clone()) };
        entries.extend(entry(story, (path, story.name()), location, None));
    }
    entries
}

/// `None` where the ledger says it already, or has no word for it.
fn entry(
    story: &Story,
    (file, key): (&ProjectPath, &str),
    location: EntryLocation,
    from: Option<&str>,
) -> Option<LedgerEntry> {
    let words = story.words();
    let to = words.in_ledger(&story.status)?;
    let is_needed = from.is_none_or(|from| !words.fits(&story.status, from));
    is_needed.then(|| LedgerEntry {
        story: story.path.clone(),
        file: file.clone(),
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

/// The entries in which the ledger `bytes` at `path` differs from `stories`.
pub fn differing_entries(
    path: &ProjectPath,
    bytes: &[u8],
    stories: &[&Story],
) -> Result<Vec<LedgerEntry>, ParseError> {
    Ok(listed_entries(path, &SprintStatus::read(bytes)?, stories))
}

/// The ledger `bytes` at `path`, brought to what `stories` say; words that no lifecycle has, too, where
/// `is_forced`. A story that it does not list comes in where `may_insert`. What is written is proven.
pub fn project_ledger(
    path: &ProjectPath,
    bytes: &[u8],
    stories: &[&Story],
    [is_forced, may_insert]: [bool; 2],
    now: &Zoned,
) -> Result<LedgerChange, ParseError> {
    let mut entries = differing_entries(path, bytes, stories)?;
    entries.retain(|entry| may_insert || !matches!(entry.location, EntryLocation::Behind { .. }));
    let (change, entries) = LedgerChange::sorted(entries, is_forced);
    Ok(change.write(bytes, entries).kept_up(now))
}

impl LedgerChange {
    /// The entries that may be written, and a change that leaves the others.
    pub(super) fn sorted(
        entries: impl IntoIterator<Item = LedgerEntry>,
        is_forced: bool,
    ) -> (Self, Vec<LedgerEntry>) {
        let (mut change, mut writable) = (Self::default(), Vec::new());
        for entry in entries {
            match entry.location.obstacle() {
                Some(obstacle) => change.left.push(LedgerLeft { entry, reason: obstacle.to_owned() }),
                None if entry.is_foreign && !is_forced => change.refused.push(entry),
                None => writable.push(entry),
            }
        }
        (change, writable)
    }

    /// Writes the listed entries at once, then those that are inserted, each behind the one before it.
    pub(super) fn write(mut self, bytes: &[u8], entries: Vec<LedgerEntry>) -> Self {
        let (listed, inserted): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.location == EntryLocation::Listed);
        self.write_together(bytes, listed);
        inserted.into_iter().for_each(|entry| self.write_together(bytes, vec![entry]));
        self
    }

    /// Halves `entries` where they cannot be written together: one that is wrong costs few attempts.
    fn write_together(&mut self, bytes: &[u8], mut entries: Vec<LedgerEntry>) {
        let edits: Vec<Edit> = entries.iter().filter_map(edit).collect();
        if edits.is_empty() {
            return;
        }
        match apply(self.bytes.as_deref().unwrap_or(bytes), &Region::WholeFile, &edits) {
            Ok(edited) => {
                self.bytes = Some(edited.bytes);
                self.written.append(&mut entries);
            }
            Err(_) if entries.len() > 1 => {
                let rest = entries.split_off(entries.len() / 2);
                self.write_together(bytes, entries);
                self.write_together(bytes, rest);
            }
            Err(error) => {
                self.left.extend(entries.pop().map(|entry| LedgerLeft { entry, reason: error.to_string() }))
            }
        }
    }

    /// Does what BMAD does with each change of a story: an epic that waited is in progress with its first
    /// story (`sync-sprint-status.md`), and the ledger says when it changed, in the form that it has.
    fn kept_up(mut self, now: &Zoned) -> Self {
        let Some(Ok(ledger)) = self.bytes.as_deref().map(SprintStatus::read) else { return self };
        let begun = self.written.iter().filter(|entry| entry.to != "backlog");
        let epics = ledger.epics_of(begun.map(|entry| entry.key.as_str()));
        let waiting = epics.into_iter().filter(|epic| ledger.status(epic) == Some("backlog"));
        let path = |epic: &str| KeyPath::key(STATES_KEY).then(epic);
        let lifted = waiting.map(|epic| Edit::Set { path: path(epic), value: Value::from("in-progress") });
        let dated = ledger.updated.as_deref().and_then(form_of).map(|form| {
            let text = now.strftime(form).to_string();
            Edit::Set { path: KeyPath::key(UPDATED_KEY), value: Value::String(text) }
        });
        for edit in lifted.chain(dated).collect::<Vec<_>>() {
            let bytes = self.bytes.as_deref().unwrap_or_default();
            // What cannot be written faithfully stays.
            if let Ok(edited) = apply(bytes, &Region::WholeFile, &[edit]) {
                self.bytes = Some(edited.bytes);
            }
        }
        self
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
        EntryLocation::Listed => Some(Edit::Set { path: states.then(&entry.key), value }),
        EntryLocation::Behind { above } => {
            Some(Edit::InsertEntry { path: states, after: above.clone()?, key: entry.key.clone(), value })
        }
        _ => None,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub story: ProjectPath,
    /// The ledger, or the story itself.
    pub file: ProjectPath,
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
    Listed,
    /// Its value is a map or a list. It is never replaced: what else stands there would be lost.
    Structured,
    Shared,
    NumberTaken {
        by: String,
    },
    /// The ledger does not list the story yet.
    Behind {
        /// The entry behind which it belongs; `None`: its epic is not listed, so nobody knows.
        above: Option<String>,
    },
}

impl EntryLocation {
    const fn obstacle(&self) -> Option<&'static str> {
        Some(match self {
            Self::Structured => "that is no word, and what else stands there would be lost",
            Self::Shared => "several files are about this entry, so nobody knows which one counts",
            Self::NumberTaken { .. } => {
                "a number has one entry; give both the same name, or one of them another number"
            }
            Self::Behind { above: None } => "its epic is not listed there, so nobody knows where it belongs",
            _ => return None,
        })
    }
}

impl fmt::Display for LedgerEntry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, status, .. } = self;
        let place = match &self.location {
            EntryLocation::NumberTaken { by } => {
                return write!(out, "`{file}` lists `{by}`, the file is `{}`", self.key);
            }
            EntryLocation::StatusLine => "its line `Status:`".to_owned(),
            _ => format!("`{file}`"),
        };
        let says = match &self.from {
            _ if self.location == EntryLocation::Structured => "a map or a list".to_owned(),
            Some(from) => format!("`{from}`"),
            None => "nothing".to_owned(),
        };
        write!(out, "{place} says {says}, its frontmatter `{status}`")
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
        let (change, entries) = LedgerChange::sorted(entries, true);
        let done = change.write(ledger.as_bytes(), entries);
        let left = done.left.into_iter().map(|left| left.entry.key).collect();
        (String::from_utf8(done.bytes.unwrap_or_else(|| ledger.into())).unwrap(), left)
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
