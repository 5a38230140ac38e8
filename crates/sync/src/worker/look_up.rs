//! Tickets that may be there although no link leads to them: begun by somebody who did not learn the outcome,
//! made by another machine, or made before the ledger was lost.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    ApplyError, Deferred, Report, Worker,
    admission::Ground,
    apply::expected,
    found::{Found, Seen, adopt},
    reading::Listed,
    trial::Trials,
};
use crate::{
    configuration::TrackerSettings,
    ledger::{Intent, IntentAction, Lease, LedgerError, LedgerReader, Link},
    plan::{Action, ActionKind, Plan},
    ticket::{Marker, RemoteTicket},
    tracker::Listing,
};

struct Search {
    /// Creations that were begun and not ended.
    intents: Vec<Intent>,
    /// True where all tickets are wanted: before one is made that this ledger never made, and to see what
    /// other machines made.
    is_survey: bool,
}

impl Worker<'_> {
    /// Settles what is in doubt, by listing; the oldest ticket of a marker counts. Where something is to be
    /// created, it lists all tickets first: another machine may have made them. [`Seen::held`] tells why
    /// nothing may be created yet, where that is so.
    pub(super) async fn look_up(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        report: &mut Report,
    ) -> Result<Seen, ApplyError> {
        let mut all = Seen::default();
        loop {
            let search = self.search(plan)?;
            if search.intents.is_empty() && !search.is_survey {
                return Ok(all);
            }
            let seen = self.look(lease, plan, &search, report).await?;
            all.duplicates.extend(seen.duplicates);
            all.listed_at = seen.listed_at.or(all.listed_at);
            if seen.held.is_some() {
                return Ok(Seen { held: seen.held, ..all });
            }
            let Some(first) = seen.unlisted.values().min().copied() else { return Ok(all) };
            if !self.wait(Some(lease), first).await? {
                for (marker, until) in seen.unlisted {
                    report.tell(ActionKind::LookUp, &marker, Deferred::Unlisted { until }.into());
                }
                return Ok(all);
            }
        }
    }

    pub(super) async fn look_again(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        report: &mut Report,
    ) -> Result<Seen, ApplyError> {
        let search = Search { intents: Vec::new(), is_survey: true };
        self.look(lease, plan, &search, report).await
    }

    fn search(&mut self, plan: &Plan) -> Result<Search, LedgerError> {
        let (lag_ms, now) = (self.settings.look_up_wait_ms(), self.clock.now());
        let creates = self.may_create(plan, &plan.actions.iter().collect::<Vec<_>>())?;
        let ledger = self.ledger.read()?;
        let name = &self.settings.name;
        let is_due = ledger.record(name)?.listing_due(lag_ms, now).is_some_and(|due| due <= now);
        let mut intents = ledger.intents(name)?;
        intents.retain(|intent| intent.action == IntentAction::Create);
        Ok(Search { intents, is_survey: creates || is_due })
    }

    /// Returns whether any of `actions` creates a ticket, and nothing holds it.
    pub(super) fn may_create(&mut self, plan: &Plan, actions: &[&Action]) -> Result<bool, LedgerError> {
        let (settings, expected, now) = (self.settings, expected(plan), self.clock.now());
        let ledger = self.ledger.read()?;
        let intents = ledger.intents(&settings.name)?.into_iter();
        let intents = intents.map(|intent| (intent.marker, intent.action)).collect();
        let ground = Ground { ledger: &*ledger, settings, expected: &expected, intents: &intents, now };
        let mut trials = Trials::read(&*ledger, &settings.name)?;
        for action in actions.iter().filter(|action| action.kind == ActionKind::Create) {
            if ground.check(action, &mut trials)?.is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn look(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        search: &Search,
        report: &mut Report,
    ) -> Result<Seen, ApplyError> {
        let begun_at = self.clock.now();
        match self.list_all(lease, search).await? {
            Ok(listed) => {
                if search.is_survey && self.is_new()? {
                    self.link_unmarked(lease, plan, &listed, report)?;
                }
                let (tickets, intents) = (&listed.tickets, search.intents.as_slice());
                let found = Found { tickets, intents, is_survey: search.is_survey, begun_at };
                Ok(self.settle_found(lease, plan, &found, report)?)
            }
            Err(held) => {
                for intent in &search.intents {
                    report.tell(ActionKind::LookUp, &intent.marker, held.clone().into());
                }
                Ok(Seen { held: search.is_survey.then_some(held), ..Seen::default() })
            }
        }
    }

    async fn list_all(
        &mut self,
        lease: &Lease,
        search: &Search,
    ) -> Result<Result<Listed, Deferred>, ApplyError> {
        let mut projects: BTreeSet<String> =
            search.intents.iter().map(|intent| intent.marker.project().to_owned()).collect();
        if search.is_survey {
            projects.insert(self.project.to_owned());
        }
        let mut found = Listed::default();
        for project in projects {
            match self.list(Some(lease), &project, Listing::Labelled).await? {
                Ok(listed) => found.extend(listed),
                Err(held) => return Ok(Err(held)),
            }
        }
        if search.is_survey && found.tickets.is_empty() && self.tracker.lists_by_label() && self.is_new()? {
            let project = self.project;
            match self.list(Some(lease), project, Listing::All).await? {
                Ok(listed) => found.extend(listed),
                Err(held) => return Ok(Err(held)),
            }
        }
        Ok(Ok(found))
    }

    fn is_new(&mut self) -> Result<bool, LedgerError> {
        Ok(self.ledger.read()?.record(&self.settings.name)?.listed_at.is_none())
    }

    /// Links tickets with our label and the title of one that would be made: they have lost their marker, and
    /// a person is asked whether they are these.
    fn link_unmarked(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        listed: &Listed,
        report: &mut Report,
    ) -> Result<(), LedgerError> {
        let (tracker, linked_at) = (self.settings.name.clone(), self.clock.now());
        let mut unmarked: Vec<&(String, RemoteTicket)> = listed.unmarked.iter().collect();
        let mut transaction = self.begin(Some(lease))?;
        for action in plan.actions.iter().filter(|action| action.kind == ActionKind::Create) {
            let is_known = listed.tickets.iter().any(|ticket| ticket.marker == action.marker);
            let Some(title) = action.ticket.as_ref().map(|ticket| &ticket.title).filter(|_| !is_known) else {
                continue;
            };
            let Some(at) = unmarked.iter().position(|(own, _)| own == title) else { continue };
            let (tracker, marker, remote) =
                (tracker.clone(), action.marker.clone(), unmarked.remove(at).1.clone());
            let link = Link { tracker, marker, remote, digest: None, linked_at };
            let outcome = adopt(&mut *transaction, (&link, None), Vec::new())?;
            report.tell(ActionKind::Adopt, &action.marker, outcome);
        }
        transaction.commit()
    }
}

/// Returns whether the tracker is to be asked although nothing is to be changed there: nobody knows how a
/// creation ended, the tickets are to be listed once more, or the configuration names another place than that
/// of the tickets.
pub fn wants_look(
    ledger: &dyn LedgerReader,
    settings: &TrackerSettings,
    now: Timestamp,
) -> Result<bool, LedgerError> {
    let name = &settings.name;
    let is_begun = ledger.intents(name)?.iter().any(|intent| intent.action == IntentAction::Create);
    let record = ledger.record(name)?;
    Ok(is_begun || record.wants_look(&settings.target.address(), settings.look_up_wait_ms(), now))
}

/// Until when tickets that were begun may be there unseen.
pub(super) type Unlisted = BTreeMap<Marker, Timestamp>;
