//! `trackers:` of `.stepmark/config.yaml`, parsed. It holds no credentials.

mod target;
mod tracker;

use std::{collections::BTreeMap, path::Path, time::Duration};

use serde::Deserialize;
use stepmark_frontmatter::{Document, LineIndex, Node, NodeKind, Position, Region, Yaml};
use stepmark_store::configuration::{Configuration, UnknownKey, position_and_reason};

use self::tracker::{KINDS, Problem, TrackerKeys, TrackerKind, is_of_some_kind, known_keys};
use crate::{Error, ErrorKind, Result, TrackerName, scalar::one_of_two_words};

pub use target::{BaseUrl, Destination, Repository, Target};
pub(crate) use tracker::reserved_for;
pub use tracker::{SettingsOwner, TrackerSettings};

#[derive(Clone, Debug, Default)]
pub struct SyncConfiguration {
    pub trackers: Vec<TrackerSettings>,
    pub unknown_keys: Vec<UnknownKey>,
}

fn unusable(path: &Path, position: Option<Position>, reason: &str) -> Error {
    let position = position.map(|at| format!(":{at}")).unwrap_or_default();
    Error::new(ErrorKind::Io, format!("`{}`{position} cannot be used: {reason}", path.display()))
}

pub(crate) fn not_yaml(path: &Path, error: &serde_yaml::Error) -> Error {
    let (position, reason) = position_and_reason(error);
    unusable(path, position, &reason)
}

impl SyncConfiguration {
    /// Of several files the nearest one that has `trackers:` counts.
    pub fn of(configuration: &Configuration) -> Result<Self> {
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

    pub fn tracker(&self, name: &TrackerName) -> Option<&TrackerSettings> {
        self.trackers.iter().find(|tracker| tracker.name == *name)
    }
}

const MOST_TRACKERS: usize = 100;

impl SyncConfiguration {
    /// `None` if the file has no `trackers:`.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Option<Self>> {
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
        let file: Option<File> =
            serde_ignored::deserialize(yaml, report).map_err(|error| not_yaml(path, &error))?;
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
}

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

    fn check(&self) -> Result<()> {
        let entries = self.trackers.entries().iter();
        let trackers: Vec<(&str, &Node<'_>)> =
            entries.filter_map(|entry| Some((entry.key.as_key()?, self.followed(&entry.value)))).collect();
        if !matches!(self.trackers.kind, NodeKind::Mapping { .. }) {
            return Err(self.error(None, "a mapping of names to trackers is wanted".to_owned()));
        }
        if trackers.len() > MOST_TRACKERS {
            return Err(self.error(None, format!("there are more than {MOST_TRACKERS} trackers")));
        }
        for (place, (name, tracker)) in trackers.iter().enumerate() {
            if trackers[..place].iter().any(|(other, _)| other == name) {
                return Err(self.error(None, format!("the tracker `{name}` stands here twice")));
            }
            let named = tracker.get("kind").filter(|word| !word.is_null());
            let word = named.and_then(Node::as_key).unwrap_or(name);
            let Some(kind) = KINDS.iter().find(|kind| kind.name == word) else { continue };
            // An ignored key of another kind of tracker would mislead.
            let is_foreign = |key: &&str| is_of_some_kind(key) && !kind.keys.contains(key);
            let with_value = tracker.entries().iter().filter(|entry| !entry.value.is_null());
            if let Some(key) = with_value.filter_map(|entry| entry.key.as_key()).find(is_foreign) {
                let reason = format!("the tracker `{name}` is of a kind that has no key `{key}`");
                return Err(self.error(None, reason));
            }
        }
        Ok(())
    }

    /// `ignored` are the paths of keys that no tracker has.
    fn tracker(
        &self,
        name: &TrackerName,
        keys: TrackerKeys,
        ignored: &[Vec<String>],
    ) -> Result<(TrackerSettings, Vec<UnknownKey>)> {
        let kind = kind_of(name, keys.kind.as_deref());
        let kind_known = kind.as_ref().ok().copied();
        let unknown: Vec<_> =
            ignored.iter().filter_map(|way| self.unknown_key(name, kind_known, way)).collect();
        let read = kind.and_then(|kind| keys.assemble(name, kind));
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

    fn error(&self, node: Option<&Node<'_>>, reason: String) -> Error {
        let offset = node.unwrap_or(self.trackers).span.start;
        let position = Some(LineIndex::new(self.bytes).position(self.bytes, offset));
        unusable(self.path, position, &reason)
    }
}

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

/// Nothing flows back to artifacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drift {
    #[default]
    Overwrite,
    Report,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    #[default]
    Keep,
    Close,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    Report,
    /// Unless somebody else wrote in them.
    #[default]
    Close,
}

one_of_two_words!(Drift: "overwrite" => Overwrite, "report" => Report);
one_of_two_words!(Duplicates: "report" => Report, "close" => Close);
one_of_two_words!(Prune: "keep" => Keep, "close" => Close);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "a mapping with keys such as `pass_seconds` and `lease_seconds`")]
pub struct RunSettings {
    /// Seconds until everything is checked again, change or none: no watcher sees all changes. At least 1.
    pub pass_seconds: u32,
    pub quiet_ms: u32,
    /// A change is delivered after this time even if others follow.
    pub longest_quiet_ms: u32,
    /// The lease on running; it is renewed three times within this. Another process takes over after it even
    /// if the ledger cannot know that the holder died. From 1 to 600.
    pub lease_seconds: u32,
    pub patience_seconds: u32,
    /// The time that a stopping process may take for the request in flight.
    pub drain_seconds: u32,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            pass_seconds: 5 * 60,
            quiet_ms: 500,
            longest_quiet_ms: 5000,
            lease_seconds: 60,
            patience_seconds: 60,
            drain_seconds: 30,
        }
    }
}

impl RunSettings {
    pub fn pass_interval(&self) -> Duration {
        Duration::from_secs(u64::from(self.pass_seconds.max(1)))
    }

    pub fn lease_ms(&self) -> u64 {
        u64::from(self.lease_seconds.clamp(1, 600)) * 1000
    }

    /// The lease survives two renewals that failed.
    pub fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.lease_ms() / 3)
    }

    pub fn drain(&self) -> Duration {
        Duration::from_secs(u64::from(self.drain_seconds))
    }
}

#[cfg(test)]
mod cases;
