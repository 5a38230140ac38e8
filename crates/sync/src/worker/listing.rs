//! Listing the tickets of a project, through breakers and pace like every request.

use super::{
    ApplyError, Held, Worker,
    gate::{self, Heard},
};
use crate::{
    breaker::{Failure, Reason, Route},
    ledger::Lease,
    ticket::Observed,
    tracker::{Cursor, Page, RequestKind},
};

/// How many pages are read at most: a tracker whose list never ends is not believed. A page has a hundred tickets.
const PAGES: usize = 10_000;

impl Worker<'_> {
    /// All tickets with the label of `project` and one of its markers, or why they cannot be listed.
    pub(super) async fn list(
        &mut self,
        lease: Option<&Lease>,
        project: &str,
    ) -> Result<Result<Vec<Observed>, Held>, ApplyError> {
        let route = self.tracker.route(RequestKind::List, &[]);
        let (mut tickets, mut from): (Vec<Observed>, Option<Cursor>) = (Vec::new(), None);
        for _ in 0..PAGES {
            let page = match self.page(lease, &route, project, from.as_ref()).await? {
                Ok(page) => page,
                Err(held) => return Ok(Err(held)),
            };
            tickets.extend(page.tickets.into_iter().filter(|ticket| ticket.marker.project() == project));
            match page.next {
                Some(next) if from.as_ref() != Some(&next) => from = Some(next),
                _ => return Ok(Ok(tickets)),
            }
        }
        let detail = format!("its list of tickets has more than {PAGES} pages");
        let endless = Failure::new(Reason::Unreadable, &detail);
        Ok(Err(Held::NotListed(endless)))
    }

    async fn page(
        &mut self,
        lease: Option<&Lease>,
        route: &Route,
        project: &str,
        from: Option<&Cursor>,
    ) -> Result<Result<Page, Held>, ApplyError> {
        let settings = self.settings;
        let cost = self.tracker.cost(RequestKind::List, 0);
        if let Some(held) = self.pass_gate(lease, route, &cost).await? {
            return Ok(Err(held));
        }
        self.requests += 1;
        let page = self.tracker.list(project, from).await;
        let failures = vec![page.as_ref().err()];
        let budget = page.as_ref().ok().and_then(|page| page.budget);
        let now = self.clock.now();
        let mut transaction = self.begin(lease)?;
        gate::tell(&mut *transaction, &Heard { route, failures, budget }, settings, now)?;
        transaction.commit()?;
        Ok(page.map_err(Held::NotListed))
    }
}
