//! The current time for events, leases and checkpoints.
#![expect(clippy::disallowed_methods, reason = "the edge at which the clock enters")]

use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use jiff::Timestamp;

/// Only the end of leases depends on it.
#[derive(Clone, Default)]
pub enum Clock {
    #[default]
    System,
    Fixed(Timestamp),
    /// The caller's: see [`Clock::of`].
    Own(Arc<dyn Fn() -> Timestamp + Send + Sync>),
}

impl Clock {
    /// Called on any thread.
    pub fn of(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self::Own(Arc::new(now))
    }

    /// In whole milliseconds, as in events.
    pub fn now(&self) -> Timestamp {
        let now = match self {
            Self::System => of_system(SystemTime::now()),
            Self::Fixed(time) => *time,
            Self::Own(now) => now(),
        };
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}

/// Clamped to the valid range.
fn of_system(time: SystemTime) -> Timestamp {
    let bound = if time < UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::try_from(time).unwrap_or(bound)
}

impl fmt::Debug for Clock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => out.write_str("System"),
            Self::Fixed(time) => write!(out, "Fixed({time})"),
            Self::Own(_) => out.write_str("Own"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_beyond_the_calendar_is_at_its_end() {
        let year = Duration::from_secs(365 * 24 * 3600);
        for (time, expected) in [
            (UNIX_EPOCH, Timestamp::UNIX_EPOCH),
            (UNIX_EPOCH + 9000 * year, Timestamp::MAX),
            (UNIX_EPOCH - 20_000 * year, Timestamp::MIN),
        ] {
            assert_eq!(of_system(time), expected);
        }
        for time in [Timestamp::MAX, Timestamp::MIN] {
            assert_eq!(Clock::Fixed(time).now().as_second(), time.as_second());
        }
    }
}
