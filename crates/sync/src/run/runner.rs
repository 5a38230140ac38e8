//! The loop of a run.

use std::{error::Error, time::Duration};

use jiff::Timestamp;
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    ChangeListener, Pass, PassError, RunEvent, RunSettings,
    schedule::{Schedule, next_due},
};
use crate::{
    TrackerName,
    configuration::TrackerSettings,
    ledger::{Lease, LeaseHeld, Ledger, LedgerError},
    moment,
    retry::Chance,
    ticket::Snapshot,
    tracker::Tracker,
    worker::{ApplyError, StopSignal, WorkerClock, give_back, try_lease},
};

/// The parts that passes are made with.
pub struct RunContext<'r> {
    pub ledger: &'r mut dyn Ledger,
    pub tracker: &'r dyn Tracker,
    pub settings: &'r TrackerSettings,
    pub clock: &'r dyn WorkerClock,
    pub project: &'r str,
    /// The name of the process that works: another text for every process.
    pub holder: &'r str,
    pub draw: &'r mut Chance<'r>,
    pub snapshot: &'r mut (dyn FnMut() -> Result<Snapshot, Box<dyn Error + Send + Sync>> + Send),
    pub stop: StopSignal,
}

/// Keeps the tickets of one tracker in step until the context's signal is asked. `lead_ledger` is another
/// handle to the context's ledger: the lease is renewed while a pass uses the first. May be dropped at any
/// moment, and spawned on another thread.
pub async fn run(
    mut context: RunContext<'_>,
    lead_ledger: &mut dyn Ledger,
    mut changes: ChangeListener,
    observe: &mut (dyn FnMut(&RunEvent<'_>) + Send),
) {
    let settings = context.settings.run;
    let leader = Leader::new(lead_ledger, &context.settings.name, context.holder, &settings);
    let mut watch = Watch { leader, clock: context.clock, settings, next_heartbeat: Instant::now(), observe };
    let stop = context.stop.clone();
    while watch.wait_for_lead(&stop).await {
        work(&mut context, &mut watch, &mut changes).await;
    }
    if let Err(error) = watch.leader.give_back(context.clock.now()) {
        (watch.observe)(&RunEvent::NoLedger { error: &error });
    }
    (watch.observe)(&RunEvent::Stopped);
}

/// Makes passes until the run is to stop or another process leads.
async fn work(context: &mut RunContext<'_>, watch: &mut Watch<'_>, changes: &mut ChangeListener) {
    let stop = context.stop.clone();
    let mut schedule = Schedule::new(context.settings.run, Instant::now());
    loop {
        // In this order: a storm of changes keeps nothing else from happening.
        tokio::select! {
            biased;
            () = stop.asked() => return,
            () = sleep_until(watch.next_heartbeat) => if !watch.keep_lead() { return },
            () = sleep_until(schedule.due()) => {
                schedule.pass_begins();
                let began = Instant::now();
                let (outcome, is_leading) = watch.during(context.pass()).await;
                settle(context, &mut schedule, watch.observe, &outcome, began);
                if !is_leading {
                    return;
                }
            }
            () = changes.changed() => schedule.changed(Instant::now()),
        }
    }
}

/// Notes what a pass did, and when the next one is due.
fn settle(
    context: &RunContext<'_>,
    schedule: &mut Schedule,
    observe: &mut (dyn FnMut(&RunEvent<'_>) + Send),
    outcome: &Result<Pass, PassError>,
    began: Instant,
) {
    let now = Instant::now();
    let at = context.clock.now();
    match outcome {
        Ok(pass) => {
            schedule.passed(now, next_due(&pass.report, context.settings, at));
            observe(&RunEvent::Passed { pass, at, took: now - began });
        }
        Err(error) => {
            match error {
                // A person works on it.
                PassError::Apply(ApplyError::LeaseHeld(held)) => {
                    let wait = moment::between(at, held.0.until);
                    schedule.passed(now, Some(Duration::from_millis(wait)));
                }
                _ => schedule.failed(now),
            }
            observe(&RunEvent::PassFailed { error });
        }
    }
}

struct Watch<'w> {
    leader: Leader<'w>,
    clock: &'w dyn WorkerClock,
    settings: RunSettings,
    next_heartbeat: Instant,
    observe: &'w mut (dyn FnMut(&RunEvent<'_>) + Send),
}

impl Watch<'_> {
    /// Waits until this process leads; `false` where it is to stop.
    async fn wait_for_lead(&mut self, stop: &StopSignal) -> bool {
        let mut other = None;
        while !stop.is_asked() {
            match self.leader.take(self.clock.now()) {
                Ok(Ok(lease)) => {
                    (self.observe)(&RunEvent::Leading { lease });
                    self.next_heartbeat = Instant::now() + self.settings.heartbeat();
                    return true;
                }
                Ok(Err(held)) => {
                    if other.as_ref() != Some(&held.0.holder) {
                        (self.observe)(&RunEvent::Standby { held: &held.0 });
                        other = Some(held.0.holder);
                    }
                }
                Err(error) => (self.observe)(&RunEvent::NoLedger { error: &error }),
            }
            tokio::select! {
                () = sleep(self.settings.heartbeat()) => {}
                () = stop.asked() => {}
            }
        }
        false
    }

    /// Renews the lease; `false` where another process has it.
    fn keep_lead(&mut self) -> bool {
        self.next_heartbeat = Instant::now() + self.settings.heartbeat();
        match self.leader.take(self.clock.now()) {
            Ok(Ok(_)) => true,
            Ok(Err(held)) => {
                (self.observe)(&RunEvent::LostLead { held: &held.0 });
                false
            }
            Err(error) => {
                // The work itself has a lease of its own: two at once never work twice.
                (self.observe)(&RunEvent::NoLedger { error: &error });
                true
            }
        }
    }

    /// Keeps the lease during some work; answers whether this process still leads.
    async fn during<R>(&mut self, work: impl Future<Output = R>) -> (R, bool) {
        tokio::pin!(work);
        let mut is_leading = true;
        loop {
            tokio::select! {
                biased;
                outcome = &mut work => return (outcome, is_leading),
                () = sleep_until(self.next_heartbeat), if is_leading => is_leading = self.keep_lead(),
            }
        }
    }
}

