//! `trackers:` of `.stepmark/config.yaml`. The store keeps it as it is written; here it gets its meaning. No
//! credential stands in it.

mod base_url;
mod target;
mod policy;
mod fields;
mod tracker;
#[cfg(test)]
mod cases;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use stepmark_frontmatter::{Document, LineIndex, Node, NodeKind, Position, Region, Yaml};
use stepmark_store::configuration::{Configuration, UnknownKey, position_and_reason};

use self::tracker::{KINDS, Problem, TrackerKeys, TrackerKind, is_of_some_kind, known_keys};
use crate::TrackerName;

pub use base_url::{BaseUrl, BaseUrlError, Destination};
pub use policy::{Drift, Duplicates, Prune, RunSettings};
pub use target::{Repository, Target};
pub(crate) use tracker::reserved_for;
pub use tracker::{SettingsOwner, TrackerSettings};

/// The most trackers that a file may have.
const MOST_TRACKERS: usize = 100;

#[derive(Clone, Debug, Default)]
pub struct SyncConfiguration {
    /// The trackers, in the order of their names.
    pub trackers: Vec<TrackerSettings>,
    /// The keys under `trackers:` that have no effect.
    pub unknown_keys: Vec<UnknownKey>,
}

/// The reason why the trackers of the configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`{} cannot be used: {reason}", .path.display(), .position.map(|at| format!(":{at}")).unwrap_or_default())]
pub struct SyncConfigurationError {
    pub path: PathBuf,
    pub position: Option<Position>,
    pub reason: String,
}

impl SyncConfigurationError {
    pub(crate) fn at(path: &Path, error: &serde_yaml::Error) -> Self {
        let (position, reason) = position_and_reason(error);
        Self { path: path.to_owned(), position, reason }
    }
}

impl SyncConfiguration {
    /// The trackers that a project's configuration names. Of several files the nearest one that has
    /// `trackers:` counts.
    pub fn of(configuration: &Configuration) -> Result<Self, SyncConfigurationError> {
        let mut nearest = Self::default();
        let of_user = configuration.user_source().map(|(path, _)| path);
        for (path, bytes) in configuration.sources() {
            if let Some(mut read) = Self::read(path, bytes)? {
                if of_user == Some(path) {
                    read.trackers.iter_mut().for_each(|tracker| tracker.owner = SettingsOwner::User);
                }
                nearest = read;
            }
        }
        Ok(nearest)
    }

    /// The trackers that the file at `path`, which holds `bytes`, names; `None` where it has no
    /// `trackers:`.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Option<Self>, SyncConfigurationError> {
        #[derive(Deserialize)]
        #[serde(expecting = "a mapping of keys such as `trackers`")]
        struct File {
            trackers: Option<BTreeMap<TrackerName, Option<TrackerKeys>>>,
        }

        let document = Document::scan(bytes);
        let whole = Region::WholeFile.find(&document).unwrap_or_else(|_| document.body());
        let tree = Yaml::parse(bytes, whole);
        let written = tree.as_ref().ok().and_then(|tree| Written::of(path, bytes, tree));
        if let Some(written) = &written {
            written.check()?;
        }
        let mut ignored = Vec::new();
        let report = |key: serde_ignored::Path<'_>| ignored.push(way_to(&key));
        let yaml = serde_yaml::Deserializer::from_slice(bytes);
        let file: Option<File> = serde_ignored::deserialize(yaml, report)
            .map_err(|error| SyncConfigurationError::at(path, &error))?;
        let (Some(trackers), Some(written)) = (file.and_then(|file| file.trackers), written) else {
            return Ok(None);
        };
        let mut read = Self::default();
        for (name, keys) in trackers {
            let (tracker, unknown) = written.tracker(&name, keys.unwrap_or_default(), &ignored)?;
            read.trackers.push(tracker);
            read.unknown_keys.extend(unknown);
        }
        Ok(Some(read))
    }

    pub fn tracker(&self, name: &TrackerName) -> Option<&TrackerSettings> {
        self.trackers.iter().find(|tracker| tracker.name == *name)
    }
}

/// `trackers:` as a file has it.
struct Written<'f> {
    path: &'f Path,
    bytes: &'f [u8],
    tree: &'f Yaml<'f>,
    trackers: &'f Node<'f>,
}

impl<'f> Written<'f> {
    fn of(path: &'f Path, bytes: &'f [u8], tree: &'f Yaml<'f>) -> Option<Self> {
        let trackers = tree.root()?.get("trackers")?;
        let trackers = tree.target(trackers).unwrap_or(trackers);
        (!trackers.is_null()).then_some(Self { path, bytes, tree, trackers })
    }

