//! Looks for tickets without a link: creations in doubt, other machines' tickets, or those of a lost ledger.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{
    Deferred, Notice, Report, Worker,
    admission::Ground,
    apply::expected,
    found::{Found, Seen, adopt},
    prepare::Listed,
    trial::Trials,
};
use crate::{
    ErrorKind, Result,
    configuration::TrackerSettings,
    ledger::{Intent, IntentAction, Lease, Ledger, LedgerReader, LedgerWriter, Link, check_lease},
    moment,
    plan::{Action, ActionKind, Plan},
    ticket::{Marker, RemoteTicket},
    tracker::Listing,
};
use jiff::Timestamp;

struct Search {
    intents: Vec<Intent>,
    /// List all: before the first creation of this ledger, and to see what other machines made.
    is_survey: bool,
}

impl Worker<'_> {
    /// Lists, settles what is in doubt, and before creations lists all: another machine may have made the
    /// tickets. The oldest ticket of a marker counts. [`Seen::held`] tells why nothing may be created yet.
    pub(super) async fn look_up(&mut self, lease: &Lease, plan: &Plan, report: &mut Report) -> Result<Seen> {
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
    ) -> Result<Seen> {
        let search = Search { intents: Vec::new(), is_survey: true };
        self.look(lease, plan, &search, report).await
    }

    fn search(&mut self, plan: &Plan) -> Result<Search> {
        let (lag_ms, now) = (self.settings.look_up_wait_ms(), self.clock.now());
        let creates = self.may_create(plan, &plan.actions.iter().collect::<Vec<_>>())?;
        let ledger = self.ledger.read()?;
        let name = &self.settings.name;
        let is_due = ledger.record(name)?.listing_due(lag_ms, now).is_some_and(|due| due <= now);
        let mut intents = ledger.intents(name)?;
        intents.retain(|intent| intent.action == IntentAction::Create);
        Ok(Search { intents, is_survey: creates || is_due })
    }

    pub(super) fn may_create(&mut self, plan: &Plan, actions: &[&Action]) -> Result<bool> {
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
    ) -> Result<Seen> {
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

    async fn list_all(&mut self, lease: &Lease, search: &Search) -> Result<Result<Listed, Deferred>> {
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

    fn is_new(&mut self) -> Result<bool> {
        Ok(self.ledger.read()?.record(&self.settings.name)?.listed_at.is_none())
    }

    /// Links tickets that have our label and the title of one to be made: they lost their marker, and a
    /// person is asked.
    fn link_unmarked(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        listed: &Listed,
        report: &mut Report,
    ) -> Result<()> {
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

/// Asks the tracker without a change to make: a creation is in doubt, a listing is due, or the configured
/// address differs from that of the tickets.
pub fn wants_look(ledger: &dyn LedgerReader, settings: &TrackerSettings, now: Timestamp) -> Result<bool> {
    let name = &settings.name;
    let is_begun = ledger.intents(name)?.iter().any(|intent| intent.action == IntentAction::Create);
    let record = ledger.record(name)?;
    Ok(is_begun || record.wants_look(&settings.target.address(), settings.look_up_wait_ms(), now))
}

pub(super) type Unlisted = BTreeMap<Marker, Timestamp>;

/// The holder may give it back any moment, or die.
const ASK_AGAIN_MS: u64 = 1000;

const CONTEST_MS: u64 = 20;

const LONG_WAIT_MS: u64 = 10_000;

impl Worker<'_> {
    /// Waits for it while there is patience, but never for that of a dead process.
    pub(super) async fn take_lease(&mut self) -> Result<Lease> {
        let mut is_told = false;
        loop {
            let error = match self.try_lease() {
                Ok(lease) => return Ok(lease),
                Err(error) => error,
            };
            let ErrorKind::Held { until, .. } = error.kind else { return Err(error) };
            let again = moment::after(self.clock.now(), ASK_AGAIN_MS);
            if until > again && !std::mem::replace(&mut is_told, true) {
                self.notice(&Notice::Held(error.message.clone()));
            }
            if !self.wait(None, until.min(again)).await? {
                return Err(error);
            }
        }
    }

    fn try_lease(&mut self) -> Result<Lease> {
        let (now, name) = (self.clock.now(), self.settings.name.as_str());
        try_lease(self.ledger, name, self.holder, now, self.work.lease_ms)
    }

    pub(super) fn release(&mut self, lease: Lease) -> Result<()> {
        give_back(self.ledger, lease, self.clock.now())
    }

    /// `false`, and at once, if patience is too short or at a stop. `lease` is kept.
    pub(super) async fn wait(&mut self, lease: Option<&Lease>, until: Timestamp) -> Result<bool> {
        let mut left = moment::between(self.clock.now(), until).max(1);
        if left > self.patience_ms {
            return Ok(false);
        }
        self.patience_ms -= left;
        if left >= LONG_WAIT_MS {
            self.notice(&Notice::Waits(until));
        }
        while left > 0 {
            let part = left.min((self.work.lease_ms / 3).max(1));
            tokio::select! {
                () = self.clock.sleep(Duration::from_millis(part)) => left -= part,
                () = self.stop.asked() => return Ok(false),
            }
            if let Some(lease) = lease {
                begin(self.ledger, lease, self.work.lease_ms, self.clock.now())?.commit()?;
            }
        }
        Ok(true)
    }
}

/// `Err` while a living process has it. Whoever only asks writes nothing.
pub fn try_lease(
    ledger: &mut dyn Ledger,
    name: &str,
    holder: &str,
    now: Timestamp,
    length_ms: u64,
) -> Result<Lease> {
    let seen = ledger.read()?.lease(name)?;
    let wanted = match Lease::acquire(seen.clone(), name, holder, now, length_ms) {
        Err(held) if ledger.is_holder_dead(name, held.number)? => {
            Lease::take_over(seen.clone(), name, holder, now, length_ms)
        }
        Err(held) => return Err(held.held()),
        Ok(wanted) => wanted,
    };
    // Before the lease is committed, so that others never see it without the lock.
    if !ledger.mark_alive(name, wanted.number)? {
        let until = moment::after(now, CONTEST_MS);
        return Err(Lease { until, holder: "another process".to_owned(), ..wanted }.held());
    }
    let current = match replace(ledger, seen.as_ref(), &wanted) {
        Ok(None) => return Ok(wanted),
        // A lease that could not be renewed is still this process's.
        Err(error) if seen.is_some_and(|seen| seen.number == wanted.number) => return Err(error),
        current => current,
    };
    ledger.unmark_alive(name)?;
    // Somebody was faster.
    let until = moment::after(now, CONTEST_MS);
    Err(Lease { until, ..current?.unwrap_or(wanted) }.held())
}

fn replace(ledger: &mut dyn Ledger, seen: Option<&Lease>, wanted: &Lease) -> Result<Option<Lease>> {
    let mut transaction = ledger.write()?;
    let current = transaction.lease(&wanted.name)?;
    if current.as_ref() != seen {
        return Ok(current);
    }
    transaction.put_lease(wanted)?;
    transaction.commit()?;
    Ok(None)
}

/// If that fails this process still shows that it lives, so that others see when it does no more.
pub fn give_back(ledger: &mut dyn Ledger, lease: Lease, now: Timestamp) -> Result<()> {
    let name = lease.name.clone();
    match put_back(ledger, lease, now) {
        Err(error) if error.kind != ErrorKind::Fenced => Err(error),
        released => released.and(ledger.unmark_alive(&name)),
    }
}

fn put_back(ledger: &mut dyn Ledger, lease: Lease, now: Timestamp) -> Result<()> {
    let mut transaction = ledger.write()?;
    check_lease(&*transaction, &lease)?;
    transaction.put_lease(&lease.released(now))?;
    transaction.commit()
}

pub fn begin<'l>(
    ledger: &'l mut dyn Ledger,
    lease: &Lease,
    length_ms: u64,
    now: Timestamp,
) -> Result<Box<dyn LedgerWriter + 'l>> {
    let mut transaction = ledger.write()?;
    check_lease(&*transaction, lease)?;
    transaction.put_lease(&Lease { until: moment::after(now, length_ms), ..lease.clone() })?;
    Ok(transaction)
}
