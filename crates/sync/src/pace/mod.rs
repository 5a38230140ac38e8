//! How fast trackers are asked, pure: `(state, cost, now) → state or a moment to wait for`.

mod cost;
mod settings;
mod window;
mod state;
mod throttle;
#[cfg(test)]
mod cases;

pub use cost::{Cost, Counted};
pub use settings::{PaceSettings, RateLimit, ScopedPace};
pub use state::{Budget, Pace};
pub use throttle::Throttle;
pub use window::Window;
