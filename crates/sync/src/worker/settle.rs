//! Stores the outcomes of requests.

use std::sync::atomic::Ordering;

use super::{
    ActionOutcome, Report, Worker,
    admission::{self, Feedback, Item},
    begin, give_back, trial, try_lease,
};
use crate::{
    Error, ErrorKind, Result, TrackerName,
    breaker::{Breaker, Failure, Reason, Route, Scope, ScopeKind},
    configuration::TrackerSettings,
    ledger::{Intent, IntentAction, Lease, Ledger, LedgerReader, LedgerWriter, Link, TrackerRecord},
    moment,
    pace::Pace,
    plan::{ActionKind, Remark},
    retry::{Delivery, Jitter},
    ticket::{Marker, TicketDigest},
    tracker::{Answer, Delivered, Outcome},
};
use jiff::Timestamp;

#[derive(Debug)]
struct Try {
    now: Timestamp,
    draw: Jitter,
    is_probe: bool,
    brought_back: usize,
}

impl Worker<'_> {
    pub(super) fn write_down(
        &mut self,
        lease: &Lease,
        items: &[Item<'_>],
        route: &Route,
        answer: Answer<Delivered>,
        report: &mut Report,
    ) -> Result<()> {
        let (settings, now) = (self.settings, self.clock.now());
        let draws: Vec<Jitter> = items.iter().map(|_| (self.draw)()).collect();
        let mut transaction = self.begin(Some(lease))?;
        let lost: Vec<Option<Failure>> =
            items.iter().zip(&answer.outcomes).map(|(item, outcome)| lost_label(item, outcome)).collect();
        let own = answer.outcomes.iter().map(Outcome::failure);
        let failures = own.zip(&lost).map(|(failure, lost)| failure.or(lost.as_ref())).collect();
        let heard = Feedback { route, failures, budget: answer.budget };
        let is_probe = admission::is_probe(&*transaction, route)?;
        admission::tell(&mut *transaction, &heard, settings, now)?;
        let mut told = Report::default();
        for ((item, outcome), draw) in items.iter().zip(answer.outcomes).zip(draws) {
            if let Outcome::Done(Delivered { remote, is_overwritten: true, .. }) = &outcome {
                let (marker, remote) = (item.action.marker.clone(), remote.clone());
                let artifact = item.action.path.as_ref().map(ToString::to_string);
                let artifact = artifact.unwrap_or_else(|| item.ticket.title.clone());
                told.remark(Remark::Overwritten { marker, artifact, remote });
            }
            let mut this_try = Try { now, draw, is_probe, brought_back: 0 };
            let outcome = settle(&mut *transaction, settings, item, outcome, &mut this_try)?;
            told.brought_back += this_try.brought_back;
            told.tell(item.action.kind, &item.action.marker, outcome);
        }
        transaction.commit()?;
        if let Some(done) = self.done {
            done.fetch_add(told.entries.len(), Ordering::Relaxed);
        }
        report.brought_back += told.brought_back;
        report.entries.append(&mut told.entries);
        report.remarks.append(&mut told.remarks);
        Ok(())
    }
}

/// A new ticket without the project's label is never found again, so no more are made until a person has
/// fixed the credential.
fn lost_label(item: &Item<'_>, outcome: &Outcome<Delivered>) -> Option<Failure> {
    let Outcome::Done(delivered) = outcome else { return None };
    if item.action.kind != ActionKind::Create {
        return None;
    }
    let own = item.action.marker.label();
    let is_own =
        |label: &serde_json::Value| label.as_str().is_some_and(|label| label.eq_ignore_ascii_case(&own));
    let labels = delivered.missing.iter().find(|missing| missing.field == "labels")?.before.as_array()?;
    let detail =
        format!("it dropped the label `{own}` of {}, by which tickets are found again", delivered.remote.key);
    (!labels.iter().any(is_own)).then(|| Failure::new(Reason::Forbidden, &detail))
}

