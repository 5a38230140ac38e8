//! What time it is, for events, leases and checkpoints.
#![expect(clippy::disallowed_methods, reason = "the edge at which the clock enters")]

use jiff::Timestamp;

/// Where times come from. Nothing is decided by them but the end of leases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The clock of the machine.
    #[default]
    System,
    /// Always the same time, for tests.
    Fixed(Timestamp),
}

impl Clock {
    /// Now, in whole milliseconds, as events keep it.
    pub fn now(self) -> Timestamp {
        let now = match self {
            Self::System => Timestamp::now(),
            Self::Fixed(time) => time,
        };
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}
