//! Trackers as a file has them: with keys that every tracker may have, keys of its kind, and keys that have
//! no effect.

use std::{collections::BTreeMap, fmt, path::Path};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, Visitor},
};
use stepmark_store::configuration::UnknownKey;

use super::{
    SyncConfigurationError, TrackerSettings,
    kind::TrackerKind,
    own_keys::{KeyError, OwnKeys, position_of, read_at},
    tracker_settings::{TrackerKeys, known_keys},
};
use crate::TrackerName;

/// The most trackers that a file may have: each of its own keys is looked for in the whole file.
const MOST_TRACKERS: usize = 100;

pub(super) struct TrackerFile<'f> {
    pub(super) path: &'f Path,
    pub(super) bytes: &'f [u8],
    pub(super) name: &'f TrackerName,
    /// The ways from it to the keys that no tracker has, or not every one.
    pub(super) below: Vec<&'f [String]>,
}

impl<'f> TrackerFile<'f> {
    pub(super) fn tracker(
        &self,
        keys: TrackerKeys,
    ) -> Result<(TrackerSettings, Vec<UnknownKey>), SyncConfigurationError> {
        let name = self.name;
        let mut own: Vec<&str> = self.below.iter().filter(|way| way.len() == 1).map(|way| &*way[0]).collect();
        let kind = self.kind(keys.kind.as_deref());
        let unknown = self.unknown_keys(kind.as_ref().ok().copied());
        let told: String = unknown
            .iter()
            .map(|key| format!("; the key `{}` is not known{}", key.key, key.suggestion()))
            .collect();
        let kind = kind.map_err(|error| self.error(error, &told))?;
        // Whoever wrote a key of another kind of tracker believes that it has an effect.
        let is_foreign =
            |key: &&&str| !kind.keys().contains(*key) && TrackerKind::have(key) && self.has_value(key);
        if let Some(key) = own.iter().find(is_foreign) {
            let reason = format!("the tracker `{name}` is of a kind that has no key `{key}`");
            return Err(self.error(KeyError::Invalid { position: None, reason }, ""));
        }
        own.retain(|key| kind.keys().contains(key));
        let own = OwnKeys { file: self.bytes, tracker: name.as_str(), names: own };
        let tracker = keys.assemble(name, kind, &own).map_err(|error| self.error(error, &told))?;
        Ok((tracker, unknown))
    }

    /// Returns whether its key `key` has a value: one without is as one that is not there.
    fn has_value(&self, key: &str) -> bool {
        let way = ["trackers", self.name.as_str(), key];
        !matches!(read_at::<Option<IgnoredAny>>(self.bytes, &way), Ok(None | Some(None)))
    }

    /// Its kind, which may be left out where it is called like one.
    fn kind(&self, named: Option<&str>) -> Result<TrackerKind, KeyError> {
        let name = self.name;
        TrackerKind::named(named.unwrap_or(name.as_str())).ok_or_else(|| match named {
            Some(word) => {
                let position = position_of(self.bytes, &["trackers", name.as_str(), "kind"]);
                let listed = TrackerKind::listed("and");
                let reason = format!("there is no kind of tracker `{word}`; there are {listed}");
                KeyError::Invalid { position, reason }
            }
            None => {
                let listed = TrackerKind::listed("or");
                let reason = format!("the tracker `{name}` needs the key `kind`: {listed}");
                KeyError::Invalid { position: None, reason }
            }
        })
    }

    fn unknown_keys(&self, kind: Option<TrackerKind>) -> Vec<UnknownKey> {
        let unknown = self.below.iter().filter_map(|way| {
            let (key, way) = way.split_last()?;
            let way: Vec<&str> = way.iter().map(String::as_str).collect();
            let known = known_keys(&way, kind);
            let prefix: String = way.iter().map(|part| format!("{part}.")).collect();
            let prefix = format!("trackers.{}.{prefix}", self.name);
            // Where nobody knows its kind, it may be a key of that.
            let may_be_known = kind.is_none() && way.is_empty() && TrackerKind::have(key);
            (!known.contains(&&**key) && !may_be_known)
                .then(|| UnknownKey::new(&prefix, key, self.path, known))
        });
        unknown.collect()
    }

    fn error(&self, error: KeyError, told: &str) -> SyncConfigurationError {
        let (position, reason) = match error {
            KeyError::Missing { key } => {
                (None, format!("the tracker `{}` needs the key `{key}`{told}", self.name))
            }
            KeyError::Invalid { position: None, reason } => (None, format!("{reason}{told}")),
            KeyError::Invalid { position, reason } => (position, reason),
        };
        let position = position.or_else(|| position_of(self.bytes, &["trackers"]));
        SyncConfigurationError { path: self.path.to_owned(), position, reason }
    }
}

pub(super) fn way_to(path: &serde_ignored::Path<'_>) -> Vec<String> {
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

#[derive(Deserialize)]
#[serde(expecting = "a mapping of keys such as `trackers`")]
pub(super) struct File {
    trackers: Option<Trackers>,
}

impl File {
    /// The keys of each tracker, in the order of their names.
    pub(super) fn trackers(self) -> Option<Vec<(TrackerName, Option<TrackerKeys>)>> {
        self.trackers.map(|trackers| trackers.0)
    }
}

struct Trackers(Vec<(TrackerName, Option<TrackerKeys>)>);

impl<'de> Deserialize<'de> for Trackers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Named;

        impl<'de> Visitor<'de> for Named {
            type Value = Trackers;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a mapping of names to trackers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Trackers, A::Error> {
                let mut trackers = BTreeMap::new();
                while let Some((name, keys)) = entries.next_entry::<TrackerName, Option<TrackerKeys>>()? {
                    if trackers.insert(name.clone(), keys).is_some() {
                        return Err(A::Error::custom(format!("the tracker `{name}` stands here twice")));
                    }
                    if trackers.len() > MOST_TRACKERS {
                        return Err(A::Error::custom(format!(
                            "there are more than {MOST_TRACKERS} trackers"
                        )));
                    }
                }
                Ok(Trackers(trackers.into_iter().collect()))
            }
        }

        from.deserialize_map(Named)
    }
}
