//! Writing down what became of a request.

use jiff::Timestamp;

use super::{ActionOutcome, preconditions::Item, trial};
use crate::{
    breaker::{Failure, Reason, ScopeKind},
    configuration::TrackerSettings,
    ledger::{LedgerError, LedgerWriter, Link, TrackerRecord},
    plan::ActionKind,
    retry::{Delivery, Jitter},
    tracker::{Delivered, Outcome},
};

/// The facts of a try beside its outcome.
#[derive(Debug)]
pub(super) struct Try {
    /// The time at which it ended.
    pub(super) now: Timestamp,
    /// Chance, for the next wait.
    pub(super) draw: Jitter,
    /// True where the request was made to see whether an outage of the host is over.
    pub(super) is_probe: bool,
    /// The number of tickets that may be tried again, since the cause has passed for which they were parked.
    pub(super) brought_back: usize,
}

/// Writes down what became of one ticket of a request: link, digest, intent and delivery.
pub(super) fn settle(
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

/// Links the ticket that was made or changed.
fn link(
    ledger: &mut dyn LedgerWriter,
    settings: &TrackerSettings,
    item: &Item<'_>,
    delivered: &Delivered,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let (name, marker) = (&settings.name, &item.action.marker);
    let linked_at = ledger.link(name, marker)?.map_or(now, |link| link.linked_at);
    // What a creation left out, one change may bring. What a change left out, another one would leave out again.
    let is_known = delivered.missing.is_empty() || item.action.kind != ActionKind::Create;
    let (tracker, marker, remote) = (name.clone(), marker.clone(), delivered.remote.clone());
    let digest = is_known.then(|| item.ticket.digest());
    let source = item.action.source.filter(|_| is_known);
    let link = Link { tracker, marker, remote, digest, source, linked_at };
    ledger.put_link(&link, is_known.then_some(item.ticket))
}

/// No link leads to a duplicate, and to close it again does no harm.
fn of_duplicate(outcome: Outcome<Delivered>) -> ActionOutcome {
    match outcome {
        Outcome::Done(Delivered { remote, missing }) => ActionOutcome::Done { remote, missing },
        Outcome::Failed(failure) => ActionOutcome::Failed { failure, delivery: Delivery::Due },
        Outcome::InDoubt(failure) => ActionOutcome::InDoubt { failure },
    }
}
