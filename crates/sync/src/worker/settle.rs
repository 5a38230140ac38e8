//! Writing down what became of a request.

use std::sync::atomic::Ordering;

use jiff::Timestamp;

use super::{
    ActionOutcome, Report, Worker,
    admission::Item,
    admission::{self, Feedback},
    trial,
};
use crate::{
    breaker::{Failure, Reason, Route, ScopeKind},
    configuration::TrackerSettings,
    ledger::{Lease, LedgerError, LedgerWriter, Link, TrackerRecord},
    plan::{ActionKind, Remark},
    retry::{Delivery, Jitter},
    tracker::{Answer, Delivered, Outcome},
};

#[derive(Debug)]
struct Try {
    now: Timestamp,
    draw: Jitter,
    /// True where the request was made to see whether an outage of the host is over.
    is_probe: bool,
    /// The number of tickets that may be tried again, since the cause has passed for which they were parked.
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
    ) -> Result<(), LedgerError> {
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

/// Returns what is wrong with a credential under which a new ticket came without the label of its project:
/// without that it is never found again, so no more are made until a person has fixed it.
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

/// Writes down what became of one ticket of a request: link, digest, intent and delivery.
fn settle(
    ledger: &mut dyn LedgerWriter,
    settings: &TrackerSettings,
    item: &Item<'_>,
    outcome: Outcome<Delivered>,
    this_try: &mut Try,
) -> Result<ActionOutcome, LedgerError> {
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
        Ok::<_, LedgerError>(delivery)
    };
    match outcome {
        Outcome::Done(delivered) => match link(ledger, settings, item, &delivered, now) {
            // A ticket that belongs to another artifact is no answer that can be believed.
            Err(error @ LedgerError::LinkedElsewhere { .. }) => {
                let failure = Failure::new(Reason::Unreadable, &error.to_string());
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
) -> Result<(), LedgerError> {
    let (name, marker) = (&settings.name, &item.action.marker);
    let linked_at = ledger.link(name, marker)?.map_or(now, |link| link.linked_at);
    // What a creation left out, one change may bring. What a change left out, another one would leave out
    // again.
    let is_known = delivered.missing.is_empty() || item.action.kind != ActionKind::Create;
    let (tracker, marker, remote) = (name.clone(), marker.clone(), delivered.remote.clone());
    let digest = is_known.then(|| item.ticket.digest());
    let link = Link { tracker, marker, remote, digest, linked_at };
    ledger.put_link(&link, is_known.then_some(item.ticket))
}

/// No link leads to a duplicate, and to close it again does no harm.
fn of_duplicate(outcome: Outcome<Delivered>) -> ActionOutcome {
    match outcome {
        Outcome::Done(Delivered { remote, missing, .. }) => ActionOutcome::Done { remote, missing },
        Outcome::Failed(failure) => ActionOutcome::Failed { failure, delivery: Delivery::Due },
        Outcome::InDoubt(failure) => ActionOutcome::InDoubt { failure },
    }
}