fn settle(
    ledger: &mut dyn LedgerWriter,
    settings: &TrackerSettings,
    item: &Item<'_>,
    outcome: Outcome<Delivered>,
    this_try: &mut Try,
) -> Result<ActionOutcome> {
    let Try { now, draw, is_probe, .. } = *this_try;
    let (name, marker) = (&settings.name, &item.action.marker);
    if item.action.kind == ActionKind::CloseDuplicate {
        return Ok(of_duplicate(outcome));
    }
    let failed = |ledger: &mut dyn LedgerWriter, failure: &Failure| {
        let before = ledger.delivery(name, marker)?;
        let digest = item.ticket.digest();
        let is_of_outage = is_probe && failure.reason.consequence().scope == ScopeKind::Host;
        let delivery = match is_of_outage {
            true => before.postponed(failure.clone(), now),
            false => before.failed(failure.clone(), digest, now, draw, &settings.retry),
        };
        ledger.put_delivery(name, marker, &delivery)?;
        Ok::<_, Error>(delivery)
    };
    match outcome {
        Outcome::Done(delivered) => match link(ledger, settings, item, &delivered, now) {
            // A ticket of another artifact cannot be the right answer.
            Err(Error { kind: ErrorKind::LinkedElsewhere { .. }, message, .. }) => {
                let failure = Failure::new(Reason::Unreadable, &message);
                failed(ledger, &failure)?;
                Ok(ActionOutcome::InDoubt { failure })
            }
            Err(error) => Err(error),
            Ok(()) => {
                ledger.remove_intent(name, marker)?;
                let before = ledger.delivery(name, marker)?;
                ledger.put_delivery(name, marker, &Delivery::Due)?;
                if let Some(passed) = before.cause() {
                    this_try.brought_back += trial::bring_back(ledger, name, |cause| cause == passed)?;
                }
                if item.action.kind == ActionKind::Create {
                    let record = TrackerRecord { created_at: Some(now), ..ledger.record(name)? };
                    ledger.put_record(name, &record)?;
                }
                Ok(ActionOutcome::Done { remote: delivered.remote, missing: delivered.missing })
            }
        },
        Outcome::Failed(failure) => {
            // An earlier change may still have been made: the ticket is not known to say what is remembered.
            if !item.was_in_doubt {
                ledger.remove_intent(name, marker)?;
            }
            let delivery = failed(ledger, &failure)?;
            Ok(ActionOutcome::Failed { failure, delivery })
        }
        Outcome::InDoubt(failure) => {
            failed(ledger, &failure)?;
            if item.action.kind == ActionKind::Create {
                // Another machine may have made one that no list shows yet.
                let record = TrackerRecord { created_at: Some(now), ..ledger.record(name)? };
                ledger.put_record(name, &record)?;
            }
            Ok(ActionOutcome::InDoubt { failure })
        }
    }
}

fn link(
    ledger: &mut dyn LedgerWriter,
    settings: &TrackerSettings,
    item: &Item<'_>,
    delivered: &Delivered,
    now: Timestamp,
) -> Result<()> {
    let (name, marker) = (&settings.name, &item.action.marker);
    let linked_at = ledger.link(name, marker)?.map_or(now, |link| link.linked_at);
    // One change may bring what a creation left out; what a change left out, another would leave out again.
    let is_known = delivered.missing.is_empty() || item.action.kind != ActionKind::Create;
    let (tracker, marker, remote) = (name.clone(), marker.clone(), delivered.remote.clone());
    let digest = is_known.then(|| item.ticket.digest());
    let link = Link { tracker, marker, remote, digest, linked_at };
    ledger.put_link(&link, is_known.then_some(item.ticket))
}

