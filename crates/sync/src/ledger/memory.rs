//! A ledger that nothing survives: for tests, and for a look at what would happen.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Intent, Lease, Ledger, LedgerError, LedgerReader, LedgerWriter, Link, TrackerRecord};
use crate::{
    TrackerName,
    breaker::{Breaker, Scope},
    pace::Pace,
    retry::Delivery,
    ticket::{Marker, Ticket},
};

/// A ledger in memory. Its clones share what it holds, as processes share a file.
#[derive(Clone, Debug, Default)]
pub struct MemoryLedger {
    content: Arc<Mutex<Content>>,
}

type TicketKey = (TrackerName, Marker);

#[derive(Clone, Debug, Default)]
struct Content {
    links: BTreeMap<TicketKey, (Link, Option<Ticket>)>,
    intents: BTreeMap<TicketKey, Intent>,
    deliveries: BTreeMap<TicketKey, Delivery>,
    records: BTreeMap<TrackerName, TrackerRecord>,
    /// The content that was set aside, by tracker and target.
    aside: BTreeMap<(TrackerName, String), Content>,
    leases: BTreeMap<String, Lease>,
    breakers: BTreeMap<String, (Scope, Breaker)>,
    paces: BTreeMap<String, (Scope, Pace)>,
}

/// A transaction: the lock, and a copy that takes the place of the content when it is committed.
#[derive(Debug)]
struct Transaction<'l> {
    shared: MutexGuard<'l, Content>,
    own: Content,
}

fn key(tracker: &TrackerName, marker: &Marker) -> TicketKey {
    (tracker.clone(), marker.clone())
}

fn of_tracker<'c, T>(
    map: &'c BTreeMap<TicketKey, T>,
    tracker: &'c TrackerName,
) -> impl Iterator<Item = (&'c Marker, &'c T)> {
    map.iter().filter(move |((own, _), _)| own == tracker).map(|((_, marker), value)| (marker, value))
}

impl MemoryLedger {
    fn begin(&self) -> Transaction<'_> {
        // A panic elsewhere cannot leave half a change: only a commit changes the content, in one step.
        let shared = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        Transaction { own: shared.clone(), shared }
    }
}

impl Ledger for MemoryLedger {
    fn read(&mut self) -> Result<Box<dyn LedgerReader + '_>, LedgerError> {
        Ok(Box::new(self.begin()))
    }

    fn write(&mut self) -> Result<Box<dyn LedgerWriter + '_>, LedgerError> {
        Ok(Box::new(self.begin()))
    }
}

impl LedgerReader for Transaction<'_> {
    fn link(&self, tracker: &TrackerName, marker: &Marker) -> Result<Option<Link>, LedgerError> {
        Ok(self.own.links.get(&key(tracker, marker)).map(|(link, _)| link.clone()))
    }

    fn links(&self, tracker: &TrackerName) -> Result<Vec<Link>, LedgerError> {
        Ok(of_tracker(&self.own.links, tracker).map(|(_, (link, _))| link.clone()).collect())
    }

    fn projected(&self, tracker: &TrackerName, marker: &Marker) -> Result<Option<Ticket>, LedgerError> {
        Ok(self.own.links.get(&key(tracker, marker)).and_then(|(_, ticket)| ticket.clone()))
    }

    fn intents(&self, tracker: &TrackerName) -> Result<Vec<Intent>, LedgerError> {
        Ok(of_tracker(&self.own.intents, tracker).map(|(_, intent)| intent.clone()).collect())
    }

    fn delivery(&self, tracker: &TrackerName, marker: &Marker) -> Result<Delivery, LedgerError> {
        Ok(self.own.deliveries.get(&key(tracker, marker)).cloned().unwrap_or_default())
    }

    fn deliveries(&self, tracker: &TrackerName) -> Result<Vec<(Marker, Delivery)>, LedgerError> {
        let deliveries = of_tracker(&self.own.deliveries, tracker);
        Ok(deliveries.map(|(marker, delivery)| (marker.clone(), delivery.clone())).collect())
    }

    fn record(&self, tracker: &TrackerName) -> Result<TrackerRecord, LedgerError> {
        Ok(self.own.records.get(tracker).cloned().unwrap_or_default())
    }

    fn lease(&self, name: &str) -> Result<Option<Lease>, LedgerError> {
        Ok(self.own.leases.get(name).cloned())
    }

    fn breaker(&self, scope: &Scope) -> Result<Option<Breaker>, LedgerError> {
        Ok(self.own.breakers.get(&scope.to_string()).map(|(_, breaker)| breaker.clone()))
    }

    fn breakers(&self) -> Result<Vec<(Scope, Breaker)>, LedgerError> {
        Ok(self.own.breakers.values().cloned().collect())
    }

    fn pace(&self, scope: &Scope) -> Result<Option<Pace>, LedgerError> {
        Ok(self.own.paces.get(&scope.to_string()).map(|(_, pace)| pace.clone()))
    }

    fn paces(&self) -> Result<Vec<(Scope, Pace)>, LedgerError> {
        Ok(self.own.paces.values().cloned().collect())
    }
}

