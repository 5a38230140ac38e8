//! Carrying out a plan.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::{
    ApplyError, Fate, Held, Report, StopSignal, WorkerClock, WorkerSettings,
    batch::{Batch, batches},
    gate::{self, Heard},
    grounding::Item,
    lease_keeper, look_up,
    prepare::Prepared,
    settle::{Try, settle},
};
use crate::{
    breaker::{Failure, Reason, Route},
    configuration::TrackerSettings,
    ledger::{Lease, Ledger, LedgerError, LedgerWriter, Link},
    plan::{ActionKind, Plan},
    retry::{Chance, Draw},
    ticket::{Marker, Observed},
    tracker::{Answer, Change, Creation, Delivered, Outcome, RequestKind, Tracker},
};

/// Whoever carries out plans for one tracker of one project. See the module for what it guarantees.
pub struct Worker<'w, L, T, C> {
    pub(super) ledger: &'w mut L,
    pub(super) tracker: &'w T,
    pub(super) clock: &'w C,
    pub(super) settings: &'w TrackerSettings,
    /// The id of the project.
    pub(super) project: &'w str,
    /// Who works: another text for every process.
    pub(super) holder: &'w str,
    pub(super) draw: &'w mut Chance<'w>,
    pub(super) work: WorkerSettings,
    pub(super) stop: StopSignal,
    pub(super) patience_ms: u64,
    pub(super) requests: usize,
    done: Option<&'w AtomicUsize>,
}

impl<'w, L: Ledger, T: Tracker, C: WorkerClock> Worker<'w, L, T, C> {
    /// A worker for `tracker`, which `settings` describe. `project` is the id of the project, `(holder, draw)` the name of this worker,
    /// which nobody else has, and its chance.
    pub fn new(
        ledger: &'w mut L,
        (tracker, settings): (&'w T, &'w TrackerSettings),
        clock: &'w C,
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
            done: None,
        }
    }

    /// The same worker, working as `work` says.
    #[must_use]
    pub fn with(self, work: WorkerSettings) -> Self {
        Self { work, patience_ms: work.patience_ms, ..self }
    }

    /// The same worker, which ends between two requests, and waits no longer, once `stop` is asked.
    #[must_use]
    pub fn heeding(self, stop: StopSignal) -> Self {
        Self { stop, ..self }
    }

    /// The same worker, which counts what it has been through in `done`, for whoever shows progress.
    #[must_use]
    pub fn counting(self, done: &'w AtomicUsize) -> Self {
        Self { done: Some(done), ..self }
    }

    /// Looks through the tracker for all tickets of the project, for a plan. Nothing is linked, and no lease is needed.
    ///
    /// # Errors
    /// When the ledger fails. That the tracker cannot be listed is a value.
    pub async fn survey(&mut self) -> Result<Result<Vec<Observed>, Held>, ApplyError> {
        self.list(None, self.project).await
    }

    /// Carries out `plan`, and says what became of each action. Actions whose grounds have changed are left out, so that an old plan does no
    /// harm. May be dropped at any moment.
    ///
    /// # Errors
    /// When somebody else has the lease, or the ledger fails. What a tracker refuses is in the report.
    pub async fn apply(&mut self, plan: &Plan) -> Result<Report, ApplyError> {
        let mut report = Report::default();
        let before = self.asked();
        let lease = self.take_lease().await?;
        let worked = self.work_through(&lease, plan, &mut report).await;
        let released = self.release(lease);
        // What went wrong first counts; a lease that was lost cannot be given back either.
        worked?;
        released?;
        report.requests = self.asked() - before;
        Ok(report)
    }

    /// How many requests there were so far.
    fn asked(&self) -> usize {
        self.tracker.sent().unwrap_or(self.requests)
    }

    async fn work_through(
        &mut self,
        lease: &Lease,
        plan: &Plan,
        report: &mut Report,
    ) -> Result<(), ApplyError> {
        let no_creation = self.look_up(lease, plan, report).await?;
        self.adopt_all(lease, plan, report)?;
        let actions = self.make_known(lease, plan, report).await?;
        // Once: a first sync has as many batches as tickets.
        let expected = expected(plan);
        let tracker = self.tracker;
        for batch in batches(&actions, |kind| tracker.batch(kind)) {
            if self.stop.is_asked() {
                hold(
                    report,
                    batch.actions.iter().map(|action| (action.kind, &action.marker)),
                    &Held::Stopped,
                );
                continue;
            }
            match &no_creation {
                Some(held) if batch.kind == RequestKind::Create => {
                    hold(report, batch.actions.iter().map(|action| (action.kind, &action.marker)), held);
                }
                _ => self.carry_out(lease, &expected, batch, report).await?,
            }
        }
        Ok(())
    }

    /// A transaction, of the holder of `lease` where there is one.
    pub(super) fn begin(&mut self, lease: Option<&Lease>) -> Result<Box<dyn LedgerWriter + '_>, LedgerError> {
        match lease {
            Some(lease) => lease_keeper::begin(self.ledger, lease, self.work.lease_ms, self.clock.now()),
            None => self.ledger.write(),
        }
    }

    /// Links what the plan found.
    fn adopt_all(&mut self, lease: &Lease, plan: &Plan, report: &mut Report) -> Result<(), LedgerError> {
        let adopted: Vec<_> = plan.actions.iter().filter(|action| action.kind == ActionKind::Adopt).collect();
        if adopted.is_empty() {
            return Ok(());
        }
        let (name, now) = (self.settings.name.clone(), self.clock.now());
        let mut transaction = self.begin(Some(lease))?;
        let mut told = Report::default();
        for action in adopted {
            let Some(remote) = &action.remote else { continue };
            let fate = match transaction.link(&name, &action.marker)? {
                // The look-up did it.
                Some(link) if link.remote.id == remote.id && link.digest.is_none() => continue,
                Some(_) => Held::Stale.into(),
                None => {
                    let link = Link {
                        tracker: name.clone(),
                        marker: action.marker.clone(),
                        remote: remote.clone(),
                        digest: None,
                        source: None,
                        linked_at: now,
                    };
                    look_up::adopt(&mut *transaction, &link, Vec::new())?
                }
            };
            told.tell(ActionKind::Adopt, &action.marker, fate);
        }
        transaction.commit()?;
        report.entries.append(&mut told.entries);
        Ok(())
    }

    async fn carry_out(
        &mut self,
        lease: &Lease,
        expected: &BTreeSet<&Marker>,
        batch: Batch<'_>,
        report: &mut Report,
    ) -> Result<(), ApplyError> {
        let kind = batch.kind;
        let Some(Prepared { items, route }) = self.prepare(lease, expected, batch, report).await? else {
            return Ok(());
        };
        self.requests += 1;
        let mut answer = ask(self.tracker, kind, &items).await;
        while answer.outcomes.len() < items.len() {
            let failure = Failure::new(Reason::Unreadable, "the answer does not speak of every ticket");
            answer.outcomes.push(Outcome::InDoubt(failure));
        }
        self.write_down(lease, &items, &route, answer, report)?;
        Ok(())
    }

    /// Writes down what became of a request, in one transaction.
    fn write_down(
        &mut self,
        lease: &Lease,
        items: &[Item<'_>],
        route: &Route,
        answer: Answer<Delivered>,
        report: &mut Report,
    ) -> Result<(), LedgerError> {
        let (settings, now) = (self.settings, self.clock.now());
        let draws: Vec<Draw> = items.iter().map(|_| (self.draw)()).collect();
        let mut transaction = self.begin(Some(lease))?;
        let lost: Vec<Option<Failure>> =
            items.iter().zip(&answer.outcomes).map(|(item, outcome)| lost_label(item, outcome)).collect();
        let own = answer.outcomes.iter().map(Outcome::failure);
        let failures = own.zip(&lost).map(|(failure, lost)| failure.or(lost.as_ref())).collect();
        let heard = Heard { route, failures, budget: answer.budget };
        let is_probe = gate::is_probe(&*transaction, route)?;
        gate::tell(&mut *transaction, &heard, settings, now)?;
        let mut told = Report::default();
        for ((item, outcome), draw) in items.iter().zip(answer.outcomes).zip(draws) {
            let fate = settle(&mut *transaction, settings, item, outcome, Try { now, draw, is_probe })?;
            told.tell(item.action.kind, &item.action.marker, fate);
        }
        transaction.commit()?;
        if let Some(done) = self.done {
            done.fetch_add(told.entries.len(), Ordering::Relaxed);
        }
        report.entries.append(&mut told.entries);
        Ok(())
    }
}

