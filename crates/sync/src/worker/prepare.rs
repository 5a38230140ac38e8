//! Preparing a batch: preconditions, breakers, pace and intents, in one transaction.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ActionOutcome, Deferred, Notice, Report, Worker,
    admission::{self, Feedback, Ground, Item, RequestAdmission},
    apply::hold,
    trial::Trials,
};
use crate::{
    Result,
    breaker::{Failure, Reason, Route},
    configuration::TrackerSettings,
    ledger::{Intent, IntentAction, Lease, LedgerWriter},
    pace::Cost,
    plan::{Action, ActionKind, Plan},
    ticket::{Marker, Observed, RemoteTicket, Ticket},
    tracker::{Cursor, Listing, Page, RequestKind},
};
use jiff::Timestamp;

pub(super) struct Prepared<'p> {
    pub(super) items: Vec<Item<'p>>,
    pub(super) route: Route,
}

enum Attempt<'p> {
    Done(Option<Prepared<'p>>),
    /// `held` reports the actions that do not wait for the pace.
    TooFast {
        until: Timestamp,
        items: Vec<Item<'p>>,
        held: Report,
    },
}

impl Worker<'_> {
    /// In one transaction; waits if the pace wants that.
    pub(super) async fn prepare<'p>(
        &mut self,
        lease: &Lease,
        expected: &BTreeSet<&Marker>,
        batch: Batch<'p>,
        report: &mut Report,
    ) -> Result<Option<Prepared<'p>>> {
        loop {
            match self.try_to_prepare(lease, expected, &batch, report)? {
                Attempt::Done(prepared) => return Ok(prepared),
                Attempt::TooFast { until, items, mut held } => {
                    if self.wait(Some(lease), until).await? {
                        continue;
                    }
                    hold(&mut held, tickets(&items), &Deferred::TooFast { until });
                    report.entries.append(&mut held.entries);
                    return Ok(None);
                }
            }
        }
    }

    fn try_to_prepare<'p>(
        &mut self,
        lease: &Lease,
        expected: &BTreeSet<&Marker>,
        batch: &Batch<'p>,
        report: &mut Report,
    ) -> Result<Attempt<'p>> {
        let (settings, tracker, now) = (self.settings, self.tracker, self.clock.now());
        let mut transaction = self.begin(Some(lease))?;
        let intents = transaction.intents(&settings.name)?.into_iter();
        let intents: BTreeMap<Marker, IntentAction> =
            intents.map(|intent| (intent.marker, intent.action)).collect();
        let ground = Ground { ledger: &*transaction, settings, expected, intents: &intents, now };
        let (mut items, mut held) = (Vec::new(), Report::default());
        let mut trials = Trials::read(&*transaction, &settings.name)?;
        for action in &batch.actions {
            match ground.check(action, &mut trials)? {
                Ok(item) => items.push(item),
                // The look-up reported it.
                Err(Deferred::Stale) if was_found(report, &action.marker) => {}
                Err(why) => held.tell(action.kind, &action.marker, why.into()),
            }
        }
        let markers: Vec<Marker> = items.iter().map(|item| item.action.marker.clone()).collect();
        let route = tracker.route(batch.kind, &markers);
        let cost = tracker.cost(batch.kind, items.len());
        let answer = match items.is_empty() {
            true => None,
            false => Some(admission::ask(&mut *transaction, &route, &cost, settings, now)?),
        };
        match answer {
            None => {}
            Some(RequestAdmission::Refused { scope, until, cause }) => {
                hold(&mut held, tickets(&items), &Deferred::Refused { scope, until, cause });
                items.clear();
            }
            Some(RequestAdmission::TooFast { until }) => return Ok(Attempt::TooFast { until, items, held }),
            Some(RequestAdmission::Open) => {
                for item in &items {
                    put_intent(&mut *transaction, settings, lease, item, now)?;
                }
                transaction.commit()?;
            }
        }
        report.entries.append(&mut held.entries);
        Ok(Attempt::Done((!items.is_empty()).then_some(Prepared { items, route })))
    }
}

fn tickets<'i>(items: &'i [Item<'_>]) -> impl Iterator<Item = (ActionKind, &'i Marker)> {
    items.iter().map(|item| (item.action.kind, &item.action.marker))
}

fn was_found(report: &Report, marker: &Marker) -> bool {
    report.of(marker).is_some_and(|entry| matches!(entry.outcome, ActionOutcome::Found { .. }))
}

