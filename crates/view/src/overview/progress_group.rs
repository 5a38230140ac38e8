//! The progress of the artifacts of a workflow or an epic, taken together.

use std::collections::{BTreeMap, HashSet};

use stepmark_model::{
    artifact::ProjectPath,
    bmad::sprint::{LedgerKey, SprintStatus},
};
use stepmark_store::bmad::sprint::SprintLedger;

use super::{Condition, EpicTitles, entry_group::epic_name};
use crate::observation::Entry;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgressGroup {
    pub name: String,
    pub epic: Option<u16>,
    pub finished: usize,
    /// The number of all artifacts, with those that are not written.
    pub total: usize,
    pub units: (usize, usize),
    /// The number of its stories that only a ledger knows: they have no file yet.
    pub unwritten: usize,
    /// The number of them that are stories whose status nobody has imported.
    pub not_imported: usize,
    /// The number of them that are held up, or have an error.
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

/// The groups by workflow, in the order of the names; artifacts without one are no group.
pub(super) fn by_workflow(entries: &[Entry]) -> Vec<ProgressGroup> {
    let known = entries.iter().filter(|entry| entry.bar.is_some());
    grouped(known.map(|entry| (entry.workflow.clone(), entry))).into_values().collect()
}

/// The groups by epic, in the order of their numbers: stories that have a file, and those that only one of
/// `ledgers` lists. They count as a whole each, however many steps some of them have.
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

/// The epic of each story that a ledger lists, and that has no file where the ledger stands or below:
/// `stories` are those that have one.
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
        // Of a key that stands twice, the second is not another story.
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
