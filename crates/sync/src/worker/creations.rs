//! Listing again while tickets are made: another machine may be making the same ones.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{
    Deferred, Report, Worker,
    admission::{self, Feedback},
};
use crate::{
    Result,
    breaker::Route,
    ledger::{Lease, Link},
    moment,
    plan::{Action, ActionKind, Plan},
    ticket::{Observed, RemoteTicket, Ticket},
    tracker::{Answer, Outcome, RequestKind},
};

/// A list is fresh for this long for each of its requests: whoever begins meanwhile sees in its own lists
/// that this machine makes tickets.
const FRESH_MS: u64 = 5 * 60 * 1000;

/// The least wait after meeting another machine that makes tickets. Up to as much is added at random, so that
/// one of the two goes on.
const BACK_OFF_MS: u64 = 10_000;

#[derive(Default)]
pub(super) struct Creations {
    /// Its begin; `None` if nothing was listed in this round.
    pub(super) listed_at: Option<Timestamp>,
    requests: usize,
    watch: Watch,
    pub(super) are_unseen: bool,
    pub(super) is_first: bool,
    made_at: Option<Timestamp>,
    pub(super) held: Option<Deferred>,
    pub(super) duplicates: Vec<Action>,
}

/// The list after the first request that makes tickets: shows if another machine makes the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Watch {
    #[default]
    Next,
    Now,
    Done,
}

impl Creations {
    pub(super) fn since(
        listed_at: Option<Timestamp>,
        held: Option<Deferred>,
        duplicates: Vec<Action>,
    ) -> Self {
        Self { listed_at, held, duplicates, ..Self::default() }
    }

    pub(super) fn made(&mut self, at: Timestamp) {
        (self.are_unseen, self.made_at) = (true, Some(at));
        if self.watch == Watch::Next {
            self.watch = Watch::Now;
        }
    }

    fn wants_list(&self, now: Timestamp) -> bool {
        let worth = FRESH_MS.saturating_mul(u64::try_from(self.requests.max(1)).unwrap_or(u64::MAX));
        let is_within = |at: Timestamp, limit| at <= now && moment::between(at, now) < limit;
        let is_fresh = self.listed_at.is_some_and(|at| {
            is_within(at, worth) && is_within(self.made_at.map_or(at, |made| made.max(at)), FRESH_MS)
        });
        !is_fresh || self.watch == Watch::Now
    }
}

