//! Progress per workflow and per epic.

use std::collections::{BTreeMap, HashSet};

use super::{Condition, EpicTitles, entry_group::epic_name};
use crate::observation::Entry;
use stepmark_model::{
    artifact::{ProjectPath, natural_order},
    bmad::sprint::{LedgerKey, SprintStatus},
};
use stepmark_store::bmad::sprint::SprintLedger;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgressGroup {
    pub name: String,
    pub epic: Option<u16>,
    pub finished: usize,
    /// Includes unwritten ones.
    pub total: usize,
    pub units: (usize, usize),
    pub unwritten: usize,
    /// Stories with a status that is only in the sprint status.
    pub not_imported: usize,
    /// Blocked, or with an error.
    pub in_trouble: usize,
}

impl ProgressGroup {
    fn add(&mut self, entry: &Entry) {
        self.total += 1;
        self.finished += usize::from(entry.condition == Condition::Finished);
        self.not_imported += usize::from(entry.condition == Condition::NotImported);
        self.in_trouble += usize::from(
            entry.errors > 0 || matches!(entry.condition, Condition::Blocked | Condition::Interrupted),
        );
        if let Some(bar) = &entry.bar {
            self.units.0 += bar.done;
            self.units.1 += bar.total;
        }
    }

    fn add_unwritten(&mut self) {
        self.total += 1;
        self.unwritten += 1;
    }
}

pub(super) fn by_workflow(entries: &[Entry]) -> Vec<ProgressGroup> {
    let known = entries.iter().filter(|entry| entry.bar.is_some());
    grouped(known.map(|entry| (entry.workflow.clone(), entry))).into_values().collect()
}

/// By epic number. Stories that only `ledgers` list count as a whole.
pub(super) fn by_epic(
    entries: &[Entry],
    ledgers: &[SprintLedger],
    titles: &EpicTitles,
) -> Vec<ProgressGroup> {
    let stories = entries.iter().filter_map(|entry| Some((entry.story?.epic, entry)));
    let mut groups = grouped(stories);
    for epic in
        unwritten_stories(entries.iter().filter_map(|entry| Some((&entry.path, entry.story?))), ledgers)
    {
        groups.entry(epic).or_default().add_unwritten();
    }
    let named = groups.into_iter();
    named
        .map(|(epic, group)| ProgressGroup {
            name: epic_name(epic, titles),
            epic: Some(epic),
            units: (0, 0),
            ..group
        })
        .collect()
}

/// Epics of listed stories without a file in the folder of the sprint status or below. `stories` have files.
pub fn unwritten_stories<'e>(
    stories: impl Iterator<Item = (&'e ProjectPath, LedgerKey)>,
    ledgers: &[SprintLedger],
) -> Vec<u16> {
    let mut written: HashSet<(ProjectPath, LedgerKey)> = HashSet::new();
    for (path, key) in stories {
        written.extend(SprintStatus::places(path).into_iter().map(|place| (place, key)));
    }
    let mut epics = Vec::new();
    for ledger in ledgers {
        let keys = ledger.states.keys().filter_map(LedgerKey::read).filter(|key| key.is_story());
        // A repeated key is not another story.
        epics.extend(keys.filter(|key| written.insert((ledger.path.clone(), *key))).map(|key| key.epic));
    }
    epics
}

fn grouped<'e, K: Ord + ToString>(
    entries: impl Iterator<Item = (K, &'e Entry)>,
) -> BTreeMap<K, ProgressGroup> {
    let mut groups: BTreeMap<K, ProgressGroup> = BTreeMap::new();
    for (key, entry) in entries {
        let name = key.to_string();
        let group = groups.entry(key).or_insert_with(|| ProgressGroup { name, ..ProgressGroup::default() });
        group.add(entry);
    }
    groups
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// As in the lifecycle; else the condition.
    pub name: String,
    /// Indices of entries; stories by number, then by path.
    pub places: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    group: u8,
    rank: u32,
    name: String,
}

/// From not started to done; no empty columns.
pub(super) fn columns(entries: &[Entry]) -> Vec<Column> {
    let mut columns: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (place, entry) in entries.iter().enumerate() {
        columns.entry(key(entry)).or_default().push(place);
    }
    let sorted = |mut places: Vec<usize>| {
        places.sort_by(|one, other| {
            let (one, other) = (&entries[*one], &entries[*other]);
            let by_path = || natural_order(one.path.as_str(), other.path.as_str());
            let order = |own: &Entry| own.ticket.as_ref().map(|ticket| ticket.order);
            one.story.cmp(&other.story).then_with(|| order(one).cmp(&order(other))).then_with(by_path)
        });
        places
    };
    columns.into_iter().map(|(key, places)| Column { name: key.name, places: sorted(places) }).collect()
}

fn key(entry: &Entry) -> Key {
    let group = match entry.condition {
        Condition::Unknown => 0,
        Condition::NotImported => 1,
        Condition::NotStarted => 2,
        Condition::Underway => 3,
        Condition::Waiting => 4,
        Condition::Blocked => 5,
        Condition::Interrupted => 6,
        Condition::Finished => 7,
    };
    let state = entry
        .state
        .as_ref()
        .filter(|_| matches!(entry.condition, Condition::NotStarted | Condition::Underway));
    let (rank, name) = state.cloned().unwrap_or_else(|| (0, entry.condition.word().to_owned()));
    Key { group, rank, name }
}

#[cfg(test)]
mod tests {
    use crate::sample_project::SampleProject;

    #[test]
    fn columns_stand_from_the_beginning_to_the_end() {
        let project = SampleProject::new();
        for (path, status) in [
            ("1-1-a", "done"),
            ("1-2-b", "review"),
            ("1-3-c", "in-progress"),
            ("1-4-d", "backlog"),
            ("1-10-e", "review"),
            ("1-5-f", "ready-for-dev"),
            ("1-6-g", "blocked"),
        ] {
            project.write(&format!("s/{path}.md"), &format!("---\nstatus: {status}\n---\n# Story\n"));
        }
        project.write("docs/a.md", "---\nstepsCompleted: [outline]\n---\n");
        project.write("docs/b.md", "---\nstepsCompleted: []\n---\n");
        let overview = project.overview();
        let name = |place: &usize| overview.entries[*place].path.file_stem().to_owned();
        let columns = overview.columns.iter();
        let columns: Vec<_> = columns
            .map(|column| {
                (column.name.as_str(), column.places.iter().map(name).collect::<Vec<_>>().join(" "))
            })
            .collect();
        let expected = [
            ("backlog", "1-4-d"),
            ("not started", "b"),
            ("ready-for-dev", "1-5-f"),
            ("underway", "a"),
            ("in-progress", "1-3-c"),
            ("review", "1-2-b 1-10-e"),
            ("blocked", "1-6-g"),
            ("done", "1-1-a"),
        ];
        assert_eq!(columns, expected.map(|(name, all)| (name, all.to_owned())));
        let commands: Vec<_> = overview.entries.iter().filter_map(|entry| entry.command.as_deref()).collect();
        assert!(commands.contains(&"stepmark complete docs/a.md draft"), "{commands:?}");
        assert!(commands.contains(&"stepmark transition s/1-2-b.md done"), "{commands:?}");
    }

    #[test]
    fn a_command_holds_a_path_as_one_word() {
        let project = SampleProject::new();
        project.write("docs/it's; rm -rf $HOME.md", "---\nstepsCompleted: []\n---\n");
        let command = project.overview().entries[0].command.clone();
        assert_eq!(command.as_deref(), Some("stepmark complete 'docs/it'\\''s; rm -rf $HOME.md' outline"));
    }
}
