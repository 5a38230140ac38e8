//! Choices of a person: the treatment of tickets that exist, and the work of the background process.

use std::time::Duration;

use serde::Deserialize;

use crate::scalar::one_of_two_words;

/// The treatment of a managed field that a person changed in the tracker: nothing flows back to artifacts.
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
    /// They are closed as duplicates, where nobody else wrote in them.
    #[default]
    Close,
}

one_of_two_words!(Drift: "overwrite" => Overwrite, "report" => Report);
one_of_two_words!(Duplicates: "report" => Report, "close" => Close);
one_of_two_words!(Prune: "keep" => Keep, "close" => Close);

/// `run:` of a tracker in the configuration. Every key may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "a mapping with keys such as `pass_seconds` and `lease_seconds`")]
pub struct RunSettings {
    /// The seconds until all is looked at again, change or none: no watcher sees all of them. At least 1.
    pub pass_seconds: u32,
    /// The time in which nothing must change before a change is delivered.
    pub quiet_ms: u32,
    /// After how long a change is delivered although others follow.
    pub longest_quiet_ms: u32,
    /// The time that the right to run is kept; three times in this it is renewed, and another process asks
    /// whether the first still lives. After this it takes over even where the ledger cannot know that. From 1
    /// to 600.
    pub lease_seconds: u32,
    /// The time that a pass waits for the pace of the tracker before what is left is planned anew.
    pub patience_seconds: u32,
    /// The time that a process that is told to stop may take for the request in flight.
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

    /// After how long the lease is renewed: it survives two renewals that failed.
    pub fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.lease_ms() / 3)
    }

    pub fn drain(&self) -> Duration {
        Duration::from_secs(u64::from(self.drain_seconds))
    }
}
