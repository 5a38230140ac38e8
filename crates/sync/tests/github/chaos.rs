//! Three workers on one ledger, a server with which a fifth of all requests goes wrong, and a person who
//! edits meanwhile.
#![expect(clippy::disallowed_methods, reason = "an edge: processes and time")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    panic::{self, AssertUnwindSafe},
    process::Child,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use stepmark_sync::{
    breaker::Scope,
    ledger::{Ledger as _, SqliteLedger},
    retry::Delivery,
    ticket::{Marker, Observed, Ticket},
    tracker::{Cursor, Tracker as _},
    worker::{self, LostLink},
};

use crate::{
    child,
    fake::{Chaos, FakeGitHub},
    flat_project::{FlatProject, PROJECT},
};

/// What each artifact says one after the other.
const STATUSES: [&str; 4] = ["review", "approved", "in-progress", "done"];

/// What was seen from outside while the workers worked.
#[derive(Default)]
struct Seen {
    opened: BTreeSet<Scope>,
    parked: BTreeSet<Marker>,
}

struct Run {
    artifacts: usize,
    /// True where it is the long form, in which every kind of fault occurs and limits without a time cost a
    /// minute each.
    is_long: bool,
    limit: Duration,
}

/// Gives every parked ticket another try, as a person does who read why.
fn retry_parked(project: &FlatProject, ledger: &mut SqliteLedger, seen: &mut Seen) {
    let deliveries = ledger.read().unwrap().deliveries(&project.settings.name).unwrap();
    let parked = deliveries.into_iter().filter(|(_, delivery)| matches!(delivery, Delivery::Parked { .. }));
    let parked: Vec<Marker> = parked.map(|(marker, _)| marker).collect();
    if parked.is_empty() {
        return;
    }
    let snapshot = project.snapshot();
    for marker in parked {
        let desired = Ticket::desired(&snapshot, &marker, &project.settings.ticket).unwrap().digest();
        // While a worker is at work, it is refused: the next round tries again.
        let tickets = [(marker.clone(), desired)];
        let of = (&project.settings.name, &tickets[..]);
        if worker::retry(ledger, of, LostLink::Forgotten, "a person", Timestamp::now()).is_ok() {
            seen.parked.insert(marker);
        }
    }
}

fn open_breakers(ledger: &mut SqliteLedger) -> BTreeSet<Scope> {
    let breakers = ledger.read().unwrap().breakers().unwrap();
    breakers.into_iter().filter(|(_, breaker)| breaker.outage().is_some()).map(|(scope, _)| scope).collect()
}

/// Edits all artifacts again and again, then waits until nothing is left to do.
fn watch(project: &FlatProject, run: &Run) -> Seen {
    let (mut seen, is_over) = (Seen::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        // Beside the rest, which takes longer than a breaker stays open.
        let looking = scope.spawn(|| {
            let (mut opened, mut ledger) = (BTreeSet::new(), project.ledger());
            while !is_over.load(Ordering::Relaxed) {
                opened.extend(open_breakers(&mut ledger));
                thread::sleep(Duration::from_millis(20));
            }
            opened
        });
        let edited = panic::catch_unwind(AssertUnwindSafe(|| edit_until_settled(project, run, &mut seen)));
        is_over.store(true, Ordering::Relaxed);
        seen.opened = looking.join().unwrap();
        edited.unwrap_or_else(|panic| panic::resume_unwind(panic));
    });
    seen
}

fn edit_until_settled(project: &FlatProject, run: &Run, seen: &mut Seen) {
    let (mut ledger, begun, mut edits) = (project.ledger(), Instant::now(), 0);
    loop {
        retry_parked(project, &mut ledger, seen);
        if edits < run.artifacts * STATUSES.len() {
            for _ in 0..run.artifacts.div_ceil(10) {
                project.set_status(edits % run.artifacts, STATUSES[(edits / run.artifacts).min(3)]);
                edits += 1;
            }
        } else if project.is_settled(&mut ledger) {
            return;
        }
        assert!(
            begun.elapsed() < run.limit,
            "it does not converge: {:?}",
            project.plan(&mut ledger).counts()
        );
        thread::sleep(Duration::from_millis(50));
    }
}

