//! `trackers:` of `.stepmark/config.yaml`. The store keeps it as it is written; here it gets its meaning. No
//! credential stands in it.

mod target;
mod policy;
mod tracker;
mod read;
#[cfg(test)]
mod cases;

use std::path::Path;

use stepmark_frontmatter::Position;
use stepmark_store::configuration::{Configuration, UnknownKey, position_and_reason};

use crate::{Error, ErrorKind, Result, TrackerName};

pub use policy::{Drift, Duplicates, Prune, RunSettings};
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
    /// The trackers that a project's configuration names. Of several files the nearest one that has
    /// `trackers:` counts.
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
