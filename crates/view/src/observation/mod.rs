//! Everything that a view is made from, read at one moment.

mod tracker_state;
mod entry;
mod finding_row;
mod observed_artifacts;
mod observed_memory;
mod observe;

pub use entry::{Entry, StepBar, StepCell, TreeRow, transition_command};
pub use finding_row::FindingRow;
pub use observe::{EVENTS, Observation, ObservationError};
pub use observed_artifacts::ObservedArtifacts;
pub use observed_memory::{ObservedFlow, ObservedMemory, ObservedSlices, ObservedSystems, RememberedKind};
pub use tracker_state::{BreakerState, DeliveryState, LeaderState, TicketLink, TrackerState};
