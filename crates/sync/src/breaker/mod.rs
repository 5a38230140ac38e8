//! Circuit breakers, pure: `(state, outcome, now) → state`. The reason of a failure decides what trips: a
//! host, a credential, a kind of request, or one ticket. They guard requests to trackers alone; local
//! commands never ask them.

mod reason;
mod state;
#[cfg(test)]
mod cases;

pub use reason::{Consequence, DETAIL_LIMIT, Failure, Reason, Retry, Trip};
pub use reason::{Route, Scope, ScopeKind};
pub use state::{Admission, Breaker, BreakerSettings, Outage};
pub use state::{Circuit, RouteAdmission};