impl Worker<'_> {
    /// Lists again if wanted, and waits while another machine makes tickets; see `creations.held`.
    pub(super) async fn before_creation(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        creations: &mut Creations,
        report: &mut Report,
    ) -> Result<()> {
        while creations.held.is_none() && creations.wants_list(self.clock.now()) {
            let shown_at = creations.made_at.map(|made_at| moment::after(made_at, self.lag_ms()));
            let shown_at = shown_at.filter(|_| creations.is_first && creations.watch == Watch::Now);
            if let Some(until) = shown_at.filter(|until| *until > self.clock.now())
                && !self.wait(Some(lease), until).await?
            {
                creations.held = Some(Deferred::Contended { until });
                return Ok(());
            }
            (creations.listed_at, creations.are_unseen) = (Some(self.clock.now()), false);
            if creations.watch == Watch::Now {
                creations.watch = Watch::Done;
            }
            let before = self.requests;
            let seen = self.look_again(lease, plan, report).await?;
            creations.requests = self.requests - before;
            let meets_other = seen.others > 0 || seen.lost > 0;
            creations.held = seen.held;
            creations.duplicates.extend(seen.duplicates);
            if meets_other {
                (creations.listed_at, creations.watch) = (None, Watch::Next);
                creations.held = self.back_off(lease).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn after_creations(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        creations: &mut Creations,
        report: &mut Report,
    ) -> Result<()> {
        while creations.are_unseen && !self.stop.is_asked() {
            let seen = self.look_again(lease, plan, report).await?;
            creations.duplicates.extend(seen.duplicates);
            let meets_other = seen.held.is_none() && seen.others + seen.lost > 0;
            creations.are_unseen = meets_other && self.back_off(lease).await?.is_none();
        }
        if let Some(made_at) = creations.made_at.filter(|_| creations.is_first || self.lag_ms() > 0) {
            let until = moment::after(made_at, self.settings.look_up_wait_ms());
            report.look_again_at = (until > self.clock.now()).then_some(until);
        }
        Ok(())
    }

    /// A random time, and until the list shows the tickets.
    async fn back_off(&mut self, lease: &Lease) -> Result<Option<Deferred>> {
        let wait_ms = self.lag_ms() + BACK_OFF_MS + (self.draw)().up_to(BACK_OFF_MS);
        let until = moment::after(self.clock.now(), wait_ms);
        let has_waited = self.wait(Some(lease), until).await?;
        Ok((!has_waited).then_some(Deferred::Contended { until }))
    }

    /// A new ticket may be missing in the list for this long.
    fn lag_ms(&self) -> u64 {
        if self.tracker.list_lags() { self.settings.look_up_wait_ms() } else { 0 }
    }
}

impl Worker<'_> {
    /// Reads unknown tickets that are to be closed. One that is gone is forgotten.
    pub(super) async fn make_known(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        report: &mut Report,
    ) -> Result<Vec<Action>> {
        let mut actions = plan.actions.clone();
        let mut unknown: Vec<&mut Action> = actions
            .iter_mut()
            .filter(|action| action.kind == ActionKind::Prune && action.ticket.is_none())
            .collect();
        let size = self.tracker.batch(RequestKind::Read).max(1);
        for some in unknown.chunks_mut(size) {
            let remotes: Vec<RemoteTicket> = some.iter().filter_map(|action| action.remote.clone()).collect();
            let markers: Vec<_> = some.iter().map(|action| action.marker.clone()).collect();
            let route = self.tracker.route(RequestKind::Read, &markers);
            match self.read(lease, &route, &remotes).await? {
                Err(held) => some
                    .iter()
                    .for_each(|action| report.tell(action.kind, &action.marker, held.clone().into())),
                Ok(answer) => self.learn(lease, some, answer, report)?,
            }
        }
        // Unknown tickets could not be read, and were reported.
        actions.retain(|action| action.kind != ActionKind::Prune || action.ticket.is_some());
        Ok(actions)
    }

    async fn read(
        &mut self,
        lease: &Lease,
        route: &Route,
        remotes: &[RemoteTicket],
    ) -> Result<Result<Answer<Option<Observed>>, Deferred>> {
        let settings = self.settings;
        let cost = self.tracker.cost(RequestKind::Read, remotes.len());
        if let Some(held) = self.admit_request(Some(lease), route, &cost).await? {
            return Ok(Err(held));
        }
        self.requests += 1;
        let answer = self.tracker.read(remotes).await;
        let now = self.clock.now();
        let failures = answer.outcomes.iter().map(Outcome::failure).collect();
        let heard = Feedback { route, failures, budget: answer.budget };
        let mut transaction = self.begin(Some(lease))?;
        admission::tell(&mut *transaction, &heard, settings, now)?;
        transaction.commit()?;
        Ok(Ok(answer))
    }

    fn learn(
        &mut self,
        lease: &Lease,
        actions: &mut [&mut Action],
        answer: Answer<Option<Observed>>,
        report: &mut Report,
    ) -> Result<()> {
        let name = self.settings.name.clone();
        let mut seen: BTreeMap<usize, Outcome<Option<Observed>>> =
            answer.outcomes.into_iter().enumerate().collect();
        let mut transaction = self.begin(Some(lease))?;
        for (at, action) in actions.iter_mut().enumerate() {
            match seen.remove(&at) {
                Some(Outcome::Done(Some(observed))) => {
                    let ticket = Ticket::of_gone(&observed);
                    if !observed.state.is_open() {
                        // Keep the content: it may be needed for comparison.
                        if let Some(link) = transaction.link(&name, &action.marker)? {
                            let link = Link { digest: Some(ticket.digest()), ..link };
                            transaction.put_link(&link, Some(&ticket))?;
                        }
                        continue;
                    }
                    action.digest = Some(ticket.digest());
                    action.ticket = Some(ticket);
                }
                Some(Outcome::Done(None)) => {
                    transaction.remove_link(&name, &action.marker)?;
                    transaction.remove_intent(&name, &action.marker)?;
                    report.tell(action.kind, &action.marker, super::ActionOutcome::NotThere);
                }
                Some(Outcome::Failed(failure) | Outcome::InDoubt(failure)) => {
                    report.tell(action.kind, &action.marker, Deferred::NotListed(failure).into());
                }
                None => report.tell(action.kind, &action.marker, Deferred::Unknown.into()),
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_is_followed_by_a_list_and_then_time_counts() {
        let at = |second: i64| Timestamp::from_second(1_700_000_000 + second).unwrap();
        let mut creations = Creations { listed_at: Some(at(0)), ..Default::default() };
        assert!(!creations.wants_list(at(1)));
        creations.made(at(1));
        assert!(creations.wants_list(at(2)), "another machine may make the same");
        creations.watch = Watch::Done;
        creations.made(at(3));
        assert!(!creations.wants_list(at(3)));
        assert!(creations.wants_list(at(303)) && creations.wants_list(at(-1)));
        creations.requests = 3;
        creations.made(at(800));
        assert!(!creations.wants_list(at(850)), "a long list is worth more");
        assert!(creations.wants_list(at(1100)), "nothing was made for a while");
        assert!(Creations::default().wants_list(at(0)));
    }
}
