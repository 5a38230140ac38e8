//! Cases of runs, on a clock that stands still but for waits.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::sleep;

use super::{
    ChangeListener, ChangeReporter, ChangeSignal, RunContext, RunEvent, StatusChange, leader_lease_name, run,
};
use crate::{
    Result,
    breaker::Reason,
    ledger::{Lease, Ledger},
    plan::Plan,
    retry::Jitter,
    tracker::RequestKind::{Create, List, Update},
    worker::{
        Report, StopSignal, Worker, WorkerClock as _,
        scripted::{Fault, FlakyLedger, World},
    },
};

const HOUR: Duration = Duration::from_secs(3600);

/// A run that a test looks at.
#[derive(Clone)]
struct Stage {
    world: Arc<Mutex<World>>,
    ledger: FlakyLedger,
    changes: ChangeSignal,
    stop: StopSignal,
    notices: Arc<Mutex<Vec<StatusChange>>>,
    passes: Arc<Mutex<usize>>,
}

impl Stage {
    fn new(keys: &str, ids: &[&str]) -> Self {
        let world = World::new(keys, ids);
        Self {
            ledger: world.ledger.clone(),
            world: Arc::new(Mutex::new(world)),
            changes: ChangeSignal::default(),
            stop: StopSignal::default(),
            notices: Arc::default(),
            passes: Arc::default(),
        }
    }

    fn another(&self) -> Self {
        Self { stop: StopSignal::default(), notices: Arc::default(), passes: Arc::default(), ..self.clone() }
    }

    async fn run(&self, holder: &str) {
        let (tracker, settings, clock) = {
            let world = self.world.lock().unwrap();
            (world.tracker.clone(), world.settings.clone(), world.clock)
        };
        let (mut ledger, mut lead_ledger) = (self.ledger.clone(), self.ledger.clone());
        let mut draw = || Jitter(u64::MAX / 2);
        let mut snapshot = || {
            let world = self.world.lock().unwrap();
            // A project without artifacts stands for one that cannot be read.
            if world.artifacts.is_empty() { Err("no such folder".into()) } else { Ok(world.snapshot()) }
        };
        let mut reporter = ChangeReporter::default();
        let mut observe = |event: &RunEvent<'_>| {
            if matches!(event, RunEvent::Passed { .. }) {
                *self.passes.lock().unwrap() += 1;
            }
            self.notices.lock().unwrap().extend(reporter.observe(event));
        };
        let context = RunContext {
            ledger: &mut ledger,
            tracker: &tracker,
            settings: &settings,
            clock: &clock,
            project: "p",
            holder,
            draw: &mut draw,
            snapshot: &mut snapshot,
            stop: self.stop.clone(),
        };
        run(context, &mut lead_ledger, self.changes.listen(), &mut observe).await;
    }

    async fn play(&self, script: impl Future<Output = ()>) {
        self.play_as("one", script).await;
    }

    async fn play_as(&self, holder: &str, script: impl Future<Output = ()>) {
        tokio::join!(self.run(holder), async {
            script.await;
            self.stop.ask();
        });
    }

    fn rename(&self, id: &str, title: &str) {
        self.world.lock().unwrap().artifacts.get_mut(id).unwrap().title = title.to_owned();
    }

    fn requests(&self) -> Vec<(crate::tracker::RequestKind, usize)> {
        self.world.lock().unwrap().take_requests()
    }

    /// The notices since the last call, by their kinds.
    fn told(&self) -> Vec<&'static str> {
        let notices = std::mem::take(&mut *self.notices.lock().unwrap());
        notices.iter().map(kind).collect()
    }
}

fn kind(notice: &StatusChange) -> &'static str {
    match notice {
        StatusChange::Standby { .. } => "standby",
        StatusChange::Leading { .. } => "leading",
        StatusChange::LostLead { .. } => "lost lead",
        StatusChange::Waits { .. } => "waits",
        StatusChange::Done { kind, .. } => kind.name(),
        StatusChange::Trouble { .. } => "trouble",
        StatusChange::LeftOut { .. } => "left out",
        StatusChange::Outage { .. } => "outage",
        StatusChange::Recovered => "recovered",
        StatusChange::Failing { .. } => "failing",
        StatusChange::Works => "works",
        StatusChange::Remarks { .. } => "remarks",
        StatusChange::Stopped => "stopped",
    }
}