/// Makes the request. It borrows the tracker alone: what else a worker holds is not shared between threads.
async fn ask<T: Tracker>(tracker: &T, kind: RequestKind, items: &[Item<'_>]) -> Answer<Delivered> {
    if kind == RequestKind::Create {
        let creations =
            items.iter().map(|item| Creation { ticket: item.ticket.clone(), parent: item.parent.clone() });
        return tracker.create(&creations.collect::<Vec<_>>()).await;
    }
    let changes = items.iter().filter_map(|item| {
        Some(Change {
            remote: item.remote.clone()?,
            desired: item.ticket.clone(),
            before: item.before.clone(),
            parent: item.parent.clone(),
        })
    });
    tracker.update(&changes.collect::<Vec<_>>()).await
}

/// What is wrong with a credential under which a new ticket came without the label of its project: without that it is never found
/// again, so no more are made until a person has mended it.
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

/// The artifacts whose tickets the plan is to bring.
fn expected(plan: &Plan) -> BTreeSet<&Marker> {
    let brings = |kind| matches!(kind, ActionKind::Create | ActionKind::Adopt | ActionKind::LookUp);
    plan.actions.iter().filter(|action| brings(action.kind)).map(|action| &action.marker).collect()
}

/// Tells why tickets are not asked for.
pub(super) fn hold<'m>(
    report: &mut Report,
    tickets: impl Iterator<Item = (ActionKind, &'m Marker)>,
    why: &Held,
) {
    tickets.for_each(|(kind, marker)| report.tell(kind, marker, Fate::Held(why.clone())));
}
