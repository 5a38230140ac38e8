//! The pace of requests, pure: `(state, cost, now) → state or a moment to wait for`.

mod settings;
mod state;
#[cfg(test)]
mod cases;

pub use settings::{Cost, Counted, PaceSettings, RateLimit, ScopedPace};
pub use state::RateLimiter;
pub use state::{Budget, Pace, Window};
