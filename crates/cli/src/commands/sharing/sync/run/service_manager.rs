//! The exchange with the service manager of the system: what it asks of a process, and what it is told.

use std::time::Duration;

use crate::watch::Signal;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServiceState {
    Ready,
    /// It reads its configuration again; `Ready` follows.
    Reloading,
    Stopping,
    Alive,
}

#[cfg(target_os = "linux")]
pub(super) fn tell(state: ServiceState) {
    use sd_notify::NotifyState;
    let states = match state {
        ServiceState::Ready => vec![NotifyState::Ready],
        ServiceState::Reloading => {
            std::iter::once(NotifyState::Reloading).chain(NotifyState::monotonic_usec_now().ok()).collect()
        }
        ServiceState::Stopping => vec![NotifyState::Stopping],
        ServiceState::Alive => vec![NotifyState::Watchdog],
    };
    if let Err(error) = sd_notify::notify(&states) {
        tracing::warn!(error = %error, "systemd cannot be told that this process is {state:?}");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) const fn tell(_state: ServiceState) {}

/// Returns how often systemd wants to hear that the process lives; twice as often as it must, as the manual
/// advises.
#[cfg(target_os = "linux")]
pub(super) fn alive_interval() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|limit| limit / 2)
}

#[cfg(not(target_os = "linux"))]
pub(super) const fn alive_interval() -> Option<Duration> {
    None
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Working,
    /// It finishes the requests in flight, to go on with another configuration.
    Changing,
    /// It finishes the requests in flight, to end.
    Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// It reads its configuration, and where that can be used begins to change.
    ReadConfiguration,
    BeginToEnd,
    /// It ends now. What is in flight is looked up by whoever works next.
    EndNow,
    Nothing,
}

impl Phase {
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