impl LedgerWriter for Transaction<'_> {
    fn put_link(&mut self, link: &Link, projected: Option<&Ticket>) -> Result<(), LedgerError> {
        let is_other = |own: &Marker, other: &Link| *own != link.marker && other.remote.id == link.remote.id;
        let owner = of_tracker(&self.own.links, &link.tracker).find(|(own, (other, _))| is_other(own, other));
        if let Some(owner) = owner.map(|(own, _)| own.clone()) {
            let (key, marker) = (link.remote.key.clone(), link.marker.clone());
            return Err(LedgerError::LinkedElsewhere { key, marker, owner });
        }
        self.own.links.insert(key(&link.tracker, &link.marker), (link.clone(), projected.cloned()));
        Ok(())
    }

    fn remove_link(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<(), LedgerError> {
        self.own.links.remove(&key(tracker, marker));
        Ok(())
    }

    fn put_intent(&mut self, intent: &Intent) -> Result<(), LedgerError> {
        self.own.intents.insert(key(&intent.tracker, &intent.marker), intent.clone());
        Ok(())
    }

    fn remove_intent(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<(), LedgerError> {
        self.own.intents.remove(&key(tracker, marker));
        Ok(())
    }

    fn put_delivery(
        &mut self,
        tracker: &TrackerName,
        marker: &Marker,
        delivery: &Delivery,
    ) -> Result<(), LedgerError> {
        match delivery {
            Delivery::Due => drop(self.own.deliveries.remove(&key(tracker, marker))),
            _ => drop(self.own.deliveries.insert(key(tracker, marker), delivery.clone())),
        }
        Ok(())
    }

    fn put_record(&mut self, tracker: &TrackerName, record: &TrackerRecord) -> Result<(), LedgerError> {
        self.own.records.insert(tracker.clone(), record.clone());
        Ok(())
    }

    fn switch_target(&mut self, tracker: &TrackerName, from: &str, to: &str) -> Result<(), LedgerError> {
        let mut back = self.own.aside.remove(&(tracker.clone(), to.to_owned())).unwrap_or_default();
        let content = &mut self.own;
        let is_own = |(name, _): &TicketKey| name == tracker;
        let mut gone = Content::default();
        gone.links.extend(content.links.extract_if(.., |key, _| is_own(key)));
        gone.intents.extend(content.intents.extract_if(.., |key, _| is_own(key)));
        gone.deliveries.extend(content.deliveries.extract_if(.., |key, _| is_own(key)));
        gone.records.extend(content.records.remove_entry(tracker));
        content.links.append(&mut back.links);
        content.intents.append(&mut back.intents);
        content.deliveries.append(&mut back.deliveries);
        content.records.append(&mut back.records);
        content.aside.insert((tracker.clone(), from.to_owned()), gone);
        Ok(())
    }

    fn put_lease(&mut self, lease: &Lease) -> Result<(), LedgerError> {
        self.own.leases.insert(lease.name.clone(), lease.clone());
        Ok(())
    }

    fn put_breaker(&mut self, scope: &Scope, breaker: &Breaker) -> Result<(), LedgerError> {
        if breaker.is_pristine() {
            self.own.breakers.remove(&scope.to_string());
        } else {
            self.own.breakers.insert(scope.to_string(), (scope.clone(), breaker.clone()));
        }
        Ok(())
    }

    fn put_pace(&mut self, scope: &Scope, pace: &Pace) -> Result<(), LedgerError> {
        if *pace == Pace::default() {
            self.own.paces.remove(&scope.to_string());
        } else {
            self.own.paces.insert(scope.to_string(), (scope.clone(), pace.clone()));
        }
        Ok(())
    }

    fn commit(mut self: Box<Self>) -> Result<(), LedgerError> {
        let own = std::mem::take(&mut self.own);
        *self.shared = own;
        Ok(())
    }
}
