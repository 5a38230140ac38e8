//! What of a plan will not work, told before anything is written.

use super::{
    ApplyError, Notice, Report, Worker,
    gate::{self, Heard},
};
use crate::{
    ledger::Lease,
    plan::{Action, ActionKind, Plan},
    ticket::Ticket,
    tracker::RequestKind,
};

impl Worker<'_> {
    /// Asks a tracker that can tell what it will not take, and tells whoever listens. Where it does not answer, the requests themselves
    /// will say why.
    pub(super) async fn preflight(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        report: &mut Report,
    ) -> Result<(), ApplyError> {
        let tickets: Vec<(&Ticket, bool)> = plan.actions.iter().filter_map(asked_about).collect();
        if tickets.is_empty() || !self.tracker.has_preflight() {
            return Ok(());
        }
        let route = self.tracker.route(RequestKind::Target, &[]);
        let cost = self.tracker.cost(RequestKind::Target, 0);
        if self.pass_gate(Some(lease), &route, &cost).await?.is_some() {
            return Ok(());
        }
        let told = self.tracker.preflight(&tickets).await;
        let (now, settings) = (self.clock.now(), self.settings);
        let heard = Heard { route: &route, failures: vec![told.as_ref().err()], budget: None };
        let mut transaction = self.begin(Some(lease))?;
        gate::tell(&mut *transaction, &heard, settings, now)?;
        transaction.commit()?;
        report.obstacles = told.unwrap_or_default();
        for obstacle in &report.obstacles {
            self.notice(&Notice::Obstacle(obstacle.clone()));
        }
        Ok(())
    }

    /// Tells whoever listens.
    pub(super) fn notice(&self, notice: &Notice) {
        if let Some(tell) = &self.tell {
            tell(notice);
        }
    }
}

/// The ticket of an action that the tracker may refuse for what it says, and whether it is new.
fn asked_about(action: &Action) -> Option<(&Ticket, bool)> {
    let is_new = action.kind == ActionKind::Create;
    let is_refusable = |field: &str| matches!(field, "status" | "standing") || field.starts_with("fields.");
    let is_asked = is_new || action.differences.iter().any(|difference| is_refusable(&difference.field));
    Some((action.ticket.as_ref().filter(|_| is_asked)?, is_new))
}
