//! A worker that is killed (SIGKILL) before or after any request of a first sync makes no second ticket,
//! whether the ledger is kept or lost.
#![expect(clippy::disallowed_methods, reason = "an edge: processes are killed here")]

use std::{
    collections::BTreeMap,
    fs,
    process::Child,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use stepmark_sync::ticket::Marker;

use crate::{
    child,
    fake::{FakeGitHub, Side},
    flat_project::FlatProject,
};

/// What becomes of the ledger when the worker dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LedgerFate {
    Kept,
    Lost,
}

/// Kills a first worker at the request `at`, lets a second one finish, and answers how often each artifact
/// has a ticket.
fn tickets_after_kill(
    artifacts: usize,
    (at, side): (usize, Side),
    fate: LedgerFate,
) -> BTreeMap<Marker, usize> {
    let fake = FakeGitHub::start();
    let folder = tempfile::tempdir().unwrap();
    let project = FlatProject::make(folder.path(), &fake.url(), artifacts, 0);
    fs::write(folder.path().join(child::STOP), "").unwrap();
    let victim: Arc<Mutex<Option<Child>>> = Arc::default();
    let killed = Arc::clone(&victim);
    // Locked until the child is known: its first request waits for that.
    let mut started = victim.lock().unwrap();
    fake.watch(move |number, now| {
        let is_it = (number, now) == (at, side);
        if is_it && let Some(child) = killed.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        is_it
    });
    *started = Some(child::worker(folder.path()));
    drop(started);
    let deadline = Instant::now() + Duration::from_secs(120);
    let status = loop {
        if let Some(status) = victim.lock().unwrap().as_mut().unwrap().try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < deadline, "the worker neither ends nor asks for request {at}");
        thread::sleep(Duration::from_millis(2));
    };
    assert!(!status.success(), "it was killed {side:?} request {at}");
    fake.watch(|_, _| false);
    if fate == LedgerFate::Lost {
        project.lose_ledger();
    }
    assert!(child::worker(folder.path()).wait().unwrap().success());
    assert!(project.is_settled(&mut project.ledger()));
    let mut counts = BTreeMap::new();
    for issue in fake.state().issues.values() {
        *counts.entry(Marker::in_body(&issue.body).unwrap()).or_default() += 1;
    }
    counts
}

/// One request looks through the tracker, and one makes each ticket.
fn no_duplicate(artifacts: usize, points: impl Iterator<Item = usize>) {
    for at in points {
        for side in [Side::Before, Side::After] {
            for fate in [LedgerFate::Kept, LedgerFate::Lost] {
                let counts = tickets_after_kill(artifacts, (at, side), fate);
                assert!(
                    counts.values().all(|count| *count == 1),
                    "{side:?} {at}, ledger {fate:?}: {counts:?}"
                );
                assert_eq!(counts.len(), artifacts, "{side:?} {at}, ledger {fate:?}");
            }
        }
    }
}

#[test]
fn a_kill_makes_no_second_ticket() {
    no_duplicate(6, [1, 2, 7].into_iter());
}

#[test]
#[ignore = "long: `just soak`"]
fn soak_a_kill_at_any_request_makes_no_second_ticket() {
    no_duplicate(50, 1..=51);
}
