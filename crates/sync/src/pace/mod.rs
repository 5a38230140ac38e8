//! The pace of requests, pure: `(state, cost, now) → state or a moment to wait for`.

mod settings;
mod state;
mod rate_limiter;
#[cfg(test)]
mod cases;

pub use rate_limiter::RateLimiter;
pub use settings::{Cost, Counted, PaceSettings, RateLimit, ScopedPace};
pub use state::{Budget, Pace, Window};
