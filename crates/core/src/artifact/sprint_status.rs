//! `sprint-status.yaml`: the ledger in which BMAD keeps the states of epics and stories (FORMATS.md §1).

use std::collections::{BTreeSet, HashMap};

use super::ProjectPath;
use crate::document::{Document, Node, NodeKind, ParseError, Region, Yaml};

/// What the file is called.
pub const SPRINT_STATUS_NAME: &str = "sprint-status.yaml";

/// The key that holds the states.
pub(crate) const STATES_KEY: &str = "development_status";

/// What a ledger says of stories and epics: the words under `development_status`, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SprintStatus {
    states: HashMap<String, String>,
    /// All keys in the order of the file, also those without a word.
    keys: Vec<String>,
}

impl SprintStatus {
    /// Reads the bytes of a ledger. One without `development_status` says nothing; of a key that stands twice the first counts.
    ///
    /// # Errors
    /// When they are no YAML, or beyond what is read.
    pub fn read(bytes: &[u8]) -> Result<Self, ParseError> {
        let document = Document::scan(bytes);
        // A whole file always has itself.
        let whole = Region::WholeFile.find(&document).unwrap_or_else(|_| document.body());
        let yaml = Yaml::parse(bytes, whole)?;
        let (mut states, mut keys) = (HashMap::new(), Vec::new());
        for entry in yaml.root().and_then(|root| root.get(STATES_KEY)).map(Node::entries).unwrap_or_default()
        {
            let value = match entry.value.kind {
                NodeKind::Alias { .. } => yaml.target(&entry.value).unwrap_or(&entry.value),
                _ => &entry.value,
            };
            keys.extend(entry.key.as_key().map(str::to_owned));
            if let (Some(key), Some(word)) = (entry.key.as_key(), value.text().filter(|_| !value.is_null())) {
                states.entry(key.to_owned()).or_insert_with(|| word.to_owned());
            }
        }
        Ok(Self { states, keys })
    }

    /// The word for the story or epic with this key.
    pub fn status(&self, key: &str) -> Option<&str> {
        self.states.get(key).map(String::as_str)
    }

    /// Whether there is an entry with this key, with or without a word.
    pub fn lists(&self, key: &str) -> bool {
        // Those without a word are few.
        self.states.contains_key(key) || self.keys.iter().any(|own| own == key)
    }

    /// All keys, in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(String::as_str)
    }

    /// The stories and epics about which `later` says something else.
    pub fn difference(&self, later: &Self) -> BTreeSet<String> {
        let keys = self.states.keys().chain(later.states.keys());
        keys.filter(|key| self.status(key) != later.status(key)).cloned().collect()
    }

    /// The places at which the ledger of the story at `path` may stand, the nearest first: in its folder, or in the one above.
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
    fn tells_what_became_of_stories() {
        let ledger = |states: &str| {
            SprintStatus::read(format!("development_status: {{{states}}}").as_bytes()).unwrap()
        };
        let (before, after) =
            (ledger("a: done, b: review, c: review"), ledger("a: done, b: done, d: backlog"));
        assert_eq!(before.difference(&after).into_iter().collect::<Vec<_>>(), ["b", "c", "d"]);
        assert!(after.difference(&after).is_empty());
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
