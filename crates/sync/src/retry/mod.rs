//! Deliveries that failed, pure: `(state, failure, now, chance) → state`. Nothing sleeps: a wait is a moment
//! in the ledger.

mod delivery;
mod wait;
#[cfg(test)]
mod cases;

pub use delivery::Delivery;
pub use wait::{Chance, Jitter, RetrySettings, named_wait};
