//! How far the artifacts of a workflow or an epic have come together.

use std::collections::BTreeMap;

use super::{Condition, Entry};

/// Artifacts that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgressGroup {
    /// What they have in common.
    pub name: String,
    /// How many artifacts are finished.
    pub finished: usize,
    /// How many there are.
    pub total: usize,
    /// How many units of their workflows are done, and how many there are.
    pub units: (usize, usize),
    /// How many of them are held up, or have an error.
    pub in_trouble: usize,
}

impl ProgressGroup {
    fn add(&mut self, entry: &Entry) {
        self.total += 1;
        self.finished += usize::from(entry.condition == Condition::Finished);
        self.in_trouble += usize::from(
            entry.errors > 0 || matches!(entry.condition, Condition::Blocked | Condition::Interrupted),
        );
        if let Some(bar) = &entry.bar {
            self.units.0 += bar.done;
            self.units.1 += bar.total;
        }
    }
}

/// The groups by workflow, in the order of the names; artifacts without one are no group.
pub(super) fn by_workflow(entries: &[Entry]) -> Vec<ProgressGroup> {
    let known = entries.iter().filter(|entry| entry.bar.is_some());
    grouped(known.map(|entry| (entry.workflow.clone(), entry))).into_values().collect()
}

/// The groups by epic, in the order of their numbers.
pub(super) fn by_epic(entries: &[Entry]) -> Vec<ProgressGroup> {
    let stories = entries.iter().filter_map(|entry| Some((entry.epic?, entry)));
    let groups = grouped(stories).into_iter();
    groups.map(|(epic, group)| ProgressGroup { name: format!("Epic {epic}"), ..group }).collect()
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
