//! The loop of a run.

use std::{error::Error, time::Duration};

use jiff::Timestamp;
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    ChangeListener, Pass, PassError, RunEvent, RunSettings,
    agenda::{Agenda, next_due},
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

/// What makes passes.
pub struct Crew<'r> {
    /// The ledger, for passes.
    pub ledger: &'r mut dyn Ledger,
    /// The tracker.
    pub tracker: &'r dyn Tracker,
    /// What the configuration says about it.
    pub settings: &'r TrackerSettings,
    /// The clock.
    pub clock: &'r dyn WorkerClock,
    /// The id of the project.
    pub project: &'r str,
    /// Who works: another text for every process.
    pub holder: &'r str,
    /// Chance.
    pub draw: &'r mut Chance<'r>,
    /// Reads the artifacts as they are now.
    pub snapshot: &'r mut (dyn FnMut() -> Result<Snapshot, Box<dyn Error + Send + Sync>> + Send),
    /// Ends the run, between two requests.
    pub stop: StopSignal,
}

/// Keeps the tickets of one tracker in step until the crew's signal is asked. `duty_ledger` is another handle to the crew's ledger: the lease
/// is renewed while a pass uses the first. May be dropped at any moment, and spawned on another thread.
pub async fn run(
    mut crew: Crew<'_>,
    duty_ledger: &mut dyn Ledger,
    mut changes: ChangeListener,
    observe: &mut (dyn FnMut(&RunEvent<'_>) + Send),
) {
    let settings = crew.settings.run;
    let duty = Duty::new(duty_ledger, &crew.settings.name, crew.holder, &settings);
    let mut watch = Watch { duty, clock: crew.clock, settings, next_beat: Instant::now(), observe };
    let stop = crew.stop.clone();
    while watch.wait_for_duty(&stop).await {
        work(&mut crew, &mut watch, &mut changes).await;
    }
    if let Err(error) = watch.duty.give_back(crew.clock.now()) {
        (watch.observe)(&RunEvent::NoLedger { error: &error });
    }
    (watch.observe)(&RunEvent::Stopped);
}

/// Makes passes until the run is to stop or another process is on duty.
async fn work(crew: &mut Crew<'_>, watch: &mut Watch<'_>, changes: &mut ChangeListener) {
    let stop = crew.stop.clone();
    let mut agenda = Agenda::new(crew.settings.run, Instant::now());
    loop {
        // In this order: a storm of changes keeps nothing else from happening.
        tokio::select! {
            biased;
            () = stop.asked() => return,
            () = sleep_until(watch.next_beat) => if !watch.keep_duty() { return },
            () = sleep_until(agenda.due()) => {
                agenda.pass_begins();
                let began = Instant::now();
                let (outcome, is_on_duty) = watch.during(crew.pass()).await;
                settle(crew, &mut agenda, watch.observe, &outcome, began);
                if !is_on_duty {
                    return;
                }
            }
            () = changes.changed() => agenda.changed(Instant::now()),
        }
    }
}

/// Notes what a pass did, and when the next one is due.
fn settle(
    crew: &Crew<'_>,
    agenda: &mut Agenda,
    observe: &mut (dyn FnMut(&RunEvent<'_>) + Send),
    outcome: &Result<Pass, PassError>,
    began: Instant,
) {
    let now = Instant::now();
    let at = crew.clock.now();
    match outcome {
        Ok(pass) => {
            agenda.passed(now, next_due(&pass.report, crew.settings, at));
            observe(&RunEvent::Passed { pass, at, took: now - began });
        }
        Err(error) => {
            match error {
                // A person works on it.
                PassError::Apply(ApplyError::LeaseHeld(held)) => {
                    let wait = moment::between(at, held.0.until);
                    agenda.passed(now, Some(Duration::from_millis(wait)));
                }
                _ => agenda.failed(now),
            }
            observe(&RunEvent::PassFailed { error });
        }
    }
}

/// Keeps a process on duty.
struct Watch<'w> {
    duty: Duty<'w>,
    clock: &'w dyn WorkerClock,
    settings: RunSettings,
    /// When the lease is renewed.
    next_beat: Instant,
    observe: &'w mut (dyn FnMut(&RunEvent<'_>) + Send),
}

impl Watch<'_> {
    /// Waits until this process is on duty; `false` where it is to stop.
    async fn wait_for_duty(&mut self, stop: &StopSignal) -> bool {
        let mut other = None;
        while !stop.is_asked() {
            match self.duty.take(self.clock.now()) {
                Ok(Ok(lease)) => {
                    (self.observe)(&RunEvent::OnDuty { lease });
                    self.next_beat = Instant::now() + self.settings.beat();
                    return true;
                }
                Ok(Err(held)) => {
                    if other.as_ref() != Some(&held.0.holder) {
                        (self.observe)(&RunEvent::StandsBy { held: &held.0 });
                        other = Some(held.0.holder);
                    }
                }
                Err(error) => (self.observe)(&RunEvent::NoLedger { error: &error }),
            }
            tokio::select! {
                () = sleep(self.settings.beat()) => {}
                () = stop.asked() => {}
            }
        }
        false
    }

    /// Renews the lease; `false` where another process has it.
    fn keep_duty(&mut self) -> bool {
        self.next_beat = Instant::now() + self.settings.beat();
        match self.duty.take(self.clock.now()) {
            Ok(Ok(_)) => true,
            Ok(Err(held)) => {
                (self.observe)(&RunEvent::LostDuty { held: &held.0 });
                false
            }
            Err(error) => {
                // The work itself has a lease of its own: two at once never work twice.
                (self.observe)(&RunEvent::NoLedger { error: &error });
                true
            }
        }
    }

    /// Keeps the lease during some work; answers whether this process is still on duty.
    async fn during<R>(&mut self, work: impl Future<Output = R>) -> (R, bool) {
        tokio::pin!(work);
        let mut is_on_duty = true;
        loop {
            tokio::select! {
                biased;
                outcome = &mut work => return (outcome, is_on_duty),
                () = sleep_until(self.next_beat), if is_on_duty => is_on_duty = self.keep_duty(),
            }
        }
    }
}

