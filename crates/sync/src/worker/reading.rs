//! What comes before a request that only reads: no intent is noted for it.

use super::{
    ApplyError, Held, Worker,
    gate::{self, Gate},
};
use crate::{breaker::Route, ledger::Lease, pace::Cost};

impl Worker<'_> {
    /// Waits until breakers and pace let a request through, and counts it; why it is held back, where that takes too long.
    pub(super) async fn pass_gate(
        &mut self,
        lease: Option<&Lease>,
        route: &Route,
        cost: &Cost,
    ) -> Result<Option<Held>, ApplyError> {
        let settings = self.settings;
        loop {
            if self.stop.is_asked() {
                return Ok(Some(Held::Stopped));
            }
            let now = self.clock.now();
            let mut transaction = self.begin(lease)?;
            match gate::ask(&mut *transaction, route, cost, settings, now)? {
                Gate::Open => {
                    transaction.commit()?;
                    return Ok(None);
                }
                Gate::Refused { scope, until, cause } => {
                    return Ok(Some(Held::Refused { scope, until, cause }));
                }
                Gate::TooFast { until } => {
                    drop(transaction);
                    if !self.wait(lease, until).await? {
                        return Ok(Some(Held::TooFast { until }));
                    }
                }
            }
        }
    }
}