#[tokio::test(start_paused = true)]
async fn a_million_edits_are_one_update() {
    let stage = Stage::new("", &["a"]);
    let script = async {
        sleep(Duration::from_secs(10)).await;
        assert_eq!(
            (stage.requests(), *stage.passes.lock().unwrap()),
            (vec![(List, 0), (Create, 1), (List, 0)], 1)
        );
        for edit in 0..1_000_000 {
            if edit % 1000 == 0 {
                stage.rename("a", &format!("Title {edit}"));
                // Others get their turn, and the run hears that something has changed.
                tokio::task::yield_now().await;
            }
            stage.changes.tell();
        }
        sleep(Duration::from_secs(10)).await;
        assert_eq!((stage.requests(), *stage.passes.lock().unwrap()), (vec![(Update, 1)], 2));
    };
    stage.play(script).await;
    assert_eq!(stage.told(), ["leading", "create", "update", "stopped"]);
}

#[tokio::test(start_paused = true)]
async fn what_no_watcher_saw_is_found_by_the_next_round() {
    let stage = Stage::new("    run: {pass_seconds: 60}\n", &["a"]);
    let script = async {
        sleep(Duration::from_secs(10)).await;
        stage.rename("a", "New");
        sleep(Duration::from_secs(45)).await;
        assert_eq!(stage.requests().len(), 3, "nobody knows of it yet");
        sleep(Duration::from_secs(10)).await;
        assert_eq!(stage.requests(), [(Update, 1)]);
        sleep(4 * HOUR).await;
        assert_eq!(stage.requests(), [], "nothing has changed, so nothing is asked");
    };
    stage.play(script).await;
}

#[tokio::test(start_paused = true)]
async fn a_tracker_that_is_down_for_days_is_told_of_once_and_catches_up() {
    let ids = ["a", "b", "c", "d"];
    let stage = Stage::new("    run: {pass_seconds: 3600}\n", &ids);
    let script = async {
        sleep(Duration::from_secs(10)).await;
        stage.requests();
        ids.iter().for_each(|id| stage.rename(id, "New"));
        stage.world.lock().unwrap().faults(&[Fault::Refused(Reason::Unreachable); 10_000]);
        stage.changes.tell();
        sleep(72 * HOUR).await;
        let tries = stage.requests().len();
        assert!((20..100).contains(&tries), "{tries} tries in three days");
        stage.world.lock().unwrap().faults(&[]);
        sleep(3 * HOUR).await;
        let world = stage.world.lock().unwrap();
        assert!(ids.iter().all(|id| world.tracker.of(id)[0].1.ticket.title == "New"));
    };
    stage.play(script).await;
    let told = stage.told();
    assert_eq!(told[2..], ["outage", "recovered", "update", "stopped"], "{told:?}");
}