/// The name of the lease on running for `tracker`. It is another one than that on working, so that a person
/// can still say `sync apply`; no tracker has a `.` in its name.
pub fn leader_lease_name(tracker: &TrackerName) -> String {
    format!("run.{tracker}")
}

/// The right to run for a tracker, as one process sees it.
pub(super) struct Leader<'d> {
    ledger: &'d mut dyn Ledger,
    name: String,
    holder: &'d str,
    length_ms: u64,
    lease: Option<Lease>,
}

impl<'d> Leader<'d> {
    pub(super) fn new(
        ledger: &'d mut dyn Ledger,
        tracker: &TrackerName,
        holder: &'d str,
        settings: &RunSettings,
    ) -> Self {
        Self { ledger, name: leader_lease_name(tracker), holder, length_ms: settings.lease_ms(), lease: None }
    }

    /// Takes or renews it; `Err` inside with whoever has it and lives. Whoever only waits writes nothing.
    pub(super) fn take(&mut self, now: Timestamp) -> Result<Result<&Lease, LeaseHeld>, LedgerError> {
        let taken = try_lease(self.ledger, &self.name, self.holder, now, self.length_ms)?;
        if taken.is_err() && self.lease.take().is_some() {
            // Whoever has it now gives its own.
            self.ledger.unmark_alive(&self.name)?;
        }
        Ok(taken.map(|lease| &*self.lease.insert(lease)))
    }

    pub(super) fn give_back(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        self.lease.take().map_or(Ok(()), |lease| give_back(self.ledger, lease, now))
    }
}
