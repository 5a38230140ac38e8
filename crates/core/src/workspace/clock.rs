//! What time it is, for events, leases and checkpoints.
#![expect(clippy::disallowed_methods, reason = "the edge at which the clock enters")]

use std::{fmt, sync::Arc};

use jiff::Timestamp;

/// Where times come from. Nothing is decided by them but the end of leases.
#[derive(Clone, Default)]
pub enum Clock {
    /// The clock of the machine.
    #[default]
    System,
    /// Always the same time, for tests.
    Fixed(Timestamp),
    /// The clock of the program that embeds the library: see [`Clock::of`].
    Own(Arc<dyn Fn() -> Timestamp + Send + Sync>),
}

impl Clock {
    /// A clock of the caller's own. It is asked on any thread.
    pub fn of(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self::Own(Arc::new(now))
    }

    /// Now, in whole milliseconds, as events keep it.
    pub fn now(&self) -> Timestamp {
        let now = match self {
            Self::System => Timestamp::now(),
            Self::Fixed(time) => *time,
            Self::Own(now) => now(),
        };
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
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
