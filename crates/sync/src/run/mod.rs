//! A process that keeps tickets in step for as long as it lives.
//!
//! Flow: wait for the lead → a pass (read the artifacts, plan, carry out) → wait until something has changed,
//! a delivery is due, or it is time to look at everything again.
//!
//! Guarantees: of all processes of a project one leads for a tracker; when it dies, another takes over after
//! the lease. What happens meanwhile is one flag, however often it happens. Whatever fails is tried again;
//! nothing ends a run but its [`StopSignal`].
//!
//! [`StopSignal`]: crate::worker::StopSignal

mod change_reporter;
mod runner;
#[cfg(test)]
mod cases;

pub use change_reporter::{ChangeListener, ChangeSignal, RunEvent};
pub use change_reporter::{ChangeReporter, StatusChange};
pub use runner::{Pass, RunContext, leader_lease_name, run};

pub use crate::configuration::RunSettings;
