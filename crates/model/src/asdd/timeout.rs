//! Agents that say they work and are silent.

use jiff::Timestamp;

use super::State;
use crate::records::{Signal, Signals, read_time};

/// An agent that says it works and has been silent for too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// The agent.
    pub agent: String,
    /// The slice that it works on.
    pub slice: Option<String>,
    /// The number of times that the time has run out.
    pub times: u64,
}

/// The agents that are silent for `seconds` or more. A status other than `ACTIVE` is no work.
pub fn timeouts(signals: &Signals, state: &State, now: Timestamp, seconds: u64) -> Vec<Timeout> {
    let timeout = |signal: &Signal| {
        let is_active = signal.status.as_deref().is_none_or(|status| status.eq_ignore_ascii_case("ACTIVE"));
        let silent = now.duration_since(read_time(&signal.at)?).as_secs();
        let times = u64::try_from(silent).unwrap_or_default() / seconds.max(1);
        let slice = signal.current.clone().filter(|id| state.slice(id).is_some());
        (is_active && times > 0).then(|| Timeout { agent: signal.agent.clone(), slice, times })
    };
    signals.values().filter_map(timeout).collect()
}
