//! The choice of the artifacts that have gates.

use std::time::Duration;

/// The facts that decide whether the gates of an artifact are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateUse {
    /// The artifact's workflow or status says that it is finished.
    pub is_finished: bool,
    /// The time since the file was last changed.
    pub age: Duration,
    /// A live lease, a running session or an open child belongs to it.
    pub is_in_use: bool,
}

impl GateUse {
    /// Returns whether the gates are kept: somebody uses the artifact, or it is unfinished and was changed
    /// within `window`.
    pub fn keeps_gates(self, window: Duration) -> bool {
        self.is_in_use || !self.is_finished && self.age <= window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_kept_where_somebody_works() {
        let window = Duration::from_secs(100);
        for (is_finished, seconds, is_in_use, expected) in [
            (false, 0, false, true),
            (false, 100, false, true),
            (false, 101, false, false),
            (true, 0, false, false),
            (true, 101, true, true),
            (false, 101, true, true),
        ] {
            let facts = GateUse { is_finished, age: Duration::from_secs(seconds), is_in_use };
            assert_eq!(facts.keeps_gates(window), expected, "{facts:?}");
        }
    }
}