    /// Refuses what is no mapping of trackers, each of which has a name of its own.
    fn check(&self) -> Result<(), SyncConfigurationError> {
        let names: Vec<&str> =
            self.trackers.entries().iter().filter_map(|entry| entry.key.as_key()).collect();
        if !matches!(self.trackers.kind, NodeKind::Mapping { .. }) {
            return Err(self.error(None, "a mapping of names to trackers is wanted".to_owned()));
        }
        if names.len() > MOST_TRACKERS {
            return Err(self.error(None, format!("there are more than {MOST_TRACKERS} trackers")));
        }
        match names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
            Some((_, name)) => Err(self.error(None, format!("the tracker `{name}` stands here twice"))),
            None => Ok(()),
        }
    }

    /// The tracker `name`, and its keys without effect; `ignored` are the ways to keys that no tracker has.
    fn tracker(
        &self,
        name: &TrackerName,
        keys: TrackerKeys,
        ignored: &[Vec<String>],
    ) -> Result<(TrackerSettings, Vec<UnknownKey>), SyncConfigurationError> {
        let kind = kind_of(name, keys.kind.as_deref());
        let kind_known = kind.as_ref().ok().copied();
        let unknown: Vec<_> =
            ignored.iter().filter_map(|way| self.unknown_key(name, kind_known, way)).collect();
        let read = kind.and_then(|kind| {
            // Whoever wrote a key of another kind of tracker believes that it has an effect.
            let is_foreign = |key: &&str| is_of_some_kind(key) && !kind.keys.contains(key);
            let keys_with_value = self.trackers.get(name.as_str()).map(|node| self.followed(node).entries());
            let keys_with_value =
                keys_with_value.into_iter().flatten().filter(|entry| !entry.value.is_null());
            match keys_with_value.filter_map(|entry| entry.key.as_key()).find(is_foreign) {
                Some(key) => Err(format!("the tracker `{name}` is of a kind that has no key `{key}`").into()),
                None => keys.assemble(name, kind),
            }
        });
        read.map(|tracker| (tracker, unknown.clone())).map_err(|problem| match problem {
            Problem { key: Some(key), reason } => {
                let value = self.trackers.get(name.as_str()).and_then(|node| self.followed(node).get(key));
                self.error(value, reason)
            }
            Problem { key: None, reason } => {
                let told =
                    |key: &UnknownKey| format!("; the key `{}` is not known{}", key.key, key.suggestion());
                self.error(None, reason + &unknown.iter().map(told).collect::<String>())
            }
        })
    }

    fn unknown_key(
        &self,
        name: &TrackerName,
        kind: Option<&TrackerKind>,
        way: &[String],
    ) -> Option<UnknownKey> {
        let (key, above) = way.split_last()?;
        let above: Vec<&str> = above.iter().map(String::as_str).collect();
        // The rest of the file is the store's.
        let ["trackers", tracker, below @ ..] = above.as_slice() else { return None };
        (*tracker == name.as_str()).then(|| {
            UnknownKey::new(&format!("{}.", above.join(".")), key, self.path, known_keys(below, kind))
        })
    }

    fn followed(&self, node: &'f Node<'f>) -> &'f Node<'f> {
        self.tree.target(node).unwrap_or(node)
    }

    /// The error at `node`; without one, at `trackers:`.
    fn error(&self, node: Option<&Node<'_>>, reason: String) -> SyncConfigurationError {
        let offset = node.unwrap_or(self.trackers).span.start;
        let position = Some(LineIndex::new(self.bytes).position(self.bytes, offset));
        SyncConfigurationError { path: self.path.to_owned(), position, reason }
    }
}

/// The kind of the tracker `name`, which may be left out where it is called like one.
fn kind_of(name: &TrackerName, named: Option<&str>) -> Result<&'static TrackerKind, Problem> {
    let word = named.unwrap_or(name.as_str());
    let listed = |last: &str| format!("`github`, `jira`, `file` {last} `dry`");
    KINDS.iter().find(|kind| kind.name == word).ok_or_else(|| match named {
        Some(_) => {
            let reason = format!("there is no kind of tracker `{word}`; there are {}", listed("and"));
            Problem { key: Some("kind"), reason }
        }
        None => format!("the tracker `{name}` needs the key `kind`: {}", listed("or")).into(),
    })
}

fn way_to(path: &serde_ignored::Path<'_>) -> Vec<String> {
    use serde_ignored::Path;
    let (parent, part) = match path {
        Path::Root => return Vec::new(),
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => {
            return way_to(parent);
        }
        Path::Seq { parent, index } => (parent, index.to_string()),
        Path::Map { parent, key } => (parent, key.clone()),
    };
    let mut way = way_to(parent);
    way.push(part);
    way
}
