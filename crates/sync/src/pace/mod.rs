//! How fast trackers are asked, pure: `(state, cost, now) → state or a moment to wait for`.

mod settings;
mod window;
mod state;
mod throttle;
#[cfg(test)]
mod cases;

pub use settings::{Cost, Counted};
pub use settings::{PaceSettings, RateLimit, ScopedPace};
pub use state::{Budget, Pace};
pub use throttle::Throttle;
pub use window::Window;
