//! The steps before a request that only reads: no intent is noted for it.

use super::{
    ApplyError, Deferred, Notice, Report, Worker,
    admission::{self, Feedback, RequestAdmission},
};
use crate::{
    breaker::{Failure, Reason, Route},
    ledger::Lease,
    pace::Cost,
    plan::{Action, ActionKind, Plan},
    ticket::{Observed, RemoteTicket, Ticket},
    tracker::{Cursor, Listing, Page, RequestKind},
};

impl Worker<'_> {
    /// Waits until breakers and pace let a request through, and counts it; why it is held back, where that
    /// takes too long.
    pub(super) async fn admit_request(
        &mut self,
        lease: Option<&Lease>,
        route: &Route,
        cost: &Cost,
    ) -> Result<Option<Deferred>, ApplyError> {
        let settings = self.settings;
        loop {
            if self.stop.is_asked() {
                return Ok(Some(Deferred::Stopped));
            }
            let now = self.clock.now();
            let mut transaction = self.begin(lease)?;
            match admission::ask(&mut *transaction, route, cost, settings, now)? {
                RequestAdmission::Open => {
                    transaction.commit()?;
                    return Ok(None);
                }
                RequestAdmission::Refused { scope, until, cause } => {
                    return Ok(Some(Deferred::Refused { scope, until, cause }));
                }
                RequestAdmission::TooFast { until } => {
                    drop(transaction);
                    if !self.wait(lease, until).await? {
                        return Ok(Some(Deferred::TooFast { until }));
                    }
                }
            }
        }
    }
}

impl Worker<'_> {
    /// Asks a tracker that can tell what it will not take, and tells whoever listens. Where it does not
    /// answer, the requests themselves will say why.
    pub(super) async fn preflight(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        report: &mut Report,
    ) -> Result<(), ApplyError> {
        let tickets: Vec<(&Ticket, bool)> = plan.actions.iter().filter_map(asked_about).collect();
        let tracker = self.tracker;
        let Some(asked) = tracker.preflight(&tickets).filter(|_| !tickets.is_empty()) else { return Ok(()) };
        let route = self.tracker.route(RequestKind::Target, &[]);
        let cost = self.tracker.cost(RequestKind::Target, 0);
        if self.admit_request(Some(lease), &route, &cost).await?.is_some() {
            return Ok(());
        }
        let told = asked.await;
        let (now, settings) = (self.clock.now(), self.settings);
        let heard = Feedback { route: &route, failures: vec![told.as_ref().err()], budget: None };
        let mut transaction = self.begin(Some(lease))?;
        admission::tell(&mut *transaction, &heard, settings, now)?;
        transaction.commit()?;
        report.obstacles = told.unwrap_or_default();
        for obstacle in &report.obstacles {
            self.notice(&Notice::Obstacle(obstacle.clone()));
        }
        Ok(())
    }

    pub(super) fn notice(&self, notice: &Notice) {
        if let Some(tell) = &self.tell {
            tell(notice);
        }
    }
}

fn asked_about(action: &Action) -> Option<(&Ticket, bool)> {
    let is_new = action.kind == ActionKind::Create;
    let is_refusable = |field: &str| matches!(field, "status" | "state") || field.starts_with("fields.");
    let is_asked = is_new || action.differences.iter().any(|difference| is_refusable(&difference.field));
    Some((action.ticket.as_ref().filter(|_| is_asked)?, is_new))
}

/// The number of pages that are read at most: a tracker whose list never ends is not believed. A page has a
/// hundred tickets.
const PAGES: usize = 10_000;

/// The most pages that a list of everything is read for: 10,000 tickets of other people.
const PAGES_OF_ALL: usize = 100;

impl Listed {
    pub(super) fn extend(&mut self, more: Self) {
        self.tickets.extend(more.tickets);
        self.unmarked.extend(more.unmarked);
    }
}

#[derive(Default)]
pub(super) struct Listed {
    pub(super) tickets: Vec<Observed>,
    /// The titles and places of tickets with our label that have lost their marker.
    pub(super) unmarked: Vec<(String, RemoteTicket)>,
}

impl Worker<'_> {
    pub(super) async fn list(
        &mut self,
        lease: Option<&Lease>,
        project: &str,
        listing: Listing,
    ) -> Result<Result<Listed, Deferred>, ApplyError> {
        let route = self.tracker.route(RequestKind::List, &[]);
        let (mut listed, mut from): (Listed, Option<Cursor>) = Default::default();
        let pages = if listing == Listing::All { PAGES_OF_ALL } else { PAGES };
        for _ in 0..pages {
            let page = match self.page(lease, &route, (project, listing), from.as_ref()).await? {
                Ok(page) => page,
                Err(held) => return Ok(Err(held)),
            };
            let tickets = page.tickets.into_iter().filter(|ticket| ticket.marker.project() == project);
            listed.extend(Listed { tickets: tickets.collect(), unmarked: page.unmarked });
            match page.next {
                Some(next) if from.as_ref() != Some(&next) => from = Some(next),
                _ => return Ok(Ok(listed)),
            }
        }
        if listing == Listing::All {
            return Ok(Ok(listed));
        }
        let detail = format!("its list of tickets has more than {PAGES} pages");
        let endless = Failure::new(Reason::Unreadable, &detail);
        Ok(Err(Deferred::NotListed(endless)))
    }

    async fn page(
        &mut self,
        lease: Option<&Lease>,
        route: &Route,
        (project, listing): (&str, Listing),
        from: Option<&Cursor>,
    ) -> Result<Result<Page, Deferred>, ApplyError> {
        let settings = self.settings;
        let cost = self.tracker.cost(RequestKind::List, 0);
        if let Some(held) = self.admit_request(lease, route, &cost).await? {
            return Ok(Err(held));
        }
        self.requests += 1;
        let page = self.tracker.list(project, from, listing).await;
        let failures = vec![page.as_ref().err()];
        let budget = page.as_ref().ok().and_then(|page| page.budget);
        let now = self.clock.now();
        let mut transaction = self.begin(lease)?;
        admission::tell(&mut *transaction, &Feedback { route, failures, budget }, settings, now)?;
        transaction.commit()?;
        Ok(page.map_err(Deferred::NotListed))
    }
}
