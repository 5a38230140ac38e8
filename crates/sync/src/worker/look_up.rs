//! Tickets that may be there although no link leads to them: begun by somebody who did not learn the outcome, or made before the ledger
//! was lost.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{ApplyError, Fate, Held, Report, Worker, WorkerClock};
use crate::{
    ledger::{Intent, IntentAction, Lease, Ledger, LedgerError, LedgerWriter, Link},
    moment,
    plan::{ActionKind, Plan},
    retry::Delivery,
    ticket::{Marker, Observed, RemoteTicket, oldest_first},
    tracker::Tracker,
};

/// What is looked for.
struct Search {
    /// Creations that were begun and not ended.
    intents: Vec<Intent>,
    /// Whether every ticket is wanted, since the ledger does not know which there are.
    is_survey: bool,
}

impl<L: Ledger, T: Tracker, C: WorkerClock> Worker<'_, L, T, C> {
    /// Settles what is in doubt, by listing; the oldest ticket of a marker counts. Where the ledger knows of no look through the tracker,
    /// and something is to be created, this is one. Answers why nothing may be created yet, where that is so.
    pub(super) async fn look_up(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        report: &mut Report,
    ) -> Result<Option<Held>, ApplyError> {
        loop {
            let search = self.search(plan)?;
            if search.intents.is_empty() && !search.is_survey {
                return Ok(None);
            }
            let begun_at = self.clock.now();
            let found = match self.list_all(lease, &search).await? {
                Ok(found) => found,
                Err(held) => {
                    for intent in &search.intents {
                        report.tell(ActionKind::LookUp, &intent.marker, held.clone().into());
                    }
                    return Ok(search.is_survey.then_some(held));
                }
            };
            let unlisted = self.settle_found(lease, &search, &found, begun_at, report)?;
            let Some(first) = unlisted.values().min().copied() else { return Ok(None) };
            if !self.wait(Some(lease), first).await? {
                for (marker, until) in unlisted {
                    report.tell(ActionKind::LookUp, &marker, Held::Unlisted { until }.into());
                }
                return Ok(None);
            }
        }
    }

    fn search(&mut self, plan: &Plan) -> Result<Search, LedgerError> {
        let ledger = self.ledger.read()?;
        let name = &self.settings.name;
        let creates = plan.actions.iter().any(|action| action.kind == ActionKind::Create);
        let is_survey = creates && ledger.surveyed_at(name)?.is_none();
        let mut intents = ledger.intents(name)?;
        intents.retain(|intent| intent.action == IntentAction::Create);
        Ok(Search { intents, is_survey })
    }

    async fn list_all(
        &mut self,
        lease: &Lease,
        search: &Search,
    ) -> Result<Result<Vec<Observed>, Held>, ApplyError> {
        let mut projects: BTreeSet<String> =
            search.intents.iter().map(|intent| intent.marker.project().to_owned()).collect();
        if search.is_survey {
            projects.insert(self.project.to_owned());
        }
        let mut found = Vec::new();
        for project in projects {
            match self.list(Some(lease), &project).await? {
                Ok(tickets) => found.extend(tickets),
                Err(held) => return Ok(Err(held)),
            }
        }
        Ok(Ok(found))
    }

    /// Links what was found. Answers until when the rest may be there unseen.
    fn settle_found(
        &mut self,
        lease: &Lease,
        search: &Search,
        found: &[Observed],
        begun_at: Timestamp,
        report: &mut Report,
    ) -> Result<BTreeMap<Marker, Timestamp>, LedgerError> {
        let name = self.settings.name.clone();
        let wait_ms = u64::from(self.settings.look_up_wait_seconds) * 1000;
        let wanted: BTreeSet<&Marker> = search.intents.iter().map(|intent| &intent.marker).collect();
        let mut told = Report::default();
        let mut unlisted = BTreeMap::new();
        let now = self.clock.now();
        let mut transaction = self.begin(Some(lease))?;
        let mut by_marker: BTreeMap<&Marker, Vec<&Observed>> = BTreeMap::new();
        for ticket in found.iter().filter(|ticket| search.is_survey || wanted.contains(&ticket.marker)) {
            by_marker.entry(&ticket.marker).or_default().push(ticket);
        }
        for (marker, mut same) in by_marker.clone() {
            oldest_first(&mut same);
            if transaction.link(&name, marker)?.is_some() {
                transaction.remove_intent(&name, marker)?;
                continue;
            }
            if let Some((oldest, others)) = same.split_first() {
                let link = Link {
                    tracker: name.clone(),
                    marker: marker.clone(),
                    remote: oldest.remote.clone(),
                    digest: None,
                    source: None,
                    linked_at: now,
                };
                let duplicates = others.iter().map(|other| other.remote.clone()).collect();
                let kind = if wanted.contains(marker) { ActionKind::LookUp } else { ActionKind::Adopt };
                told.tell(kind, marker, adopt(&mut *transaction, &link, duplicates)?);
            }
        }
        for intent in search.intents.iter().filter(|intent| !by_marker.contains_key(&intent.marker)) {
            let mut certain_at = moment::after(intent.begun_at, wait_ms);
            if intent.begun_at > now {
                // The clock was set back: nobody knows how long ago it was, and the wait begins again.
                transaction.put_intent(&Intent { begun_at: now, ..intent.clone() })?;
                certain_at = moment::after(now, wait_ms);
            }
            if begun_at < certain_at {
                unlisted.insert(intent.marker.clone(), certain_at);
                continue;
            }
            transaction.remove_intent(&name, &intent.marker)?;
            told.tell(ActionKind::LookUp, &intent.marker, Fate::NotThere);
        }
        if search.is_survey {
            transaction.put_surveyed_at(&name, begun_at)?;
        }
        transaction.commit()?;
        report.entries.append(&mut told.entries);
        Ok(unlisted)
    }
}

/// Links a ticket that was found.
pub(super) fn adopt(
    ledger: &mut dyn LedgerWriter,
    link: &Link,
    duplicates: Vec<RemoteTicket>,
) -> Result<Fate, LedgerError> {
    match ledger.put_link(link, None) {
        Err(error @ LedgerError::LinkedElsewhere { .. }) => {
            return Ok(Held::LinkedElsewhere { reason: error.to_string() }.into());
        }
        other => other?,
    }
    ledger.remove_intent(&link.tracker, &link.marker)?;
    ledger.put_delivery(&link.tracker, &link.marker, &Delivery::Due)?;
    Ok(Fate::Found { remote: link.remote.clone(), duplicates })
}