fn of_duplicate(outcome: Outcome<Delivered>) -> ActionOutcome {
    match outcome {
        Outcome::Done(Delivered { remote, missing, .. }) => ActionOutcome::Done { remote, missing },
        Outcome::Failed(failure) => ActionOutcome::Failed { failure, delivery: Delivery::Due },
        Outcome::InDoubt(failure) => ActionOutcome::InDoubt { failure },
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reset {
    pub breakers: Vec<Scope>,
    pub paces: Vec<Scope>,
    pub deliveries: Vec<Marker>,
}

/// Closes all breakers, forgets the use of limits and what trackers said is left, and makes the waiting
/// tickets of `trackers` due. Parked ones stay parked.
pub fn reset(ledger: &mut dyn Ledger, trackers: &[&TrackerName]) -> Result<Reset> {
    let mut transaction = ledger.write()?;
    let mut reset = Reset::default();
    for (scope, _) in transaction.breakers()? {
        transaction.put_breaker(&scope, &Breaker::default())?;
        reset.breakers.push(scope);
    }
    for (scope, _) in transaction.paces()? {
        transaction.put_pace(&scope, &Pace::default())?;
        reset.paces.push(scope);
    }
    for tracker in trackers {
        for (marker, delivery) in transaction.deliveries(tracker)? {
            if delivery.until().is_some() {
                transaction.put_delivery(tracker, &marker, &Delivery::Due)?;
                reset.deliveries.push(marker);
            }
        }
    }
    transaction.commit()?;
    Ok(reset)
}

/// The latest time in the ledger, if it is later than `now` can be: the clock was ahead and has been set
/// back.
pub fn clock_was_ahead(
    ledger: &dyn LedgerReader,
    tracker: &TrackerName,
    now: Timestamp,
) -> Result<Option<Timestamp>> {
    let links = ledger.links(tracker)?.into_iter().map(|link| link.linked_at);
    let intents = ledger.intents(tracker)?.into_iter().map(|intent| intent.begun_at);
    let deliveries = ledger.deliveries(tracker)?.into_iter().filter_map(|(_, own)| own.noted_at());
    let breakers = ledger.breakers()?.into_iter().filter_map(|(_, own)| own.noted_at());
    let paces = ledger.paces()?.into_iter().filter_map(|(_, own)| own.noted_at());
    let record = ledger.record(tracker)?;
    let record = [record.asked_at, record.listed_at, record.created_at].into_iter().flatten();
    let noted = links.chain(record).chain(intents).chain(deliveries).chain(breakers).chain(paces);
    Ok(noted.filter(|noted| !moment::may_be_past(*noted, now)).max())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostLink {
    /// The ticket is searched by its marker, and made anew if it is certainly gone.
    Forgotten,
    Kept,
}

/// Longer than a transaction; others cannot work meanwhile.
const LEASE_MS: u64 = 60_000;

/// Each ticket with what it should say; returns the former deliveries.
pub fn retry(
    ledger: &mut dyn Ledger,
    (tracker, tickets): (&TrackerName, &[(Marker, TicketDigest)]),
    lost: LostLink,
    holder: &str,
    now: Timestamp,
) -> Result<Vec<Delivery>> {
    let lease = try_lease(ledger, tracker.as_str(), holder, now, LEASE_MS)?;
    let mut transaction = begin(ledger, &lease, LEASE_MS, now)?;
    let mut before = Vec::with_capacity(tickets.len());
    for (marker, desired) in tickets {
        let delivery = transaction.delivery(tracker, marker)?;
        let is_lost = |reason| matches!(reason, Reason::Gone | Reason::Unmarked);
        let is_lost = matches!(&delivery, Delivery::Parked { last, .. } if is_lost(last.reason));
        if is_lost && lost == LostLink::Forgotten {
            transaction.remove_link(tracker, marker)?;
            // An intent makes the worker look it up before making it.
            transaction.put_intent(&Intent {
                tracker: tracker.clone(),
                marker: marker.clone(),
                action: IntentAction::Create,
                digest: *desired,
                lease_number: lease.number,
                begun_at: now,
            })?;
        }
        let scope = Scope::Ticket { tracker: tracker.clone(), marker: marker.clone() };
        transaction.put_breaker(&scope, &Breaker::default())?;
        transaction.put_delivery(tracker, marker, &Delivery::Due)?;
        before.push(delivery);
    }
    transaction.commit()?;
    give_back(ledger, lease, now)?;
    Ok(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        breaker::{BreakerSettings, Failure, Reason},
        ledger::SqliteLedger,
        pace::{Budget, Cost, PaceSettings},
        retry::{Jitter, RetrySettings},
        ticket::sample::{marker, ticket},
    };

    /// A ledger in which everything waits, by a clock that shows `second`: GitHub has said `Retry-After:
    /// 86400`.
    fn waiting(ledger: &mut SqliteLedger, name: &TrackerName, second: i64) {
        let now = moment::at(second * 1000);
        let wait_until = Some(moment::after(now, 86_400_000));
        let failure = Failure { wait_until, ..Failure::new(Reason::SecondaryLimit, "slow down") };
        let mut writer = ledger.write().unwrap();
        let scope = Scope::Host { host: "h".to_owned() };
        let breaker = Breaker::default().failed(&failure, now, &BreakerSettings::default());
        writer.put_breaker(&scope, &breaker).unwrap();
        let pace = Pace::default().admit(&Cost::WRITE, now, &PaceSettings::github()).unwrap();
        let pace = pace.heard(Budget { remaining: 0, reset_at: moment::after(now, 3_000_000) });
        writer.put_pace(&scope, &pace).unwrap();
        let digest = ticket("a", |_| {}).digest();
        let delivery = Delivery::Due.failed(failure, digest, now, Jitter(0), &RetrySettings::default());
        writer.put_delivery(name, &marker("a"), &delivery).unwrap();
        writer.commit().unwrap();
    }

    #[test]
    fn after_a_reset_nothing_is_waited_for() {
        let (mut ledger, name) = (SqliteLedger::in_memory().unwrap(), "gh".parse().unwrap());
        waiting(&mut ledger, &name, 0);
        let done = reset(&mut ledger, &[&name]).unwrap();
        assert_eq!((done.breakers.len(), done.paces.len(), done.deliveries.len()), (1, 1, 1));
        let reader = ledger.read().unwrap();
        assert!(reader.breakers().unwrap().is_empty() && reader.paces().unwrap().is_empty());
        assert!(reader.deliveries(&name).unwrap().is_empty());
        drop(reader);
        assert_eq!(reset(&mut ledger, &[&name]).unwrap(), Reset::default());
    }

    /// However far a clock was ahead, and whoever noted something then: once it is set back, nobody waits for
    /// longer than if it had been noted a minute ago.
    #[test]
    fn a_clock_that_is_set_back_makes_nobody_wait() {
        for ahead in [61, 3600, 86_400, 400_000_000] {
            let (mut ledger, name) = (SqliteLedger::in_memory().unwrap(), "gh".parse().unwrap());
            waiting(&mut ledger, &name, 1_000_000_000 + ahead);
            let (now, reader) = (moment::at(1_000_000_000_000), ledger.read().unwrap());
            let jumped = clock_was_ahead(&*reader, &name, now).unwrap();
            assert_eq!(jumped, Some(moment::at((1_000_000_000 + ahead) * 1000)), "{ahead}");
            let breaker = reader.breakers().unwrap().remove(0).1;
            let (_, admission) = breaker.admit(now, &BreakerSettings::default());
            assert_eq!(admission, crate::breaker::Admission::Probe, "{ahead}");
            let digest = ticket("a", |_| {}).digest();
            assert!(reader.delivery(&name, &marker("a")).unwrap().is_due(digest, now), "{ahead}");
            let pace = reader.paces().unwrap().remove(0).1;
            let until = pace.admit(&Cost::WRITE, now, &PaceSettings::github()).err();
            // What the tracker said is left holds for an hour at most.
            let longest = if ahead > 700 { now } else { moment::after(now, 3_061_000) };
            assert!(until.is_none_or(|until| until <= longest), "{ahead}: {until:?}");
        }
        let (mut ledger, name) = (SqliteLedger::in_memory().unwrap(), "gh".parse().unwrap());
        waiting(&mut ledger, &name, 1000);
        let reader = ledger.read().unwrap();
        assert_eq!(clock_was_ahead(&*reader, &name, moment::at(990_000)).unwrap(), None, "clocks differ");
    }
}