/// The name of the lease on running for `tracker`. It is another one than that on working, so that a person can still say `sync apply`; no
/// tracker has a `.` in its name.
pub fn duty_of(tracker: &TrackerName) -> String {
    format!("run.{tracker}")
}

/// The right to run for a tracker, as one process sees it.
pub(super) struct Duty<'d> {
    ledger: &'d mut dyn Ledger,
    name: String,
    holder: &'d str,
    length_ms: u64,
    lease: Option<Lease>,
}

impl<'d> Duty<'d> {
    pub(super) fn new(
        ledger: &'d mut dyn Ledger,
        tracker: &TrackerName,
        holder: &'d str,
        settings: &RunSettings,
    ) -> Self {
        Self { ledger, name: duty_of(tracker), holder, length_ms: settings.lease_ms(), lease: None }
    }

    /// Takes or renews it; `Err` inside with whoever has it and lives. Whoever only waits writes nothing.
    pub(super) fn take(&mut self, now: Timestamp) -> Result<Result<&Lease, LeaseHeld>, LedgerError> {
        let taken = try_lease(self.ledger, &self.name, self.holder, now, self.length_ms)?;
        if taken.is_err() && self.lease.take().is_some() {
            // Whoever has it now gives its own.
            self.ledger.end_sign_of_life(&self.name)?;
        }
        Ok(taken.map(|lease| &*self.lease.insert(lease)))
    }

    /// Gives it back, where this process has it.
    pub(super) fn give_back(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        self.lease.take().map_or(Ok(()), |lease| give_back(self.ledger, lease, now))
    }
}
