//! Carries out plans.

use std::{collections::BTreeSet, sync::atomic::AtomicUsize};

use super::{
    ActionOutcome, Deferred, Listener, Report, StopSignal, WorkerClock, WorkerSettings,
    admission::Item,
    creations::Creations,
    found::{Seen, adopt},
    look_up,
    open_tracker::TargetState,
    prepare::{Batch, Prepared, batches, part_first_creation},
};
use crate::{
    Result,
    breaker::{Failure, Reason},
    configuration::TrackerSettings,
    ledger::{Lease, Ledger, LedgerWriter, Link},
    plan::{Action, ActionKind, Plan},
    retry::Chance,
    ticket::{Marker, Observed, Stamp, Ticket},
    tracker::{Answer, Change, Condition, Creation, Delivered, Listing, Outcome, RequestKind, Tracker},
};

/// For one tracker of one project. See the module for its guarantees.
pub struct Worker<'w> {
    pub(super) ledger: &'w mut dyn Ledger,
    pub(super) tracker: &'w dyn Tracker,
    pub(super) clock: &'w dyn WorkerClock,
    pub(super) settings: &'w TrackerSettings,
    pub(super) project: &'w str,
    pub(super) holder: &'w str,
    pub(super) draw: &'w mut Chance<'w>,
    pub(super) work: WorkerSettings,
    pub(super) stop: StopSignal,
    pub(super) patience_ms: u64,
    pub(super) requests: usize,
    /// A person says that its ticket is its own: it gets the marker.
    naming: Option<Marker>,
    named: BTreeSet<Marker>,
    pub(super) is_in_sight: bool,
    pub(super) done: Option<&'w AtomicUsize>,
    pub(super) tell: Option<Listener>,
}

