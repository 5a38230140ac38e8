//! Deliveries that failed, pure: `(state, failure, now, chance) → state`. Nothing sleeps: a wait is a moment in the ledger.

mod draw;
mod settings;
mod delivery;
mod wait;
#[cfg(test)]
mod cases;

pub use delivery::Delivery;
pub use draw::{Chance, Draw};
pub use settings::RetrySettings;
pub use wait::named_wait;
