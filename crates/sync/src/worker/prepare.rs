//! Getting a batch ready: its grounds, breakers, pace and intents, in one transaction.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    ActionOutcome, ApplyError, Deferred, Report, Worker,
    admission::{self, RequestAdmission},
    admission::{Ground, Item},
    apply::hold,
    trial::Trials,
};
use crate::{
    breaker::Route,
    configuration::TrackerSettings,
    ledger::{Intent, IntentAction, Lease, LedgerError, LedgerWriter},
    plan::{Action, ActionKind},
    ticket::Marker,
    tracker::RequestKind,
};

pub(super) struct Prepared<'p> {
    pub(super) items: Vec<Item<'p>>,
    pub(super) route: Route,
}

/// The result of one attempt to get a batch ready.
enum Attempt<'p> {
    /// It is ready; `None` where nothing of it is to be asked for.
    Done(Option<Prepared<'p>>),
    /// The pace wants a wait. What does not wait for that is held.
    TooFast { until: Timestamp, items: Vec<Item<'p>>, held: Report },
}

impl Worker<'_> {
    /// Asks breakers and pace and notes the intents, in one transaction; waits where the pace wants that.
    pub(super) async fn prepare<'p>(
        &mut self,
        lease: &Lease,
        expected: &BTreeSet<&Marker>,
        batch: Batch<'p>,
        report: &mut Report,
    ) -> Result<Option<Prepared<'p>>, ApplyError> {
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
    ) -> Result<Attempt<'p>, LedgerError> {
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
                // The look-up has told of it.
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
) -> Result<(), LedgerError> {
    let action = match item.action.kind {
        // Closed twice is closed, and the intent of its marker is that of the ticket that counts.
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

/// The kind of request that an action needs; `None` for what is done in the ledger alone.
pub(super) const fn request(kind: ActionKind) -> Option<RequestKind> {
    match kind {
        ActionKind::LookUp | ActionKind::Adopt => None,
        ActionKind::Create => Some(RequestKind::Create),
        ActionKind::Update | ActionKind::Close | ActionKind::CloseDuplicate | ActionKind::Prune => {
            Some(RequestKind::Update)
        }
    }
}

/// Cuts actions into requests, in their order: of one kind, not larger than `size` says, one of each
/// artifact, and no child beside its parent, whose ticket it has to know.
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

/// Parts the first ticket that is made from the others, so that it is seen whether another machine makes the
/// same before all are there twice.
pub(super) fn part_first_creation(batches: &mut Vec<Batch<'_>>) {
    let Some(at) = batches.iter().position(|batch| batch.kind == RequestKind::Create) else { return };
    if batches[at].actions.len() > 1 {
        let first = batches[at].actions.remove(0);
        batches.insert(at, Batch { kind: RequestKind::Create, actions: vec![first] });
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
