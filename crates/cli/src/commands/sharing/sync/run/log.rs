//! The log of a run (one line on stderr for each change of state), and the exchange with the service manager.

use std::{io, time::Duration};

use tracing::{Level, info, warn};
use tracing_subscriber::{
    Layer as _, filter::Targets, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use super::{super::report::named, LogFormat};
use crate::{exit::Failure, output::on_one_line, watch::Signal};
use stepmark_store::watching::WatchTrouble;
use stepmark_sync::{TrackerName, run::StatusChange};

/// Only stepmark's own lines: libraries might log more than they should.
pub(super) fn start(format: LogFormat) {
    let own = Targets::new().with_target("stepmark", Level::INFO);
    let layer = fmt::layer().with_writer(io::stderr).with_target(false).with_ansi(false);
    let layer = match format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    // Fails only where logging began already.
    let _begun = tracing_subscriber::registry().with(layer.with_filter(own)).try_init();
}

pub(super) fn notice(tracker: &TrackerName, notice: &StatusChange) {
    let tracker = tracker.as_str();
    match notice {
        StatusChange::Standby { holder } => {
            let holder = on_one_line(holder);
            info!(tracker, holder, "another process leads; this one waits to take over")
        }
        StatusChange::Leading { number } => info!(tracker, number, "leading"),
        StatusChange::LostLead { holder } => {
            let holder = on_one_line(holder);
            warn!(tracker, holder, "another process has taken over; this one waits")
        }
        StatusChange::Waits { holder } => {
            let holder = on_one_line(holder);
            info!(tracker, holder, "somebody else works on the tracker; what is to be done waits for that");
        }
        StatusChange::Done { kind, tickets, missing } => {
            let (artifacts, keys): (Vec<String>, Vec<String>) =
                tickets.iter().map(|(artifact, remote)| (artifact.clone(), remote.key.clone())).unzip();
            let (action, count, artifact, ticket) =
                (kind.name(), several(&artifacts), one_line(&artifacts), one_line(&keys));
            if missing.is_empty() {
                info!(tracker, action, count, artifact, ticket, "done");
            } else {
                let missing = on_one_line(&missing.join(", "));
                let message = "done, but the tracker left something out";
                warn!(tracker, action, count, artifact, ticket, missing, "{message}");
            }
        }
        StatusChange::Trouble { kind, artifacts, why, remedy } => {
            let (count, artifact, why) = (several(artifacts), one_line(artifacts), on_one_line(why));
            let message = match count {
                None => "a ticket cannot be delivered",
                Some(_) => "tickets cannot be delivered",
            };
            warn!(tracker, action = kind.name(), count, artifact, why, remedy, "{message}");
        }
        StatusChange::Outage { why, remedy } => {
            let why = on_one_line(why);
            warn!(tracker, why, remedy, "the tracker cannot be used; tickets follow when it can");
        }
        StatusChange::Recovered => info!(tracker, "the tracker can be used again"),
        StatusChange::Failing { why } => {
            let why = on_one_line(why);
            warn!(tracker, why, "no pass can be made; it is tried again");
        }
        StatusChange::Works => info!(tracker, "passes are made again"),
        StatusChange::Remarks { count } => {
            info!(tracker, count, "artifacts or tickets that need a look: `stepmark sync plan` names them");
        }
        StatusChange::LeftOut { paths, why } => {
            let (count, artifact, why) = (several(paths), one_line(paths), on_one_line(why));
            warn!(tracker, count, artifact, why, "no ticket follows it");
        }
        StatusChange::Stopped => info!(tracker, "stopped"),
    }
}

fn several(names: &[String]) -> Option<usize> {
    Some(names.len()).filter(|count| *count > 1)
}

/// With the number of the others.
fn one_line(names: &[String]) -> String {
    on_one_line(&named(names)).to_string()
}

pub(super) fn not_watched(trouble: &WatchTrouble) {
    match trouble {
        WatchTrouble::Nothing { why } => {
            let why = on_one_line(why);
            warn!(why, "changes cannot be watched for; they are found by regular passes");
        }
        WatchTrouble::Folder { why } => {
            let why = on_one_line(why);
            warn!(why, "a folder cannot be watched; changes in it are found by regular passes");
        }
    }
}

pub(super) fn failure(failure: &Failure, message: &'static str) {
    let mut why = on_one_line(&failure.message);
    for cause in &failure.causes {
        why = format!("{why}: {}", on_one_line(cause));
    }
    let help = failure.help.as_deref().map(on_one_line);
    warn!(why, help, "{message}");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServiceState {
    Ready,
    /// `Ready` follows.
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

/// Half of systemd's limit, as its manual advises.
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
    /// Finishes the requests in flight, then uses another configuration.
    Changing,
    /// Finishes the requests in flight, then ends.
    Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Then changes, if it is valid.
    ReadConfiguration,
    BeginToEnd,
    /// Requests in flight are looked up by the next worker.
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
