//! The input of all views, read at one moment.

mod tracker_state;
mod entry;
mod observe;

pub use entry::{Entry, StepBar, StepCell, TreeRow, transition_command};
pub use observe::{EVENTS, FindingRow, Observation, ObservedArtifacts};
pub use tracker_state::{
    BreakerState, DeliveryState, LeaderState, ObservedFlow, ObservedMemory, ObservedSlices, ObservedSystems,
    RememberedKind, TicketLink, TrackerState,
};