fn listed(project: &FlatProject) -> Vec<Observed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let tracker = project.tracker();
        let (mut found, mut from): (_, Option<Cursor>) = (Vec::new(), None);
        loop {
            let page = tracker
                .list(PROJECT, from.as_ref(), stepmark_sync::tracker::Listing::Labelled)
                .await
                .unwrap();
            found.extend(page.tickets);
            from = page.next;
            if from.is_none() {
                return found;
            }
        }
    })
}

fn converges(run: &Run) {
    let fake = FakeGitHub::start();
    fake.state().has_graphql = true;
    fake.state().chaos = Some(Chaos::new(7, 20, run.is_long));
    let folder = tempfile::tempdir().unwrap();
    let project = FlatProject::make(folder.path(), &fake.url(), run.artifacts, 3);
    drop(project.ledger());
    let begun = Instant::now();
    let workers: Vec<Child> = (0..3).map(|_| child::worker(folder.path())).collect();
    let seen = watch(&project, run);
    let took = begun.elapsed();
    let chaos = fake.state().chaos.take().unwrap();
    fs::write(folder.path().join(child::STOP), "").unwrap();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let asked = fake.take_asked();
    let tracker = project.tracker();
    let snapshot = project.snapshot();
    let found = listed(&project);
    let markers: BTreeSet<&Marker> = found.iter().map(|ticket| &ticket.marker).collect();
    assert_eq!((found.len(), markers.len()), (run.artifacts, run.artifacts), "one ticket an artifact");
    for ticket in &found {
        let desired = Ticket::desired(&snapshot, &ticket.marker, &project.settings.ticket).unwrap();
        assert_eq!(tracker.compare(&desired, None, ticket).unwrap(), [], "no update is lost");
        assert!(!ticket.state.is_open(), "all are done");
    }
    let faults: usize = chaos.told.values().sum();
    assert!(faults * 10 > asked.len() || !run.is_long, "{faults} of {} requests went wrong", asked.len());
    let is_wide = |scope: &&Scope| matches!(scope, Scope::Host { .. } | Scope::Credential { .. });
    let has_opened = seen.opened.iter().any(|scope| is_wide(&scope));
    assert!(has_opened || !run.is_long, "no breaker opened: {:?}", seen.opened);
    let still_open = open_breakers(&mut project.ledger());
    assert_eq!(still_open.iter().find(is_wide), None, "the last request passed, and closed them");
    let opened: Vec<String> = seen.opened.iter().map(ToString::to_string).collect();
    tell(&format!(
        "{} artifacts, {} edits, {} requests, {faults} faults, {took:.1?}; parked {}; opened {opened:?}\n{:?}\n{:?}",
        run.artifacts,
        run.artifacts * STATUSES.len(),
        asked.len(),
        seen.parked.len(),
        counted(asked),
        chaos.told
    ));
}

/// Requests by method and path, without numbers.
fn counted(asked: Vec<String>) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for line in asked {
        let kind: String = line.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        *kinds.entry(kind).or_default() += 1;
    }
    kinds
}

#[expect(clippy::print_stdout, reason = "a soak run tells its figures")]
fn tell(figures: &str) {
    println!("{figures}");
}

#[test]
fn three_workers_converge_while_everything_goes_wrong() {
    converges(&Run { artifacts: 12, is_long: false, limit: Duration::from_secs(300) });
}

#[test]
#[ignore = "long: `just soak`"]
fn soak_three_workers_converge_while_everything_goes_wrong() {
    converges(&Run { artifacts: 300, is_long: true, limit: Duration::from_secs(3600) });
}
