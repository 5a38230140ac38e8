//! What a process does when it is told something.

use crate::watch::Signal;

/// What it is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its work.
    #[default]
    Working,
    /// It finishes the requests in flight, to go on with another configuration.
    Changing,
    /// It finishes the requests in flight, to end.
    Ending,
}

/// What it does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// It reads its configuration, and where that can be used begins to change.
    ReadConfiguration,
    /// It begins to end.
    BeginToEnd,
    /// It ends now. What is in flight is looked up by whoever works next.
    EndNow,
    /// Nothing: it does that already.
    Nothing,
}

impl Phase {
    /// What is done about `signal` in this phase.
    pub(super) const fn react(self, signal: Signal) -> Reaction {
        match (self, signal) {
            (Self::Working, Signal::Reload) => Reaction::ReadConfiguration,
            (Self::Working | Self::Changing, Signal::Terminate) => Reaction::BeginToEnd,
            (Self::Ending, Signal::Terminate) => Reaction::EndNow,
            (Self::Changing | Self::Ending, Signal::Reload) => Reaction::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_insists_is_heard() {
        use Phase::{Changing, Ending, Working};
        use Reaction::{BeginToEnd, EndNow, Nothing, ReadConfiguration};
        for (phase, on_terminate, on_reload) in [
            (Working, BeginToEnd, ReadConfiguration),
            (Changing, BeginToEnd, Nothing),
            (Ending, EndNow, Nothing),
        ] {
            assert_eq!(
                (phase.react(Signal::Terminate), phase.react(Signal::Reload)),
                (on_terminate, on_reload),
                "{phase:?}"
            );
        }
    }
}