/// A first run of hundreds fills no log.
#[tokio::test(start_paused = true)]
async fn what_is_the_same_for_many_tickets_is_one_notice() {
    let ids: Vec<String> = (0..300).map(|number| format!("a{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let stage = Stage::new("    retry: {attempts: 1}\n", &ids);
    let script = async {
        sleep(Duration::from_secs(60)).await;
        let notices = std::mem::take(&mut *stage.notices.lock().unwrap());
        let [StatusChange::Leading { .. }, StatusChange::Done { tickets, .. }] = notices.as_slice() else {
            panic!("{notices:?}")
        };
        assert_eq!(tickets.len(), 300);
        stage.requests();
        let name = format!("{} (Artifact a0)", stage.world.lock().unwrap().artifacts["a0"].path);
        assert!(
            tickets.iter().any(|(artifact, remote)| *artifact == name && remote.key == "#1"),
            "{tickets:?}"
        );
        ids.iter().for_each(|id| stage.rename(id, "New"));
        stage.world.lock().unwrap().faults(&[Fault::Refused(Reason::Invalid); 300]);
        stage.changes.tell();
        sleep(Duration::from_secs(60)).await;
        let notices = std::mem::take(&mut *stage.notices.lock().unwrap());
        let [StatusChange::Trouble { artifacts, .. }] = notices.as_slice() else { panic!("{notices:?}") };
        assert_eq!(artifacts.len(), 300);
    };
    stage.play(script).await;
}

#[tokio::test(start_paused = true)]
async fn a_short_outage_ends_by_itself_before_the_next_round() {
    let stage = Stage::new("    run: {pass_seconds: 86400}\n", &["a"]);
    let script = async {
        sleep(Duration::from_secs(10)).await;
        stage.world.lock().unwrap().faults(&[Fault::Refused(Reason::ServerError); 3]);
        stage.rename("a", "New");
        stage.changes.tell();
        sleep(HOUR).await;
        assert_eq!(stage.world.lock().unwrap().tracker.of("a")[0].1.ticket.title, "New");
    };
    stage.play(script).await;
    assert_eq!(stage.told(), ["leading", "create", "outage", "recovered", "update", "stopped"]);
}

#[tokio::test(start_paused = true)]
async fn another_takes_over_from_one_that_died_and_works_nothing_twice() {
    let stage = Stage::new("    run: {lease_seconds: 30, pass_seconds: 60}\n", &["a", "b"]);
    let other = stage.another();
    tokio::select! {
        biased;
        () = stage.run("one") => unreachable!("nobody told it to stop"),
        () = other.run("two") => unreachable!("nobody told it to stop"),
        () = sleep(HOUR) => {}
    }
    assert_eq!(stage.told(), ["leading", "create"]);
    assert_eq!(other.told(), ["standby"], "it is told once that it waits");
    // Both were dropped where they stood, as if they were killed: no lease was given back.
    let third = other.another();
    stage.rename("a", "New");
    let script = async {
        sleep(Duration::from_secs(5)).await;
        assert_eq!(third.told(), ["standby"]);
        sleep(Duration::from_secs(40)).await;
        assert_eq!(third.told(), ["leading", "update"]);
    };
    third.play_as("three", script).await;
    let tracker = &stage.world.lock().unwrap().tracker;
    assert_eq!((tracker.of("a").len(), tracker.of("b").len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_gives_its_lease_back() {
    let stage = Stage::new("    run: {lease_seconds: 3600}\n", &["a"]);
    stage.play(sleep(Duration::from_secs(1))).await;
    let other = stage.another();
    other.play_as("two", sleep(Duration::from_secs(1))).await;
    assert_eq!(other.told(), ["leading", "stopped"]);
}

#[tokio::test(start_paused = true)]
async fn who_slept_through_its_lease_stands_back() {
    let stage = Stage::new("    run: {lease_seconds: 30}\n", &["a"]);
    let script = async {
        sleep(Duration::from_secs(1)).await;
        // Another process took over: as it does when this one was suspended.
        let name = leader_lease_name(&stage.world.lock().unwrap().settings.name);
        let mut ledger = stage.ledger.clone();
        let mut transaction = ledger.write().unwrap();
        let mut lease = transaction.lease(&name).unwrap().unwrap();
        lease.holder = "another".to_owned();
        lease.number += 1;
        transaction.put_lease(&lease).unwrap();
        transaction.commit().unwrap();
        sleep(Duration::from_secs(100)).await;
    };
    stage.play(script).await;
    assert_eq!(stage.told(), ["leading", "create", "lost lead", "standby", "leading", "stopped"]);
}

#[tokio::test(start_paused = true)]
async fn the_request_in_flight_is_finished_and_no_other_begins() {
    let ids: Vec<String> = (0..30).map(|number| format!("a{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for size in [1, 2, 7] {
        let stage = Stage::new("", &ids);
        stage.world.lock().unwrap().tracker.size = 3;
        let content = Arc::clone(&stage.world.lock().unwrap().tracker.content);
        let begun = || content.lock().unwrap().requests.iter().filter(|(kind, _)| *kind == Create).count();
        let size = std::cell::Cell::new(size);
        let script = async {
            // The moment at which a request has been made and its answer has not been read.
            while begun() < size.get() {
                tokio::task::yield_now().await;
            }
            size.set(begun());
        };
        stage.play(script).await;
        let (begun, size) = (begun(), size.get());
        assert!(begun == size || begun == size + 1, "{begun} {size}: one may have been on its way");
        stage.requests();
        let name = stage.world.lock().unwrap().settings.name.clone();
        let mut ledger = stage.ledger.clone();
        let ledger = ledger.read().unwrap();
        assert!(ledger.intents(&name).unwrap().is_empty(), "nothing is in doubt");
        assert_eq!(ledger.links(&name).unwrap().len(), 3 * begun, "what was answered is written down");
        assert_eq!(stage.told().last(), Some(&"stopped"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_the_pace_ends_when_it_is_told_to_stop() {
    let pace = "    pace: {credential: {write_interval_ms: 40000, limits: []}}\n";
    let stage = Stage::new(pace, &["a", "b", "c", "d", "e", "f", "g"]);
    let began = tokio::time::Instant::now();
    stage.play(sleep(Duration::from_secs(5))).await;
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert_eq!(stage.requests(), [(List, 0), (Create, 3), (List, 0)]);
}

#[tokio::test(start_paused = true)]
async fn the_pace_of_the_tracker_is_kept_without_anybody_asking() {
    let pace = "    run: {pass_seconds: 86400, patience_seconds: 1}\n    pace: {credential: {write_interval_ms: 40000, limits: []}}\n";
    let stage = Stage::new(pace, &["a", "b", "c", "d", "e", "f", "g"]);
    let script = async {
        sleep(Duration::from_secs(30)).await;
        assert_eq!(stage.requests(), [(List, 0), (Create, 3), (List, 0)]);
        sleep(Duration::from_secs(40)).await;
        assert_eq!(stage.requests(), [(List, 0), (Create, 3), (List, 0)]);
        sleep(Duration::from_secs(40)).await;
        assert_eq!(stage.requests(), [(List, 0), (Create, 1), (List, 0)]);
    };
    stage.play(script).await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_told_of_once_and_tried_again() {
    let stage = Stage::new("    run: {pass_seconds: 60}\n", &["a"]);
    let kept = std::mem::take(&mut stage.world.lock().unwrap().artifacts);
    let script = async {
        sleep(HOUR).await;
        assert_eq!(stage.told(), ["leading", "failing"]);
        stage.world.lock().unwrap().artifacts = kept;
        sleep(Duration::from_secs(61)).await;
        assert_eq!(stage.told(), ["works", "create"]);
        *stage.ledger.good.lock().unwrap() = Some(0);
        stage.rename("a", "New");
        stage.changes.tell();
        sleep(HOUR).await;
        assert_eq!(stage.told(), ["failing", "works", "update"], "a ledger that was busy");
    };
    stage.play(script).await;
}

#[tokio::test(start_paused = true)]
async fn a_person_who_works_is_waited_for() {
    let stage = Stage::new("    run: {patience_seconds: 5}\n", &["a"]);
    let (name, now) = {
        let world = stage.world.lock().unwrap();
        (world.settings.name.clone(), world.clock.now())
    };
    let mut ledger = stage.ledger.clone();
    let mut transaction = ledger.write().unwrap();
    let lease = Lease::acquire(None, name.as_str(), "a person", now, 100_000).unwrap();
    transaction.put_lease(&lease).unwrap();
    transaction.commit().unwrap();
    let script = async {
        sleep(Duration::from_secs(90)).await;
        assert_eq!(stage.told(), ["leading", "waits"]);
        sleep(Duration::from_secs(20)).await;
        assert_eq!(stage.told(), ["create"]);
    };
    stage.play(script).await;
}

// The proof that a run and the work of one plan can be spawned on another thread: this compiles.

fn running<'r>(
    context: RunContext<'r>,
    ledger: &'r mut dyn Ledger,
    changes: ChangeListener,
    observe: &'r mut (dyn FnMut(&RunEvent<'_>) + Send),
) -> impl Future<Output = ()> + Send {
    run(context, ledger, changes, observe)
}

fn applying<'w>(worker: &'w mut Worker<'_>, plan: &'w Plan) -> impl Future<Output = Result<Report>> + Send {
    worker.apply(plan)
}

fn surveying(worker: &mut Worker<'_>) -> impl Future + Send {
    worker.survey()
}

#[test]
fn futures_of_runs_and_workers_are_send() {
    let _run = running;
    let _apply = applying;
    let _survey = surveying;
}