impl<'w> Worker<'w> {
    pub fn new(
        ledger: &'w mut dyn Ledger,
        (tracker, settings): (&'w dyn Tracker, &'w TrackerSettings),
        clock: &'w dyn WorkerClock,
        project: &'w str,
        (holder, draw): (&'w str, &'w mut Chance<'w>),
    ) -> Self {
        let work = WorkerSettings::default();
        let patience_ms = work.patience_ms;
        let stop = StopSignal::default();
        Self {
            ledger,
            tracker,
            clock,
            settings,
            project,
            holder,
            draw,
            work,
            stop,
            patience_ms,
            requests: 0,
            naming: None,
            named: BTreeSet::new(),
            is_in_sight: false,
            done: None,
            tell: None,
        }
    }

    #[must_use]
    pub fn with(self, work: WorkerSettings) -> Self {
        Self { work, patience_ms: work.patience_ms, ..self }
    }

    /// After `stop` it sends no further request and waits no longer.
    #[must_use]
    pub fn heeding(self, stop: StopSignal) -> Self {
        Self { stop, ..self }
    }

    /// A person says that the linked ticket is this artifact's: it gets its marker back.
    pub fn name_ticket_of(&mut self, marker: Marker) {
        self.naming = Some(marker);
    }

    /// Reports long waits, and obstacles before the first write.
    #[must_use]
    pub fn telling(self, tell: Listener) -> Self {
        Self { tell: Some(tell), ..self }
    }

    /// Counts finished actions in `done`, for progress bars.
    #[must_use]
    pub fn counting(self, done: &'w AtomicUsize) -> Self {
        Self { done: Some(done), ..self }
    }

    /// All tickets of the project; links nothing, needs no lease.
    pub async fn survey(&mut self) -> Result<Result<Vec<Observed>, Deferred>> {
        Ok(self.list(None, self.project, Listing::Labelled).await?.map(|listed| listed.tickets))
    }

    /// Actions whose preconditions have changed are skipped, so an old plan does no harm. May be dropped at
    /// any moment.
    pub async fn apply(&mut self, plan: &Plan) -> Result<Report> {
        let mut report = Report::default();
        let before = self.asked();
        self.named.clone_from(&plan.named);
        let lease = self.take_lease().await?;
        let worked = self.work_through(&lease, plan, &mut report).await;
        let record = self.ledger.read().and_then(|ledger| ledger.record(&self.settings.name));
        let released = self.release(lease);
        // The first error counts; a lost lease cannot be given back either.
        worked?;
        released?;
        report.listing_due = record?.listing_due(self.settings.look_up_wait_ms(), self.clock.now());
        report.requests = self.asked() - before;
        Ok(report)
    }

    fn asked(&self) -> usize {
        self.tracker.sent().unwrap_or(self.requests)
    }

    async fn work_through(&mut self, lease: &Lease, plan: &Plan, report: &mut Report) -> Result<()> {
        match self.settle_target(lease).await? {
            TargetState::Same => {}
            TargetState::Changed => {
                report.is_of_another_target = true;
                return Ok(());
            }
            TargetState::Unknown(held) => {
                hold(report, plan.actions.iter().map(|action| (action.kind, &action.marker)), &held);
                return Ok(());
            }
        }
        self.preflight(lease, plan, report).await?;
        let Seen { held, listed_at, duplicates, .. } = self.look_up(lease, plan, report).await?;
        let mut creations = Creations::since(listed_at, held, duplicates);
        creations.is_first = self.ledger.read()?.record(&self.settings.name)?.created_at.is_none();
        self.adopt_all(lease, plan, report)?;
        let actions = self.make_known(lease, plan, report).await?;
        self.do_all(lease, plan, &actions, &mut creations, report).await?;
        self.after_creations(lease, plan, &mut creations, report).await?;
        let mut duplicates = std::mem::take(&mut creations.duplicates);
        // Two lists may have shown the same, and the plan may know of it.
        let id = |action: &Action| action.remote.as_ref().map(|remote| remote.id.clone());
        let is_planned =
            |action: &Action| plan.actions.iter().any(|own| own.kind == action.kind && id(own) == id(action));
        duplicates.retain(|action| !is_planned(action));
        duplicates.sort_by_key(id);
        duplicates.dedup_by_key(|action| id(action));
        self.do_all(lease, plan, &duplicates, &mut creations, report).await
    }

    async fn do_all(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        actions: &[Action],
        creations: &mut Creations,
        report: &mut Report,
    ) -> Result<()> {
        // Once: a first sync has as many batches as tickets.
        let expected = expected(plan);
        let tracker = self.tracker;
        let mut batches = batches(actions, |kind| tracker.batch(kind));
        if creations.is_first && tracker.list_lags() {
            part_first_creation(&mut batches);
        }
        for batch in batches {
            let tickets = || batch.actions.iter().map(|action| (action.kind, &action.marker));
            if self.stop.is_asked() {
                hold(report, tickets(), &Deferred::Stopped);
                continue;
            }
            if batch.kind == RequestKind::Create && self.may_create(plan, &batch.actions)? {
                self.before_creation(lease, plan, creations, report).await?;
                if let Some(held) = &creations.held {
                    hold(report, tickets(), held);
                    continue;
                }
            }
            let is_creation = batch.kind == RequestKind::Create;
            if self.execute(lease, &expected, batch, report).await? && is_creation {
                creations.made(self.clock.now());
            }
        }
        Ok(())
    }

    pub(super) fn begin(&mut self, lease: Option<&Lease>) -> Result<Box<dyn LedgerWriter + '_>> {
        match lease {
            Some(lease) => look_up::begin(self.ledger, lease, self.work.lease_ms, self.clock.now()),
            None => self.ledger.write(),
        }
    }

    fn adopt_all(&mut self, lease: &Lease, plan: &Plan, report: &mut Report) -> Result<()> {
        let adopted: Vec<_> = plan.actions.iter().filter(|action| action.kind == ActionKind::Adopt).collect();
        if adopted.is_empty() {
            return Ok(());
        }
        let (name, now) = (self.settings.name.clone(), self.clock.now());
        let mut transaction = self.begin(Some(lease))?;
        let mut told = Report::default();
        for action in adopted {
            let Some(remote) = &action.remote else { continue };
            let outcome = match transaction.link(&name, &action.marker)? {
                // The look-up did it.
                Some(link) if link.remote.id == remote.id => continue,
                // Another ticket is linked than when the plan was made.
                Some(link) if link.digest != action.base => Deferred::Stale.into(),
                _ => {
                    let link = Link {
                        tracker: name.clone(),
                        marker: action.marker.clone(),
                        remote: remote.clone(),
                        digest: None,
                        linked_at: now,
                    };
                    adopt(&mut *transaction, (&link, None), Vec::new())?
                }
            };
            told.tell(ActionKind::Adopt, &action.marker, outcome);
        }
        transaction.commit()?;
        report.entries.append(&mut told.entries);
        Ok(())
    }

