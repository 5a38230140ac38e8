//! Tickets to be closed of which nothing is known but where they are: found by their markers after their artifacts had gone.

use std::collections::BTreeMap;

use super::{
    ApplyError, Held, Report, Worker,
    gate::{self, Heard},
};
use crate::{
    breaker::Route,
    ledger::{Lease, Link},
    plan::{Action, ActionKind, Plan},
    ticket::{Observed, RemoteTicket, Ticket},
    tracker::{Answer, Outcome, RequestKind},
};

impl Worker<'_> {
    /// The actions of `plan`, where those that close a ticket of which nothing is known are told what it says. A ticket that is not there
    /// any more is forgotten.
    pub(super) async fn make_known(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        report: &mut Report,
    ) -> Result<Vec<Action>, ApplyError> {
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
        // What is still not known cannot be asked for, and was told of.
        actions.retain(|action| action.kind != ActionKind::Prune || action.ticket.is_some());
        Ok(actions)
    }

    async fn read(
        &mut self,
        lease: &Lease,
        route: &Route,
        remotes: &[RemoteTicket],
    ) -> Result<Result<Answer<Option<Observed>>, Held>, ApplyError> {
        let settings = self.settings;
        let cost = self.tracker.cost(RequestKind::Read, remotes.len());
        if let Some(held) = self.pass_gate(Some(lease), route, &cost).await? {
            return Ok(Err(held));
        }
        self.requests += 1;
        let answer = self.tracker.read(remotes).await;
        let now = self.clock.now();
        let failures = answer.outcomes.iter().map(Outcome::failure).collect();
        let heard = Heard { route, failures, budget: answer.budget };
        let mut transaction = self.begin(Some(lease))?;
        gate::tell(&mut *transaction, &heard, settings, now)?;
        transaction.commit()?;
        Ok(Ok(answer))
    }

    fn learn(
        &mut self,
        lease: &Lease,
        actions: &mut [&mut Action],
        answer: Answer<Option<Observed>>,
        report: &mut Report,
    ) -> Result<(), ApplyError> {
        let name = self.settings.name.clone();
        let mut seen: BTreeMap<usize, Outcome<Option<Observed>>> =
            answer.outcomes.into_iter().enumerate().collect();
        let mut transaction = self.begin(Some(lease))?;
        for (at, action) in actions.iter_mut().enumerate() {
            match seen.remove(&at) {
                Some(Outcome::Done(Some(observed))) => {
                    let ticket = Ticket::of_gone(&observed);
                    if !observed.standing.is_open() {
                        // It is as it should be, and what it says stays: somebody may look back at it.
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
                    report.tell(action.kind, &action.marker, super::Fate::NotThere);
                }
                Some(Outcome::Failed(failure) | Outcome::InDoubt(failure)) => {
                    report.tell(action.kind, &action.marker, Held::NotListed(failure).into());
                }
                None => report.tell(action.kind, &action.marker, Held::Unknown.into()),
            }
        }
        transaction.commit()?;
        Ok(())
    }
}
