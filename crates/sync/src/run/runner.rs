//! The loop of a run.

use std::{collections::BTreeMap, time::Duration};

use super::{ChangeListener, RunEvent, RunSettings};
use crate::{
    Error, ErrorKind, Result, TrackerName,
    configuration::TrackerSettings,
    ledger::{Lease, Ledger},
    moment,
    plan::{Action, Plan, PlanInputs, Remark},
    retry::Chance,
    ticket::{Marker, Snapshot},
    tracker::Tracker,
    worker::{
        ActionOutcome, Deferred, Report, StopSignal, Worker, WorkerClock, WorkerSettings, give_back,
        try_lease, wants_look,
    },
};
use jiff::Timestamp;
use tokio::time::{Instant, sleep, sleep_until};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    pub report: Report,
    pub remarks: Vec<Remark>,
    pub unchanged: usize,
    pub names: BTreeMap<Marker, String>,
}

fn name(action: &Action) -> String {
    let title = action.ticket.as_ref().map(|ticket| ticket.title.as_str());
    match (&action.path, title) {
        (Some(path), Some(title)) => format!("{path} ({title})"),
        (Some(path), None) => path.to_string(),
        (None, Some(title)) => title.to_owned(),
        (None, None) => action.marker.to_string(),
    }
}

/// Plans of one pass: the next one updates what was found and creates what was not there.
const ROUNDS: usize = 5;

impl RunContext<'_> {
    /// Plans and applies until another plan would do no more. Writes nothing if there is nothing to do.
    pub(super) async fn pass(&mut self) -> Result<Pass> {
        let mut pass = Pass::default();
        for round in 0..ROUNDS {
            let (plan, wants_look) = self.plan(&mut pass)?;
            pass.unchanged = plan.unchanged;
            pass.remarks.clone_from(&plan.remarks);
            pass.names.extend(plan.actions.iter().map(|action| (action.marker.clone(), name(action))));
            if self.stop.is_asked() || round == 0 && plan.actions.is_empty() && !wants_look {
                break;
            }
            let done = self.execute(&plan).await?;
            let goes_on = done.is_followed_by_more();
            pass.report.requests += done.requests;
            pass.report.listing_due = done.listing_due;
            if !goes_on || round + 1 == ROUNDS {
                pass.report.entries.extend(done.entries);
                break;
            }
            // The next round takes it up: it is not waiting.
            pass.report.entries.extend(done.entries);
        }
        Ok(pass)
    }

    /// The flag: ask the tracker even if the plan is empty (a request is in doubt, or a listing is due).
    fn plan(&mut self, pass: &mut Pass) -> Result<(Plan, bool)> {
        let snapshot = (self.snapshot)()
            .map_err(|error| Error::new(ErrorKind::Io, "the artifacts cannot be read").because(error))?;
        let (settings, now) = (self.settings, self.clock.now());
        let ledger = self.ledger.read()?;
        let grounds = PlanInputs { snapshot: &snapshot, settings, ledger: &*ledger, survey: None };
        let plan = Plan::make(&grounds)?;
        let record = ledger.record(&settings.name)?;
        pass.report.listing_due = record.listing_due(settings.look_up_wait_ms(), now);
        Ok((plan, wants_look(&*ledger, settings, now)?))
    }

    async fn execute(&mut self, plan: &Plan) -> Result<Report> {
        let mut draw = || (self.draw)();
        let who = (self.holder, &mut draw as &mut Chance<'_>);
        let worker =
            Worker::new(&mut *self.ledger, (self.tracker, self.settings), self.clock, self.project, who);
        let patience_ms = u64::from(self.settings.run.patience_seconds) * 1000;
        // A request may be under way; then as long as another process waits anyway.
        let lease_ms = self.settings.look_up_wait_ms() + self.settings.run.lease_ms();
        let work = WorkerSettings { lease_ms, patience_ms };
        worker.with(work).heeding(self.stop.clone()).apply(plan).await
    }
}

pub struct RunContext<'r> {
    pub ledger: &'r mut dyn Ledger,
    pub tracker: &'r dyn Tracker,
    pub settings: &'r TrackerSettings,
    pub clock: &'r dyn WorkerClock,
    pub project: &'r str,
    /// Unique for each process.
    pub holder: &'r str,
    pub draw: &'r mut Chance<'r>,
    pub snapshot: &'r mut (dyn FnMut() -> Result<Snapshot, Box<dyn std::error::Error + Send + Sync>> + Send),
    pub stop: StopSignal,
}

/// Runs until the context's signal is asked. `lead_ledger` is another handle to the context's ledger: the
/// lease is renewed while a pass uses the first. May be dropped at any moment, and spawned on another thread.
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

