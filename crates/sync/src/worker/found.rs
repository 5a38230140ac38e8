//! Links and intents, updated from a list of tickets.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{ActionOutcome, Deferred, Entry, Report, Worker, look_up::Unlisted};
use crate::{
    Error, ErrorKind, Result,
    configuration::TrackerSettings,
    ledger::{Intent, IntentAction, Lease, LedgerReader, LedgerWriter, Link},
    moment,
    plan::{Action, ActionKind, Claim, Plan, Remark, by_marker, copies},
    retry::Delivery,
    ticket::{Marker, Observed, RemoteTicket, Ticket},
    tracker::Tracker,
};

pub(super) struct Found<'f> {
    pub(super) tickets: &'f [Observed],
    pub(super) intents: &'f [Intent],
    pub(super) is_survey: bool,
    pub(super) begun_at: Timestamp,
}

#[derive(Default)]
pub(super) struct Seen {
    pub(super) held: Option<Deferred>,
    pub(super) listed_at: Option<Timestamp>,
    pub(super) duplicates: Vec<Action>,
    pub(super) others: usize,
    /// Tickets that this ledger knew and that have an older one beside them.
    pub(super) lost: usize,
    pub(super) unlisted: Unlisted,
}

impl Worker<'_> {
    pub(super) fn settle_found(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        found: &Found<'_>,
        report: &mut Report,
    ) -> Result<Seen> {
        let (tracker, settings, now) = (self.tracker, self.settings, self.clock.now());
        let (mut told, mut seen) = (Report::default(), Seen::default());
        let mut transaction = self.begin(Some(lease))?;
        let intents = transaction.intents(&settings.name)?.into_iter();
        let begun = intents.filter(|intent| intent.action == IntentAction::Create);
        let begun: BTreeSet<Marker> = begun.map(|intent| intent.marker).collect();
        let links = transaction.links(&settings.name)?;
        let by_marker = wanted_by_marker(plan, found, &links);
        let mut settling = Settling { ledger: &mut *transaction, settings, now };
        for (marker, same) in &by_marker {
            let is_begun = begun.contains(marker);
            match settling.ledger.link(&settings.name, marker)? {
                Some(link) => {
                    if is_begun {
                        settling.ledger.remove_intent(&settings.name, marker)?;
                    }
                    let outcome = settling.claim(&link, same, (found.begun_at, &mut seen))?;
                    outcome.into_iter().for_each(|outcome| told.tell(ActionKind::Adopt, marker, outcome));
                }
                None => {
                    let kind = if is_begun { ActionKind::LookUp } else { ActionKind::Adopt };
                    let said = said_already(settling.ledger, tracker, plan, same)?;
                    let outcome = settling.link(marker, same, said)?;
                    seen.others += usize::from(!is_begun && matches!(outcome, ActionOutcome::Found { .. }));
                    told.tell(kind, marker, outcome);
                    if let Some(link) = settling.ledger.link(&settings.name, marker)? {
                        settling.claim(&link, same, (found.begun_at, &mut seen))?;
                    }
                }
            }
        }
        for intent in
            found.intents.iter().filter(|intent| !by_marker.iter().any(|(own, _)| *own == &intent.marker))
        {
            match settling.missing(intent, found.begun_at)? {
                Some(certain_at) => drop(seen.unlisted.insert(intent.marker.clone(), certain_at)),
                None => told.tell(ActionKind::LookUp, &intent.marker, ActionOutcome::NotThere),
            }
        }
        for copy in copies(found.tickets.iter()) {
            report.remark(Remark::Copy { marker: copy.marker.clone(), remote: copy.remote.clone() });
        }
        if found.is_survey {
            seen.listed_at = Some(found.begun_at);
            let record = transaction.record(&settings.name)?;
            transaction.put_record(&settings.name, &record.listed(found.begun_at))?;
        }
        transaction.commit()?;
        // No longer in doubt.
        let is_settled = |entry: &Entry| {
            matches!(entry.outcome, ActionOutcome::InDoubt { .. })
                && entry.kind == ActionKind::Create
                && told.of(&entry.marker).is_some()
        };
        report.entries.retain(|entry| !is_settled(entry));
        report.entries.append(&mut told.entries);
        Ok(seen)
    }
}

/// The oldest of each marker first; parents before children, as in the plan.
fn wanted_by_marker<'f>(
    plan: &Plan,
    found: &Found<'f>,
    links: &[Link],
) -> Vec<(&'f Marker, Vec<&'f Observed>)> {
    let wanted: BTreeSet<&Marker> = found.intents.iter().map(|intent| &intent.marker).collect();
    let tickets = found.tickets.iter().filter(|own| found.is_survey || wanted.contains(&own.marker));
    let by_marker = by_marker(tickets, links.iter());
    let places: BTreeMap<&Marker, usize> =
        plan.actions.iter().enumerate().map(|(at, action)| (&action.marker, at)).collect();
    let mut sorted: Vec<_> = by_marker.into_iter().collect();
    sorted.sort_by_key(|(marker, _)| places.get(marker).copied().unwrap_or(usize::MAX));
    sorted
}

