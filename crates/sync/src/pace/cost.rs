//! What a request costs.

use serde::{Deserialize, Serialize};

/// What a request counts for, by every measure that trackers have (docs/formats.md, "Trackers").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// How many requests it is: 1.
    pub requests: u32,
    /// How many writes.
    pub writes: u32,
    /// How many tickets, comments and the like it creates.
    pub creations: u32,
    /// GitHub's secondary points: 1 for reading, 5 for writing.
    pub points: u32,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Requests of any kind.
    Requests,
    /// Writes.
    Writes,
    /// Things that are created.
    Creations,
    /// Points.
    Points,
}

impl Cost {
    /// A request that reads.
    pub const READ: Self = Self { requests: 1, writes: 0, creations: 0, points: 1 };
    /// A request that changes something.
    pub const WRITE: Self = Self { requests: 1, writes: 1, creations: 0, points: 5 };

    /// A request that creates `count` tickets.
    pub const fn create(count: u32) -> Self {
        Self { creations: count, ..Self::WRITE }
    }

    /// What it counts for by one measure.
    pub const fn of(&self, counted: Counted) -> u32 {
        match counted {
            Counted::Requests => self.requests,
            Counted::Writes => self.writes,
            Counted::Creations => self.creations,
            Counted::Points => self.points,
        }
    }
}