    async fn execute(
        &mut self,
        lease: &Lease,
        expected: &BTreeSet<&Marker>,
        batch: Batch<'_>,
        report: &mut Report,
    ) -> Result<bool> {
        let kind = batch.kind;
        let Some(Prepared { items, route }) = self.prepare(lease, expected, batch, report).await? else {
            return Ok(false);
        };
        self.requests += 1;
        let now = self.clock.now();
        let made = items.iter().map(|_| Stamp::of_creation(now, (self.draw)().0)).collect();
        let mut answer = ask(self.tracker, kind, &items, (self.naming.as_ref(), &self.named, made)).await;
        while answer.outcomes.len() < items.len() {
            let failure = Failure::new(Reason::Unreadable, "the answer does not speak of every ticket");
            answer.outcomes.push(Outcome::InDoubt(failure));
        }
        let is_gone = |outcome: &Outcome<Delivered>| matches!(outcome, Outcome::Failed(failure) if failure.reason == Reason::Gone);
        if answer.outcomes.iter().any(is_gone)
            && let Some(failure) = self.out_of_sight(lease).await?
        {
            let gone = answer.outcomes.iter_mut().filter(|outcome| is_gone(outcome));
            gone.for_each(|outcome| *outcome = Outcome::Failed(failure.clone()));
        }
        let named = items.iter().zip(&mut answer.outcomes);
        for (item, outcome) in named.filter(|(item, _)| self.named.contains(&item.action.marker)) {
            if let (Outcome::Failed(failure), Some(remote)) = (outcome, &item.remote)
                && failure.reason == Reason::Gone
            {
                failure.detail = format!(
                    "`tracker_id` of its leaf file names {} ({}): correct it there, or take it out",
                    remote.key, failure.detail
                );
            }
        }
        let may_be_done = answer.outcomes.iter().any(|outcome| !matches!(outcome, Outcome::Failed(_)));
        self.write_down(lease, &items, &route, answer, report)?;
        Ok(may_be_done)
    }
}

/// Borrows the tracker alone: the rest of a worker is not shared between threads.
async fn ask(
    tracker: &dyn Tracker,
    kind: RequestKind,
    items: &[Item<'_>],
    (naming, named, made): (Option<&Marker>, &BTreeSet<Marker>, Vec<String>),
) -> Answer<Delivered> {
    let stamped = |item: &Item<'_>, made, ticket| {
        let stamp = Stamp { made, ticket, ..item.ticket.stamp.clone() };
        Ticket { stamp, ..item.ticket.clone() }
    };
    if kind == RequestKind::Create {
        let creations = items.iter().zip(made).map(|(item, made)| Creation {
            ticket: stamped(item, Some(made), None),
            parent: item.parent.clone(),
        });
        return tracker.create(&creations.collect::<Vec<_>>()).await;
    }
    let changes = items.iter().filter_map(|item| {
        Some(Change {
            desired: stamped(item, None, Some(item.remote.as_ref()?.id.clone())),
            remote: item.remote.clone()?,
            before: item.before.clone(),
            parent: item.parent.clone(),
            condition: match item.action.kind {
                ActionKind::CloseDuplicate => Condition::Untouched,
                _ if naming == Some(&item.action.marker) => Condition::Named,
                _ if named.contains(&item.action.marker) => Condition::NamedInFile,
                _ => Condition::Marked,
            },
        })
    });
    tracker.update(&changes.collect::<Vec<_>>()).await
}

pub(super) fn expected(plan: &Plan) -> BTreeSet<&Marker> {
    let brings = |kind| matches!(kind, ActionKind::Create | ActionKind::Adopt | ActionKind::LookUp);
    plan.actions.iter().filter(|action| brings(action.kind)).map(|action| &action.marker).collect()
}

pub(super) fn hold<'m>(
    report: &mut Report,
    tickets: impl Iterator<Item = (ActionKind, &'m Marker)>,
    why: &Deferred,
) {
    tickets.for_each(|(kind, marker)| report.tell(kind, marker, ActionOutcome::Deferred(why.clone())));
}
