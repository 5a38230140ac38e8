//! `trackers:` of `.stepmark/config.yaml`. The store keeps it as it is written; here it gets its meaning. No
//! credential stands in it.

mod base_url;
mod target;
mod policy;
mod own_keys;
mod kind;
mod tracker_settings;
mod tracker_file;
#[cfg(test)]
mod cases;

use std::path::{Path, PathBuf};

use stepmark_frontmatter::Position;
use stepmark_store::configuration::{Configuration, UnknownKey};

use self::tracker_file::{File, TrackerFile, way_to};
use crate::TrackerName;

pub use base_url::{BaseUrl, BaseUrlError, Destination};
pub(crate) use kind::reserved_for;
pub use policy::{Drift, Duplicates, Prune, RunSettings};
pub use target::{Repository, Target};
pub use tracker_settings::{SettingsOwner, TrackerSettings};

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

fn position_and_reason(error: &serde_yaml::Error) -> (Option<Position>, String) {
    let position = error.location().map(|at| Position { line: at.line(), column: at.column() });
    let mut reason = error.to_string();
    if let Some(Position { line, column }) = position
        && let Some(plain) = reason.strip_suffix(&format!(" at line {line} column {column}"))
    {
        reason.truncate(plain.len());
    }
    (position, reason)
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
        let mut ignored = Vec::new();
        let report = |key: serde_ignored::Path<'_>| ignored.push(way_to(&key));
        let yaml = serde_yaml::Deserializer::from_slice(bytes);
        let file: Option<File> = serde_ignored::deserialize(yaml, report)
            .map_err(|error| SyncConfigurationError::at(path, &error))?;
        let Some(written) = file.and_then(File::trackers) else { return Ok(None) };
        let mut read = Self::default();
        for (name, keys) in written {
            let keys = keys.unwrap_or_default();
            // The rest of the file is the store's.
            let below = ignored.iter().filter_map(|way| match way.as_slice() {
                [root, tracker, way @ ..] if root == "trackers" && tracker == name.as_str() => Some(way),
                _ => None,
            });
            let file = TrackerFile { path, bytes, name: &name, below: below.collect() };
            let (tracker, unknown) = file.tracker(keys)?;
            read.trackers.push(tracker);
            read.unknown_keys.extend(unknown);
        }
        Ok(Some(read))
    }

    pub fn tracker(&self, name: &TrackerName) -> Option<&TrackerSettings> {
        self.trackers.iter().find(|tracker| tracker.name == *name)
    }
}