fn put_intent(
    ledger: &mut dyn LedgerWriter,
    settings: &TrackerSettings,
    lease: &Lease,
    item: &Item<'_>,
    begun_at: Timestamp,
) -> Result<()> {
    let action = match item.action.kind {
        // Closing is idempotent, and the marker's intent is of the ticket that counts.
        ActionKind::CloseDuplicate => return Ok(()),
        ActionKind::Create => IntentAction::Create,
        _ => IntentAction::Update,
    };
    ledger.put_intent(&Intent {
        tracker: settings.name.clone(),
        marker: item.action.marker.clone(),
        action,
        digest: item.ticket.digest(),
        lease_number: lease.number,
        begun_at,
    })
}

#[derive(Debug)]
pub(super) struct Batch<'p> {
    pub(super) kind: RequestKind,
    pub(super) actions: Vec<&'p Action>,
}

pub(super) const fn request(kind: ActionKind) -> Option<RequestKind> {
    match kind {
        ActionKind::LookUp | ActionKind::Adopt => None,
        ActionKind::Create => Some(RequestKind::Create),
        ActionKind::Update | ActionKind::Close | ActionKind::CloseDuplicate | ActionKind::Prune => {
            Some(RequestKind::Update)
        }
    }
}

/// In order; each of one kind, within `size`, with one action of each artifact, and no child with its parent,
/// whose ticket it has to know.
pub(super) fn batches(actions: &[Action], size: impl Fn(RequestKind) -> usize) -> Vec<Batch<'_>> {
    let mut batches: Vec<Batch<'_>> = Vec::new();
    let mut inside: BTreeSet<&Marker> = BTreeSet::new();
    for action in actions {
        let Some(kind) = request(action.kind) else { continue };
        let parent = action.ticket.as_ref().and_then(|ticket| ticket.parent.as_ref());
        let meets = inside.contains(&action.marker) || parent.is_some_and(|parent| inside.contains(parent));
        match batches.last_mut() {
            Some(last) if last.kind == kind && last.actions.len() < size(kind).max(1) && !meets => {
                last.actions.push(action);
            }
            _ => {
                inside.clear();
                batches.push(Batch { kind, actions: vec![action] });
            }
        }
        inside.insert(&action.marker);
    }
    batches
}

/// The first creation goes alone, to see if another machine makes the same tickets.
pub(super) fn part_first_creation(batches: &mut Vec<Batch<'_>>) {
    let Some(at) = batches.iter().position(|batch| batch.kind == RequestKind::Create) else { return };
    if batches[at].actions.len() > 1 {
        let first = batches[at].actions.remove(0);
        batches.insert(at, Batch { kind: RequestKind::Create, actions: vec![first] });
    }
}

impl Worker<'_> {
    /// Waits for breakers and pace, and counts the request; `Some` if that takes too long or work is stopped.
    pub(super) async fn admit_request(
        &mut self,
        lease: Option<&Lease>,
        route: &Route,
        cost: &Cost,
    ) -> Result<Option<Deferred>> {
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
    /// Asks a tracker that can; without an answer the requests will say why.
    pub(super) async fn preflight(&mut self, lease: &Lease, plan: &Plan, report: &mut Report) -> Result<()> {
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

/// Of a hundred tickets each: a list that never ends is not believed.
const PAGES: usize = 10_000;

/// For a list of everything: 10,000 tickets of other people.
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
    /// Titles and places of tickets with our label but no marker.
    pub(super) unmarked: Vec<(String, RemoteTicket)>,
}

impl Worker<'_> {
    pub(super) async fn list(
        &mut self,
        lease: Option<&Lease>,
        project: &str,
        listing: Listing,
    ) -> Result<Result<Listed, Deferred>> {
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
    ) -> Result<Result<Page, Deferred>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::{
        Ticket,
        sample::{marker, ticket},
    };

    fn action(kind: ActionKind, id: &str, parent: Option<&str>) -> Action {
        let ticket = Ticket { parent: parent.map(marker), ..ticket(id, |_| {}) };
        let (digest, marker) = (Some(ticket.digest()), ticket.marker.clone());
        let (path, remote, base, differences) = (None, None, None, Vec::new());
        Action { kind, marker, path, remote, base, digest, ticket: Some(ticket), differences }
    }

    #[test]
    fn one_kind_one_size_and_parents_before_children() {
        use ActionKind::{Adopt, Close, Create, Update};
        let actions = [
            action(Adopt, "z", None),
            action(Create, "a", None),
            action(Create, "b", None),
            action(Create, "c", None),
            action(Create, "d", Some("c")),
            action(Create, "e", Some("a")),
            action(Update, "f", Some("a")),
            action(Close, "g", None),
            action(Close, "g", None),
        ];
        let cut: Vec<Vec<String>> = batches(&actions, |_| 3)
            .iter()
            .map(|batch| batch.actions.iter().map(|action| action.marker.to_string()).collect())
            .collect();
        let told: Vec<String> = cut.iter().map(|batch| batch.join(" ").replace("p/id:", "")).collect();
        assert_eq!(told, ["a b c", "d e", "f g", "g"]);
    }
}
