//! `trackers:` of `.stepmark/config.yaml`. The store keeps it as it is written; here it gets its meaning. No
//! credential stands in it.

mod target;
mod policy;
mod tracker;
mod read;
#[cfg(test)]
mod cases;

use std::path::{Path, PathBuf};

use stepmark_frontmatter::Position;
use stepmark_store::configuration::{Configuration, UnknownKey, position_and_reason};

use crate::TrackerName;

pub use policy::{Drift, Duplicates, Prune, RunSettings};
pub use target::{BaseUrl, BaseUrlError, Destination, Repository, Target};
pub(crate) use tracker::reserved_for;
pub use tracker::{SettingsOwner, TrackerSettings};

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

    pub fn tracker(&self, name: &TrackerName) -> Option<&TrackerSettings> {
        self.trackers.iter().find(|tracker| tracker.name == *name)
    }
}
