//! What a worker tells while it works.

use std::sync::Arc;

use jiff::Timestamp;

/// What a worker tells while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It waits until then.
    Waits(Timestamp),
    /// Something of the plan will not work, and why. Nothing was written yet.
    Obstacle(String),
}

/// Whoever is told.
pub type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;
