//! Deliveries that failed, pure: `(state, failure, now, chance) → state`. Nothing sleeps: a wait is a moment
//! in the ledger.

mod delivery;
#[cfg(test)]
mod cases;

pub use delivery::{Chance, Delivery, Jitter, RetrySettings, named_wait};
