//! What a person chooses about retries.

use serde::Deserialize;

/// `retry:` of a tracker in the configuration. Every key may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "a mapping with keys such as `attempts` and `wait_ms`")]
pub struct RetrySettings {
    /// How often a delivery is tried before it is parked. At least 1.
    pub attempts: u32,
    /// How long the first wait is at most, in milliseconds. Each wait is at most twice the one before.
    pub wait_ms: u32,
    /// How long a wait is at most, in seconds.
    pub longest_wait_seconds: u32,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { attempts: 8, wait_ms: 1000, longest_wait_seconds: 300 }
    }
}
