//! What a person does about deliveries and breakers.

use jiff::Timestamp;

use super::ApplyError;
use crate::{
    TrackerName,
    breaker::{Breaker, Reason, Scope},
    ledger::{Intent, IntentAction, Lease, Ledger, LedgerError},
    retry::Delivery,
    ticket::{Marker, TicketDigest},
};

/// Gives the delivery of `marker` another try, and answers what it was. A ticket that was not there any more is looked for, and made anew
/// where it is certainly gone.
///
/// # Errors
/// When somebody works on the tracker, or the ledger fails.
pub fn retry(
    ledger: &mut impl Ledger,
    (tracker, marker, desired): (&TrackerName, &Marker, TicketDigest),
    holder: &str,
    now: Timestamp,
) -> Result<Delivery, ApplyError> {
    let mut transaction = ledger.write()?;
    let current = transaction.lease(tracker.as_str())?;
    let lease = Lease::acquire(current, tracker.as_str(), holder, now, 1)?;
    let before = transaction.delivery(tracker, marker)?;
    let is_gone = matches!(&before, Delivery::Parked { last, .. } if last.reason == Reason::Gone);
    if is_gone {
        transaction.remove_link(tracker, marker)?;
        // As if it had been begun: so it is looked up before it is made.
        transaction.put_intent(&Intent {
            tracker: tracker.clone(),
            marker: marker.clone(),
            action: IntentAction::Create,
            digest: desired,
            lease_number: lease.number,
            begun_at: now,
        })?;
    }
    let scope = Scope::Ticket { tracker: tracker.clone(), marker: marker.clone() };
    transaction.put_breaker(&scope, &Breaker::default())?;
    transaction.put_delivery(tracker, marker, &before.clone().retried())?;
    transaction.put_lease(&lease.released(now))?;
    transaction.commit()?;
    Ok(before)
}

/// Closes all breakers, and answers which were not closed.
///
/// # Errors
/// When the ledger fails.
pub fn reset(ledger: &mut impl Ledger) -> Result<Vec<Scope>, LedgerError> {
    let mut transaction = ledger.write()?;
    let scopes: Vec<Scope> = transaction.breakers()?.into_iter().map(|(scope, _)| scope).collect();
    for scope in &scopes {
        transaction.put_breaker(scope, &Breaker::default())?;
    }
    transaction.commit()?;
    Ok(scopes)
}
