//! Everything that a view is made from, read at one moment.

mod finding_row;
mod observe;
mod tracker_state;

pub use finding_row::FindingRow;
pub use observe::{EVENTS, Observation, ObservationError};
pub use tracker_state::{BreakerState, DeliveryState, LeaderState, TicketLink, TrackerState};
