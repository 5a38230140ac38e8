//! `trackers:` of `.stepmark/config.yaml`. Core keeps it as it is written; here it gets its meaning. No credential stands in it.

mod base_url;
mod repository;
mod target;
mod destination;
mod policy;
mod tracker_settings;
#[cfg(test)]
mod cases;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use stepmark_frontmatter::Position;
use stepmark_store::configuration::{Configuration, UnknownKey};

use self::tracker_settings::TrackerKeys;
use crate::TrackerName;

pub use base_url::{BaseUrl, BaseUrlError};
pub use destination::Destination;
pub use policy::{Drift, Duplicates, Prune};
pub use repository::Repository;
pub use target::{Target, TargetKind};
pub use tracker_settings::{SettingsOwner, TrackerSettings};

/// The trackers of a project.
#[derive(Clone, Debug, Default)]
pub struct SyncConfiguration {
    /// The trackers, in the order of their names.
    pub trackers: Vec<TrackerSettings>,
    /// What stands under `trackers:` without effect.
    pub unknown_keys: Vec<UnknownKey>,
}

/// Why the trackers of the configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`{} cannot be used: {reason}", .path.display(), .position.map(|at| format!(":{at}")).unwrap_or_default())]
pub struct SyncConfigurationError {
    /// The file.
    pub path: PathBuf,
    /// Where in it.
    pub position: Option<Position>,
    /// What is wrong there.
    pub reason: String,
}

impl SyncConfigurationError {
    /// What the reader of YAML says of the file at `path`.
    pub(crate) fn at(path: &Path, error: &serde_yaml::Error) -> Self {
        let position = error.location().map(|at| Position { line: at.line(), column: at.column() });
        let mut reason = error.to_string();
        if let Some(Position { line, column }) = position
            && let Some(plain) = reason.strip_suffix(&format!(" at line {line} column {column}"))
        {
            reason.truncate(plain.len());
        }
        Self { path: path.to_owned(), position, reason }
    }
}

impl SyncConfiguration {
    /// The trackers that a project's configuration names. Of several files the nearest one that has `trackers:` counts.
    ///
    /// # Errors
    /// When a value is not what stands for its key, with its place.
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

    /// The trackers that the file at `path`, which holds `bytes`, names; `None` where it has no `trackers:`.
    ///
    /// # Errors
    /// When a value is not what stands for its key, with its place.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Option<Self>, SyncConfigurationError> {
        let mut unknown_keys = Vec::new();
        let report = |key: serde_ignored::Path<'_>| {
            let key = spelled(&key);
            // The rest of the file is core's.
            if key.starts_with("trackers.") {
                unknown_keys.push(UnknownKey { key, file: path.to_owned() });
            }
        };
        let file = serde_yaml::Deserializer::from_slice(bytes);
        let file: Option<File> = serde_ignored::deserialize(file, report)
            .map_err(|error| SyncConfigurationError::at(path, &error))?;
        let trackers = file.and_then(|file| file.trackers).map(|trackers| trackers.0);
        Ok(trackers.map(|trackers| Self { trackers, unknown_keys }))
    }

    /// The tracker called `name`.
    pub fn tracker(&self, name: &TrackerName) -> Option<&TrackerSettings> {
        self.trackers.iter().find(|tracker| tracker.name == *name)
    }
}

/// The way to a key, as core spells it: `trackers.github.ticket.title`.
fn spelled(path: &serde_ignored::Path<'_>) -> String {
    // Options that are present add a `?` to the way.
    path.to_string().split('.').filter(|part| *part != "?").collect::<Vec<_>>().join(".")
}

#[derive(Deserialize)]
#[serde(expecting = "a mapping of keys such as `trackers`")]
struct File {
    trackers: Option<Trackers>,
}

struct Trackers(Vec<TrackerSettings>);

impl<'de> Deserialize<'de> for Trackers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Named;

        // Each is assembled inside the visitor: only there does an error get a place.
        impl<'de> Visitor<'de> for Named {
            type Value = Trackers;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a mapping of names to trackers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Trackers, A::Error> {
                let mut trackers: BTreeMap<TrackerName, TrackerSettings> = BTreeMap::new();
                while let Some((name, keys)) = entries.next_entry::<TrackerName, Option<TrackerKeys>>()? {
                    let tracker =
                        keys.unwrap_or_default().assemble(name.clone()).map_err(A::Error::custom)?;
                    if trackers.insert(name.clone(), tracker).is_some() {
                        return Err(A::Error::custom(format!("the tracker `{name}` stands here twice")));
                    }
                }
                Ok(Trackers(trackers.into_values().collect()))
            }
        }

        from.deserialize_map(Named)
    }
}
