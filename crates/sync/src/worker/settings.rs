//! How a worker works.

/// How a worker works, beside what the configuration says about its tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSettings {
    /// How many milliseconds the lease is kept after each transaction. Longer than the longest request.
    pub lease_ms: u64,
    /// How many milliseconds the worker waits altogether: for the lease, for the pace, and for what is in doubt. What would take longer is
    /// left for later. It never waits for a breaker.
    pub patience_ms: u64,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { lease_ms: 120_000, patience_ms: 60 * 60 * 1000 }
    }
}
