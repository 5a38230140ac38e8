//! What systemd wants to know of a service (its manual, "sd_notify"). Without systemd all of this does nothing.

use std::time::Duration;

/// Something that systemd is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServiceState {
    /// It works.
    Ready,
    /// It reads its configuration again; `Ready` follows.
    Reloading,
    /// It ends.
    Stopping,
    /// It still lives.
    Alive,
}

/// Tells systemd.
#[cfg(target_os = "linux")]
pub(super) fn tell(standing: ServiceState) {
    use sd_notify::NotifyState;
    let states = match standing {
        ServiceState::Ready => vec![NotifyState::Ready],
        ServiceState::Reloading => {
            std::iter::once(NotifyState::Reloading).chain(NotifyState::monotonic_usec_now().ok()).collect()
        }
        ServiceState::Stopping => vec![NotifyState::Stopping],
        ServiceState::Alive => vec![NotifyState::Watchdog],
    };
    if let Err(error) = sd_notify::notify(&states) {
        tracing::warn!(error = %error, "systemd cannot be told that this process is {standing:?}");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) const fn tell(_standing: ServiceState) {}

/// How often systemd wants to hear that the process lives; twice as often as it must, as the manual advises.
#[cfg(target_os = "linux")]
pub(super) fn alive_interval() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|limit| limit / 2)
}

#[cfg(not(target_os = "linux"))]
pub(super) const fn alive_interval() -> Option<Duration> {
    None
}