fn settle(
    context: &RunContext<'_>,
    schedule: &mut Schedule,
    observe: &mut (dyn FnMut(&RunEvent<'_>) + Send),
    outcome: &Result<Pass>,
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
            match &error.kind {
                // A person runs `sync apply`.
                ErrorKind::Held { until, .. } => {
                    let wait = moment::between(at, *until);
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
    async fn wait_for_lead(&mut self, stop: &StopSignal) -> bool {
        let mut other = None;
        while !stop.is_asked() {
            match self.leader.take(self.clock.now()) {
                Ok(lease) => {
                    (self.observe)(&RunEvent::Leading { lease });
                    self.next_heartbeat = Instant::now() + self.settings.heartbeat();
                    return true;
                }
                Err(Error { kind: ErrorKind::Held { holder, .. }, .. }) => {
                    if other.as_ref() != Some(&holder) {
                        (self.observe)(&RunEvent::Standby { holder: &holder });
                        other = Some(holder);
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

    fn keep_lead(&mut self) -> bool {
        self.next_heartbeat = Instant::now() + self.settings.heartbeat();
        match self.leader.take(self.clock.now()) {
            Ok(_) => true,
            Err(Error { kind: ErrorKind::Held { holder, .. }, .. }) => {
                (self.observe)(&RunEvent::LostLead { holder: &holder });
                false
            }
            Err(error) => {
                // The work itself has a lease of its own: two at once never work twice.
                (self.observe)(&RunEvent::NoLedger { error: &error });
                true
            }
        }
    }

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

/// Differs from that on working, so that a person can still run `sync apply`; no tracker has a `.` in its
/// name.
pub fn leader_lease_name(tracker: &TrackerName) -> String {
    format!("run.{tracker}")
}

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

    /// Takes or renews it, unless another living process has it. A standby writes nothing.
    pub(super) fn take(&mut self, now: Timestamp) -> Result<&Lease> {
        match try_lease(self.ledger, &self.name, self.holder, now, self.length_ms) {
            Ok(lease) => Ok(&*self.lease.insert(lease)),
            Err(error) => {
                if matches!(error.kind, ErrorKind::Held { .. }) && self.lease.take().is_some() {
                    // The new holder has its own lock.
                    self.ledger.unmark_alive(&self.name)?;
                }
                Err(error)
            }
        }
    }

    pub(super) fn give_back(&mut self, now: Timestamp) -> Result<()> {
        self.lease.take().map_or(Ok(()), |lease| give_back(self.ledger, lease, now))
    }
}

/// `Copy`: it owns no memory, however much happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    settings: RunSettings,
    changed: Option<(Instant, Instant)>,
    round: Instant,
    delivery: Option<Instant>,
    not_before: Instant,
    failures: u32,
}

/// After a pass that failed to read the project or the ledger; doubled each time, up to the time between two
/// rounds.
const FIRST_WAIT: Duration = Duration::from_secs(1);

impl Schedule {
    pub(super) const fn new(settings: RunSettings, now: Instant) -> Self {
        Self { settings, changed: None, round: now, delivery: None, not_before: now, failures: 0 }
    }

    pub(super) fn changed(&mut self, now: Instant) {
        let first = self.changed.map_or(now, |(first, _)| first);
        self.changed = Some((first, now));
    }

    pub(super) fn due(&self) -> Instant {
        let change = self.changed.map(|(first, last)| {
            let quiet = Duration::from_millis(self.settings.quiet_ms.into());
            let longest = Duration::from_millis(self.settings.longest_quiet_ms.into());
            (last + quiet).min(first + longest)
        });
        [change, self.delivery].into_iter().flatten().fold(self.round, Instant::min).max(self.not_before)
    }

    pub(super) fn pass_begins(&mut self) {
        self.changed = None;
        self.delivery = None;
    }

    pub(super) fn passed(&mut self, now: Instant, delivery: Option<Duration>) {
        // A wait beyond the next round needs no note of its own, and one of no time would never let anything
        // else happen.
        let least = Duration::from_millis(self.settings.quiet_ms.max(100).into());
        self.delivery =
            delivery.map(|wait| now + wait.clamp(least, least.max(self.settings.pass_interval())));
        self.round = now + self.settings.pass_interval();
        self.not_before = now;
        self.failures = 0;
    }

    pub(super) fn failed(&mut self, now: Instant) {
        let doubled = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        let wait = FIRST_WAIT.saturating_mul(doubled).min(self.settings.pass_interval());
        self.failures = self.failures.saturating_add(1);
        self.not_before = now + wait;
        self.round = self.not_before;
    }
}

pub(super) fn next_due(report: &Report, settings: &TrackerSettings, now: Timestamp) -> Option<Duration> {
    if report.is_followed_by_more() {
        return Some(Duration::ZERO);
    }
    let moments = report.entries.iter().filter_map(|entry| due(&entry.outcome, settings, now));
    moments.chain(report.listing_due).min().map(|moment| Duration::from_millis(moment::between(now, moment)))
}

fn due(outcome: &ActionOutcome, settings: &TrackerSettings, now: Timestamp) -> Option<Timestamp> {
    match outcome {
        ActionOutcome::Done { .. } | ActionOutcome::Found { .. } | ActionOutcome::NotThere => None,
        // A failure that the breaker is to judge may be tried as soon as that allows; where it is open, the
        // next pass hears until when.
        ActionOutcome::Failed { delivery, failure } => {
            delivery.until().map(|until| failure.wait_until.map_or(until, |wait| until.max(wait)))
        }
        ActionOutcome::InDoubt { failure } => {
            let own = moment::after(now, u64::from(settings.retry.wait_ms));
            Some(failure.wait_until.map_or(own, |wait| own.max(wait)))
        }
        ActionOutcome::Deferred(held) => of_held(held, settings, now),
    }
}

fn of_held(held: &Deferred, settings: &TrackerSettings, now: Timestamp) -> Option<Timestamp> {
    match held {
        Deferred::Waiting { until, .. }
        | Deferred::Refused { until, .. }
        | Deferred::TooFast { until }
        | Deferred::Contended { until }
        | Deferred::Unlisted { until } => Some(*until),
        Deferred::NotListed(failure) | Deferred::NoTarget(failure) => {
            let own = moment::after(now, u64::from(settings.breaker.wait_seconds) * 1000);
            Some(failure.wait_until.unwrap_or(own))
        }
        Deferred::Stale | Deferred::Stopped => Some(now),
        // The parent's own wait counts; the others wait for a person or a change.
        Deferred::NoParent { .. }
        | Deferred::Parked { .. }
        | Deferred::Unknown
        | Deferred::LinkedElsewhere { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn schedule() -> (Schedule, Instant) {
        let now = Instant::now();
        let settings = RunSettings {
            pass_seconds: 300,
            quiet_ms: 500,
            longest_quiet_ms: 5000,
            ..RunSettings::default()
        };
        (Schedule::new(settings, now), now)
    }

    #[test]
    fn looks_at_everything_at_once_and_then_from_time_to_time() {
        let (mut schedule, now) = schedule();
        assert_eq!(schedule.due(), now);
        schedule.pass_begins();
        schedule.passed(now + SECOND, None);
        assert_eq!(schedule.due(), now + 301 * SECOND);
    }

    #[test]
    fn a_change_is_delivered_when_it_is_quiet_or_has_waited_long_enough() {
        let (mut schedule, now) = schedule();
        schedule.passed(now, None);
        for tenth in 0..100 {
            schedule.changed(now + tenth * SECOND / 10);
        }
        assert_eq!(schedule.due(), now + 5 * SECOND, "the first change has waited");
        schedule.pass_begins();
        schedule.passed(now + 10 * SECOND, None);
        schedule.changed(now + 11 * SECOND);
        assert_eq!(schedule.due(), now + 11 * SECOND + SECOND / 2);
    }

    #[test]
    fn a_delivery_that_is_due_wakes_and_never_spins() {
        let (mut schedule, now) = schedule();
        for (wait, due) in
            [(30 * SECOND, 30 * SECOND), (Duration::ZERO, SECOND / 2), (9000 * SECOND, 300 * SECOND)]
        {
            schedule.passed(now, Some(wait));
            assert_eq!(schedule.due(), now + due);
        }
    }

    #[test]
    fn what_changes_during_a_pass_is_seen_by_the_next_one() {
        let (mut schedule, now) = schedule();
        schedule.pass_begins();
        schedule.changed(now + SECOND);
        schedule.passed(now + 2 * SECOND, None);
        assert_eq!(schedule.due(), now + 2 * SECOND, "it has been quiet already");
    }

    #[test]
    fn passes_that_fail_come_more_and_more_rarely() {
        let (mut schedule, now) = schedule();
        let mut waits = Vec::new();
        for _ in 0..40 {
            schedule.failed(now);
            schedule.changed(now);
            waits.push((schedule.due() - now).as_secs());
        }
        assert_eq!(&waits[..10], [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
        assert_eq!(waits[39], 300);
        schedule.passed(now, None);
        schedule.changed(now);
        assert_eq!(schedule.due(), now + SECOND / 2);
    }

    proptest! {
        /// However events fall, a change is delivered within the longest quiet, and something is always to
        /// come within a round.
        #[test]
        fn nothing_waits_forever(gaps in proptest::collection::vec(0_u64..2000, 1..200)) {
            let (mut schedule, start) = schedule();
            schedule.passed(start, None);
            let mut now = start;
            for gap in gaps {
                now += Duration::from_millis(gap);
                schedule.changed(now);
            }
            let (first, last) = schedule.changed.unwrap();
            prop_assert!(schedule.due() <= first + 5 * SECOND && schedule.due() <= last + SECOND / 2);
            schedule.pass_begins();
            prop_assert!(schedule.due() <= start + 300 * SECOND);
        }
    }
}
