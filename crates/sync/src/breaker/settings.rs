//! What a person chooses about breakers.

use serde::Deserialize;

/// `breaker:` of a tracker in the configuration. Every key may be missing; times are whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "a mapping with keys such as `failures` and `wait_seconds`")]
pub struct BreakerSettings {
    /// After how many failures, without a success between them, a breaker opens. At least 1.
    pub failures: u32,
    /// How long a failure counts.
    pub window_seconds: u32,
    /// How long a breaker stays open the first time; each time that a probe fails it is twice as long.
    pub wait_seconds: u32,
    /// How long it stays open at most, whatever the tracker says.
    pub longest_wait_seconds: u32,
    /// How long it stays open where only a person can fix what is wrong, unless it is reset.
    pub person_wait_seconds: u32,
    /// How many probes may be under way at a time while it is half open. At least 1.
    pub probes: u32,
    /// How many of them must succeed for it to close. At least 1.
    pub successes: u32,
    /// After how long a probe whose outcome nobody told is taken for lost.
    pub probe_seconds: u32,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            failures: 5,
            window_seconds: 60,
            wait_seconds: 30,
            longest_wait_seconds: 2 * 60 * 60,
            person_wait_seconds: 60 * 60,
            probes: 1,
            successes: 1,
            probe_seconds: 60,
        }
    }
}