/// The wanted ticket, if the oldest of `same` needs no change.
fn said_already<'p>(
    ledger: &dyn LedgerReader,
    tracker: &dyn Tracker,
    plan: &'p Plan,
    same: &[&Observed],
) -> Result<Option<&'p Ticket>> {
    let Some(oldest) = same.first() else { return Ok(None) };
    let is_first = |kind| matches!(kind, ActionKind::Create | ActionKind::LookUp);
    let mut actions = plan.actions.iter();
    let created = actions.find(|action| is_first(action.kind) && action.marker == oldest.marker);
    let Some(ticket) = created.and_then(|action| action.ticket.as_ref()) else { return Ok(None) };
    let hangs_right = match &ticket.parent {
        None => true,
        Some(parent) => {
            let parent = ledger.link(tracker.name(), parent)?.map(|link| link.remote.id);
            parent.is_some() && parent == oldest.parent_id
        }
    };
    // Not every list shows what stands in fields.
    if !ticket.fields.is_empty() && oldest.fields.is_none() {
        return Ok(None);
    }
    let says_it = tracker.compare(ticket, None, oldest).is_ok_and(|differences| differences.is_empty());
    Ok((hangs_right && says_it).then_some(ticket))
}

struct Settling<'s> {
    ledger: &'s mut dyn LedgerWriter,
    settings: &'s TrackerSettings,
    now: Timestamp,
}

impl Settling<'_> {
    fn link(&mut self, marker: &Marker, same: &[&Observed], said: Option<&Ticket>) -> Result<ActionOutcome> {
        let Some((oldest, others)) = same.split_first() else { return Ok(ActionOutcome::NotThere) };
        let link = Link {
            tracker: self.settings.name.clone(),
            marker: marker.clone(),
            remote: oldest.remote.clone(),
            digest: said.map(Ticket::digest),
            linked_at: self.now,
        };
        let duplicates = others.iter().map(|other| other.remote.clone()).collect();
        adopt(self.ledger, (&link, said), duplicates)
    }

    /// One artifact's ticket among those with its marker; the outcome for its link.
    fn claim(
        &mut self,
        link: &Link,
        same: &[&Observed],
        (begun_at, seen): (Timestamp, &mut Seen),
    ) -> Result<Option<ActionOutcome>> {
        // A future time of a wrong clock counts as long ago.
        let is_late = !moment::may_be_past(link.linked_at, begun_at)
            || moment::after(link.linked_at, self.settings.look_up_wait_ms()) <= begun_at;
        let claim = Claim { same, is_late };
        let instead = claim.instead_of(link);
        let counts = instead.map_or(&link.remote, |oldest| &oldest.remote);
        let own = instead.map(|_| link.remote.id.as_str());
        let duplicates = claim.to_close(&counts.id, own, self.settings.duplicates);
        let outcome = instead.map(|_| self.link(&link.marker, same, None)).transpose()?;
        // A ticket of another artifact does not count.
        if outcome.as_ref().is_none_or(|outcome| matches!(outcome, ActionOutcome::Found { .. })) {
            let closings = duplicates.iter().map(|observed| Action::close_duplicate(observed, counts));
            seen.duplicates.extend(closings);
            seen.lost += usize::from(outcome.is_some());
        }
        Ok(outcome)
    }

    /// For a creation that is not in the list: the time when that is certain. `None` if it is certain now.
    fn missing(&mut self, intent: &Intent, begun_at: Timestamp) -> Result<Option<Timestamp>> {
        let wait_ms = self.settings.look_up_wait_ms();
        let mut certain_at = moment::after(intent.begun_at, wait_ms);
        if intent.begun_at > self.now {
            // The clock was set back: nobody knows how long ago it was, and the wait begins again.
            self.ledger.put_intent(&Intent { begun_at: self.now, ..intent.clone() })?;
            certain_at = moment::after(self.now, wait_ms);
        }
        if begun_at < certain_at {
            return Ok(Some(certain_at));
        }
        self.ledger.remove_intent(&intent.tracker, &intent.marker)?;
        Ok(None)
    }
}

pub(super) fn adopt(
    ledger: &mut dyn LedgerWriter,
    (link, said): (&Link, Option<&Ticket>),
    duplicates: Vec<RemoteTicket>,
) -> Result<ActionOutcome> {
    match ledger.put_link(link, said) {
        Err(Error { kind: ErrorKind::LinkedElsewhere { key, owner }, .. }) => {
            return Ok(Deferred::LinkedElsewhere { key, owner: owner.parse()? }.into());
        }
        other => other?,
    }
    ledger.remove_intent(&link.tracker, &link.marker)?;
    ledger.put_delivery(&link.tracker, &link.marker, &Delivery::Due)?;
    Ok(ActionOutcome::Found { remote: link.remote.clone(), duplicates })
}
