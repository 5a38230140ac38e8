//! `sprint-status.yaml`: the ledger in which BMAD keeps the states of epics and stories (docs/formats.md).

use std::collections::{BTreeSet, HashMap, HashSet};

use super::LedgerKey;
use crate::artifact::ProjectPath;
use stepmark_frontmatter::{Document, Node, NodeKind, ParseError, Region, Yaml};

pub const SPRINT_STATUS_NAME: &str = "sprint-status.yaml";

const STORIES_FOLDER: &str = "stories";

pub(super) const STATES_KEY: &str = "development_status";

pub(super) const UPDATED_KEY: &str = "last_updated";

/// The statuses of stories and epics in a ledger: the words under `development_status`, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SprintStatus {
    states: HashMap<String, String>,
    /// All keys in the order of the file, also those without a word.
    keys: Vec<String>,
    structured: HashSet<String>,
    pub(super) updated: Option<String>,
    /// The work that retrospectives want and that is not done, by id.
    pub open_actions: Vec<String>,
}

impl SprintStatus {
    /// One without `development_status` says nothing; of a key that stands twice the first counts.
    pub fn read(bytes: &[u8]) -> Result<Self, ParseError> {
        let document = Document::scan(bytes);
        // A whole file always has itself.
        let whole = Region::WholeFile.find(&document).unwrap_or_else(|_| document.body());
        let yaml = Yaml::parse(bytes, whole)?;
        let updated = yaml.root().and_then(|root| root.get(UPDATED_KEY)?.text().map(str::to_owned));
        let actions = yaml.root().and_then(|root| root.get("action_items")).map(Node::items);
        let open = |own: &Node| {
            let is_done = own.get("status").and_then(Node::text) == Some("done");
            own.get("id").and_then(Node::text).filter(|_| !is_done).map(str::to_owned)
        };
        let open_actions = actions.unwrap_or_default().iter().filter_map(open).collect();
        let mut read = Self { updated, open_actions, ..Self::default() };
        for entry in yaml.root().and_then(|root| root.get(STATES_KEY)).map(Node::entries).unwrap_or_default()
        {
            let value = match entry.value.kind {
                NodeKind::Alias { .. } => yaml.target(&entry.value).unwrap_or(&entry.value),
                _ => &entry.value,
            };
            let Some(key) = entry.key.as_key().map(str::to_owned) else { continue };
            read.keys.push(key.clone());
            match value.text() {
                _ if value.is_null() => {}
                Some(word) => {
                    read.states.entry(key).or_insert_with(|| word.to_owned());
                }
                None => {
                    read.structured.insert(key);
                }
            }
        }
        Ok(read)
    }

    pub fn status(&self, key: &str) -> Option<&str> {
        self.states.get(key).map(String::as_str)
    }

    /// Returns whether the entry is a map or a list: more than a word, and nobody else can tell what.
    pub fn is_structured(&self, key: &str) -> bool {
        self.structured.contains(key)
    }

    /// The key of the entry about the file that is called `name` without its ending: the same, also where it
    /// has no word. For the spec of a story it is the only key with the same two numbers, as `bmad-build`
    /// finds it, whatever follows them.
    pub fn entry_of<'s>(&'s self, name: &'s str) -> Option<&'s str> {
        // Those without a word are few.
        if self.states.contains_key(name) || self.keys.iter().any(|own| own == name) {
            return Some(name);
        }
        let (wanted, slugged) = LedgerKey::of_name(name)?;
        if slugged == name {
            return None;
        }
        let mut same = self.keys.iter().filter(|key| LedgerKey::read(key) == Some(wanted));
        let first = same.next()?;
        same.all(|key| key == first).then_some(first)
    }

