//! What a person does about deliveries.

use jiff::Timestamp;

use super::ApplyError;
use crate::{
    TrackerName,
    breaker::{Breaker, Reason, Scope},
    ledger::{Intent, IntentAction, Lease, Ledger},
    retry::Delivery,
    ticket::{Marker, TicketDigest},
};

/// What becomes of the link of a ticket that is not there any more, or no longer carries its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostLink {
    /// It is forgotten: the ticket is looked for by its marker, and made anew where it is certainly gone.
    Forgotten,
    /// It stays.
    Kept,
}

/// Gives the deliveries of `tickets`, each with what it should say, another try, and answers what they were.
///
/// # Errors
/// When somebody works on the tracker, or the ledger fails.
pub fn retry(
    ledger: &mut dyn Ledger,
    (tracker, tickets): (&TrackerName, &[(Marker, TicketDigest)]),
    lost: LostLink,
    holder: &str,
    now: Timestamp,
) -> Result<Vec<Delivery>, ApplyError> {
    let mut transaction = ledger.write()?;
    let current = transaction.lease(tracker.as_str())?;
    let lease = Lease::acquire(current, tracker.as_str(), holder, now, 1)?;
    let mut before = Vec::with_capacity(tickets.len());
    for (marker, desired) in tickets {
        let delivery = transaction.delivery(tracker, marker)?;
        let is_lost = |reason| matches!(reason, Reason::Gone | Reason::Unmarked);
        let is_lost = matches!(&delivery, Delivery::Parked { last, .. } if is_lost(last.reason));
        if is_lost && lost == LostLink::Forgotten {
            transaction.remove_link(tracker, marker)?;
            // As if it had been begun: so it is looked up before it is made.
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
    transaction.put_lease(&lease.released(now))?;
    transaction.commit()?;
    Ok(before)
}
