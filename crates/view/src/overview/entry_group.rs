//! Artifacts in the groups that people look for them in: by epic, else by workflow.

use std::collections::BTreeMap;

use stepmark_model::artifact::natural_order;

use super::{Entry, EpicTitles};

/// Artifacts that are shown together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryGroup {
    /// What they have in common; `None` for those that stand alone.
    pub name: Option<String>,
    /// Places in the entries, in natural order.
    pub places: Vec<usize>,
}

/// What a group is known by, in the order of the groups.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Alone,
    Workflow(String),
    Epic(u16),
}

/// The groups of `entries`: artifacts that stand alone, workflows with several artifacts by name, epics by number.
pub fn entry_groups(entries: &[Entry], titles: &EpicTitles) -> Vec<EntryGroup> {
    let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (place, entry) in entries.iter().enumerate() {
        let key = match entry.story {
            Some(story) => Key::Epic(story.epic),
            None if entry.bar.is_some() => Key::Workflow(entry.workflow.clone()),
            None => Key::Alone,
        };
        groups.entry(key).or_default().push(place);
    }
    // A heading over one line says no more than the line.
    let is_alone = |key: &Key, places: &Vec<usize>| matches!(key, Key::Workflow(_)) && places.len() == 1;
    let alone: Vec<usize> =
        groups.extract_if(.., |key, places| is_alone(key, places)).flat_map(|(_, places)| places).collect();
    if !alone.is_empty() {
        groups.entry(Key::Alone).or_default().extend(alone);
    }
    groups.into_iter().map(|(key, places)| group(&key, places, entries, titles)).collect()
}

fn group(key: &Key, mut places: Vec<usize>, entries: &[Entry], titles: &EpicTitles) -> EntryGroup {
    places.sort_by(|one, other| {
        let (one, other) = (&entries[*one], &entries[*other]);
        one.story.cmp(&other.story).then_with(|| natural_order(one.path.as_str(), other.path.as_str()))
    });
    let name = match key {
        Key::Alone => None,
        Key::Workflow(name) => Some(name.clone()),
        Key::Epic(epic) => Some(epic_name(*epic, titles)),
    };
    EntryGroup { name, places }
}

/// `Epic 3: Lending`.
pub(super) fn epic_name(epic: u16, titles: &EpicTitles) -> String {
    titles.get(&epic).map_or_else(|| format!("Epic {epic}"), |title| format!("Epic {epic}: {title}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_project::SampleProject;

    #[test]
    fn artifacts_stand_with_their_like_in_natural_order() {
        let project = SampleProject::new();
        for path in ["s/1-10-j", "s/1-2-b", "s/1-1-a", "s/2-1-c"] {
            project.write(&format!("{path}.md"), "---\nstatus: done\n---\n# Story\n");
        }
        project.write("zeal.md", "---\nscope: small\nstepsCompleted: []\n---\n");
        project.write("epics.md", "---\nstepsCompleted: []\n---\n## Epic 2: Lend\n");
        let shown = |project: &SampleProject| -> Vec<(String, Vec<String>)> {
            let overview = project.overview();
            let titles = epic_titles_of(project);
            let groups = entry_groups(&overview.entries, &titles).into_iter();
            let names = |places: Vec<usize>| {
                places.iter().map(|place| overview.entries[*place].path.file_stem().to_owned()).collect()
            };
            groups.map(|group| (group.name.unwrap_or_default(), names(group.places))).collect()
        };
        let epics = [("Epic 1", vec!["1-1-a", "1-2-b", "1-10-j"]), ("Epic 2: Lend", vec!["2-1-c"])];
        let expected = |alone: Vec<&str>, workflow: Vec<&str>| -> Vec<(String, Vec<String>)> {
            let all = [("", alone), ("paper", workflow)].into_iter().chain(epics.clone());
            let all = all.filter(|(_, names)| !names.is_empty());
            all.map(|(name, names)| (name.to_owned(), names.into_iter().map(str::to_owned).collect()))
                .collect()
        };
        project.write("docs/b.md", "---\nstepsCompleted: []\n---\n");
        assert_eq!(shown(&project), expected(vec!["b", "epics", "zeal"], vec![]));
        project.write("docs/a.md", "---\nstepsCompleted: []\n---\n");
        assert_eq!(shown(&project), expected(vec!["epics", "zeal"], vec!["a", "b"]));
    }

    fn epic_titles_of(project: &SampleProject) -> EpicTitles {
        super::super::epic_titles(&project.workspace().artifacts().unwrap().artifacts)
    }
}