    /// The keys of the epics of these stories: both have one first part, but for upper and lower case.
    pub fn epics_of<'k>(&self, stories: impl Iterator<Item = &'k str>) -> HashSet<&str> {
        let first = |key: &'k str| Some(key.split_once('-')?.0.to_ascii_lowercase());
        let wanted: HashSet<String> = stories.filter_map(first).collect();
        let is_wanted = |key: &&str| {
            key.strip_prefix("epic-").is_some_and(|epic| wanted.contains(&epic.to_ascii_lowercase()))
        };
        self.keys().filter(is_wanted).collect()
    }

    /// The key that stands under the number of the story whose file is called `name`, but not under its name.
    pub fn namesake(&self, name: &str) -> Option<&str> {
        let key = LedgerKey::read(name).filter(|key| key.is_story() && self.entry_of(name).is_none())?;
        self.keys().find(|own| LedgerKey::read(own) == Some(key))
    }

    pub fn status_of(&self, name: &str) -> Option<&str> {
        self.status(self.entry_of(name)?)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(String::as_str)
    }

    pub fn is_at(path: &ProjectPath) -> bool {
        path.file_name() == SPRINT_STATUS_NAME
    }

    /// The places at which the stories may stand about which the ledger at `path` says something else after
    /// than before: beside it, or in the folder for them. One that is no YAML any more says something else
    /// about all of them.
    pub fn stories_that_differ(path: &ProjectPath, bytes: [Option<&[u8]>; 2]) -> Vec<ProjectPath> {
        // What no reader understands says nothing; a story that is asked about it makes it a finding.
        let read = |bytes: Option<&[u8]>| bytes.and_then(|bytes| Self::read(bytes).ok()).unwrap_or_default();
        let [before, after] = bytes.map(read);
        let keys: BTreeSet<&String> = before.states.keys().chain(after.states.keys()).collect();
        let differing = keys.into_iter().filter(|key| before.status(key) != after.status(key));
        differing.flat_map(|key| Self::story_places(path, key)).collect()
    }

    /// The places at which the story with `key` may stand of which the ledger at `path` tells.
    pub fn story_places(path: &ProjectPath, key: &str) -> Vec<ProjectPath> {
        let folder = path.parent();
        let beside = |name: String| match &folder {
            Some(folder) => folder.join(&name),
            None => ProjectPath::new(name),
        };
        // A spec may be called by other words behind the numbers; mostly it is called by those of its story.
        let names = [format!("{key}.md"), format!("{STORIES_FOLDER}/{key}.md"), format!("spec-{key}.md")];
        names.into_iter().filter_map(|name| beside(name).ok()).collect()
    }

    /// The places of the ledger of the story at `path`, nearest first: in its folder, or in the one above.
    pub fn places(path: &ProjectPath) -> Vec<ProjectPath> {
        let below = |folder: Option<&ProjectPath>| match folder {
            Some(folder) => folder.join(SPRINT_STATUS_NAME),
            None => ProjectPath::new(SPRINT_STATUS_NAME),
        };
        let own = path.parent();
        let mut places: Vec<ProjectPath> = below(own.as_ref()).into_iter().collect();
        if let Some(own) = own {
            places.extend(below(own.parent().as_ref()));
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_with_their_comments_left_out() {
        let ledger = SprintStatus::read(
            b"# STATUS\nproject: Lamp\ndevelopment_status:\n  # Epic 1\n  epic-1: in-progress\n  1-1-a: review  # waits\n  \
              1-2-b:\n  1-1-a: done\n",
        )
        .unwrap();
        assert_eq!(ledger.status("1-1-a"), Some("review"));
        assert_eq!((ledger.status("epic-1"), ledger.status("1-2-b")), (Some("in-progress"), None));
        assert_eq!(SprintStatus::read(b"").unwrap(), SprintStatus::default());
        assert!(SprintStatus::read(b"last_updated: today: noon\n").is_err());
    }

    #[test]
    fn a_map_or_a_list_is_an_entry_without_a_word() {
        let ledger = SprintStatus::read(
            b"development_status:\n  1-1-a: {status: done}\n  1-2-b: [done]\n  1-3-c:\n    status: done\n  1-4-d:\n  1-5-e: &m {a: b}\n  1-6-f: *m\n  1-7-g: ~\n",
        )
        .unwrap();
        for (key, is_structured) in [
            ("1-1-a", true),
            ("1-2-b", true),
            ("1-3-c", true),
            ("1-4-d", false),
            ("1-5-e", true),
            ("1-6-f", true),
            ("1-7-g", false),
        ] {
            assert_eq!(ledger.is_structured(key), is_structured, "{key}");
            assert_eq!((ledger.status(key), ledger.entry_of(key)), (None, Some(key)));
        }
    }

    #[test]
    fn a_spec_is_found_by_its_numbers_alone() {
        let ledger = SprintStatus::read(
            b"development_status: {3-1-a: done, 3-10-b: backlog, 3-2-c: backlog, 3-2-d: review, 3-4a-e: done, 3-1-a: done}\n",
        )
        .unwrap();
        for (name, expected) in [
            ("spec-3-1-other-words", Some("3-1-a")),
            ("spec-3-10-b", Some("3-10-b")),
            ("spec-3-2-c", None),
            ("spec-3-4-e", None),
            ("spec-3-4a-e", Some("3-4a-e")),
            ("spec-4-1-a", None),
            ("3-1-other-words", None),
            ("3-2-c", Some("3-2-c")),
        ] {
            assert_eq!(ledger.entry_of(name), expected, "{name}");
        }
    }

    #[test]
    fn tells_what_became_of_stories() {
        let path = ProjectPath::new("docs/sprint-status.yaml").unwrap();
        let differ = |states: [&str; 2]| {
            let [before, after] = states.map(|states| format!("development_status: {{{states}}}"));
            let places =
                SprintStatus::stories_that_differ(&path, [Some(before.as_bytes()), Some(after.as_bytes())]);
            let beside = places.iter().filter(|place| !place.as_str().contains("/stories/"));
            let names: Vec<String> = beside.map(|place| place.file_stem().to_owned()).collect();
            names.into_iter().filter(|name| !name.starts_with("spec-")).collect::<Vec<_>>()
        };
        let (before, after) = ("a: done, b: review, c: review", "a: done, b: done, d: backlog");
        assert_eq!(differ([before, after]), ["b", "c", "d"]);
        assert!(differ([after, after]).is_empty());
    }

    #[test]
    fn stands_beside_the_story_or_above() {
        let places = |path: &str| {
            let places = SprintStatus::places(&ProjectPath::new(path).unwrap());
            places.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            places("docs/stories/1-1-a.md"),
            ["docs/stories/sprint-status.yaml", "docs/sprint-status.yaml"]
        );
        assert_eq!(places("stories/1-1-a.md"), ["stories/sprint-status.yaml", "sprint-status.yaml"]);
        assert_eq!(places("1-1-a.md"), ["sprint-status.yaml"]);
    }
}
