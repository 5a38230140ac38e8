//! Groups of artifacts: by epic, else by workflow.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use stepmark_model::{
    artifact::{Kind, ProjectPath, natural_order},
    bmad::sprint::LedgerKey,
};

use super::EpicTitles;
use crate::observation::Entry;

#[derive(Clone, Debug)]
pub struct GroupMember<'a> {
    pub path: &'a ProjectPath,
    /// For stories: the key in the sprint status, which names the epic.
    pub story: Option<LedgerKey>,
    /// The workflow if its progress is known, else the kind of record.
    pub workflow: Option<Cow<'a, str>>,
    /// For tickets of BMAD 7: epic folder and position in the build order.
    pub ticket: Option<(String, usize)>,
}

impl<'a> From<&'a Entry> for GroupMember<'a> {
    fn from(entry: &'a Entry) -> Self {
        let workflow = entry.bar.is_some().then_some(Cow::Borrowed(&*entry.workflow));
        let ticket = entry.ticket.as_ref().map(|ticket| (ticket.epic.clone(), ticket.order));
        Self { ticket, ..Self::new(&entry.path, entry.story, workflow, entry.kind) }
    }
}

impl<'a> GroupMember<'a> {
    pub fn new(
        path: &'a ProjectPath,
        story: Option<LedgerKey>,
        workflow: Option<Cow<'a, str>>,
        kind: Option<&'static Kind>,
    ) -> Self {
        let workflow = workflow.or_else(|| kind.map(|kind| Cow::Borrowed(kind.plural.as_str())));
        Self { path, story: story.filter(|_| kind.is_none()), workflow, ticket: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryGroup {
    /// `None`: artifacts without a group.
    pub name: Option<String>,
    /// Indices of members, in natural order.
    pub places: Vec<usize>,
    pub unwritten: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    Alone,
    Workflow(Cow<'a, str>),
    Epic(u16),
    /// First position in the build order, and epic folder.
    Tickets(usize, &'a str),
}

/// Single artifacts first, then workflows by name, then epics by number, including those of `unwritten`
/// stories. Delegated work is below its parent.
pub fn entry_groups(members: &[GroupMember<'_>], titles: &EpicTitles, unwritten: &[u16]) -> Vec<EntryGroup> {
    let places: HashMap<&str, usize> =
        members.iter().enumerate().map(|(place, member)| (member.path.as_str(), place)).collect();
    let parent = |member: &GroupMember<'_>| places.get(parent_path(member.path)?.as_str()).copied();
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (epic, order) in members.iter().filter_map(|member| member.ticket.as_ref()) {
        let place = first.entry(epic).or_insert(*order);
        *place = (*place).min(*order);
    }
    let mut groups: BTreeMap<Key<'_>, Vec<usize>> = BTreeMap::new();
    for (place, member) in members.iter().enumerate() {
        let member = parent(member).map_or(member, |parent| &members[parent]);
        let key = match (member.story, &member.workflow) {
            _ if let Some((epic, _)) = &member.ticket => {
                Key::Tickets(first.get(&**epic).copied().unwrap_or_default(), epic)
            }
            (Some(story), _) => Key::Epic(story.epic),
            (None, Some(workflow)) => Key::Workflow(Cow::Borrowed(workflow)),
            (None, None) => Key::Alone,
        };
        groups.entry(key).or_default().push(place);
    }
    for epic in unwritten {
        groups.entry(Key::Epic(*epic)).or_default();
    }
    // A heading over one line adds nothing.
    let is_alone = |key: &Key<'_>, places: &Vec<usize>| {
        let own = places.iter().filter(|place| parent(&members[**place]).is_none());
        matches!(key, Key::Workflow(_)) && own.count() == 1
    };
    let alone: Vec<usize> =
        groups.extract_if(.., |key, places| is_alone(key, places)).flat_map(|(_, places)| places).collect();
    if !alone.is_empty() {
        groups.entry(Key::Alone).or_default().extend(alone);
    }
    let missing = |key: &Key<'_>| unwritten.iter().filter(|epic| *key == Key::Epic(**epic)).count();
    let group =
        |(key, places)| EntryGroup { unwritten: missing(&key), ..group(&key, places, members, titles) };
    groups.into_iter().map(group).collect()
}

/// `a.md` for `a.delegations/b.md`.
pub fn parent_path(path: &ProjectPath) -> Option<String> {
    let (parent, _) = path.as_str().rsplit_once(".delegations/")?;
    Some(format!("{parent}.md"))
}

fn group(
    key: &Key<'_>,
    mut places: Vec<usize>,
    members: &[GroupMember<'_>],
    titles: &EpicTitles,
) -> EntryGroup {
    places.sort_by(|one, other| {
        let (one, other) = (&members[*one], &members[*other]);
        let order = |own: &GroupMember<'_>| own.ticket.as_ref().map(|(_, order)| *order);
        let by_number = one.story.cmp(&other.story).then_with(|| order(one).cmp(&order(other)));
        by_number.then_with(|| natural_order(&place_of(one.path), &place_of(other.path)))
    });
    let name = match key {
        Key::Alone => None,
        Key::Workflow(name) => Some(name.to_string()),
        Key::Epic(epic) => Some(epic_name(*epic, titles)),
        Key::Tickets(_, epic) => Some((*epic).to_owned()),
    };
    EntryGroup { name, places, unwritten: 0 }
}

/// Sorts delegated work after its parent.
fn place_of(path: &ProjectPath) -> String {
    path.as_str().replace(".delegations/", ".md/")
}

pub(super) fn epic_name(epic: u16, titles: &EpicTitles) -> String {
    titles.get(&epic).map_or_else(|| format!("Epic {epic}"), |title| format!("Epic {epic}: {title}"))
}

/// The shortest suffix of each path, in whole components without `.md`, that is unique in `all`.
pub fn short_names<'p>(
    shown: &[&'p ProjectPath],
    all: impl IntoIterator<Item = &'p ProjectPath>,
) -> Vec<String> {
    // Suffixes with the number of their paths.
    let mut ends: HashMap<&str, usize> =
        shown.iter().flat_map(|path| ends_of(path)).map(|end| (end, 0)).collect();
    for path in all {
        for end in ends_of(path) {
            match ends.get_mut(end) {
                Some(count) => *count += 1,
                // A path that shares no shorter suffix shares no longer one.
                None => break,
            }
        }
    }
    let shortest = |path: &&'p ProjectPath| {
        let is_unique = |end: &&str| ends.get(end) == Some(&1);
        ends_of(path).find(is_unique).unwrap_or(path.as_str()).to_owned()
    };
    shown.iter().map(shortest).collect()
}

/// Shortest first.
fn ends_of(path: &ProjectPath) -> impl Iterator<Item = &str> {
    let path = path.as_str();
    let stem = path.strip_suffix(".md").unwrap_or(path);
    let parts = stem.rmatch_indices('/').map(|(at, _)| &stem[at + 1..]);
    parts.chain([stem])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_project::SampleProject;
    use stepmark_model::summary::{ArtifactSummary, epic_titles};

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
            let members: Vec<_> = overview.entries.iter().map(GroupMember::from).collect();
            let groups = entry_groups(&members, &titles, &[]).into_iter();
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

    #[test]
    fn the_first_of_two_titles_counts() {
        let project = SampleProject::new();
        project.write("epics.md", "---\nstatus: draft\n---\n## Epic 1: Lend\n## Epic 1: Lend again\n");
        project.write("epics/epic-2.md", "---\nstatus: draft\ntitle: Return\n---\n");
        project.write("notes.md", "---\nstatus: draft\n---\n## Epic 4: No\n");
        let titles = epic_titles_of(&project);
        assert_eq!(titles, [(1, "Lend".to_owned()), (2, "Return".to_owned())].into());
    }

    fn epic_titles_of(project: &SampleProject) -> EpicTitles {
        let artifacts = project.workspace().artifacts().unwrap().artifacts;
        epic_titles(artifacts.iter().flat_map(|artifact| ArtifactSummary::of(artifact).epic_titles))
    }
}
