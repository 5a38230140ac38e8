//! Figures of docs/benchmarks.md: what a first sync and an update of a thousand artifacts take where nothing
//! slows them down. `just figures` prints them, from a release build.
#![expect(clippy::disallowed_methods, reason = "an edge: time is taken and told")]

use std::time::{Duration, Instant};

use stepmark_store::workspace::Clock;
use stepmark_sync::{
    ledger::SqliteLedger,
    retry::{Chance, Jitter},
    worker::{Report, WallClock, Worker},
};

use crate::{
    fake::FakeGitHub,
    flat_project::{FlatProject, PROJECT},
};

const ARTIFACTS: usize = 1_000;

#[tokio::test]
#[ignore = "takes time: run by `just figures`"]
async fn figures_of_a_thousand_artifacts() {
    let folder = tempfile::tempdir().unwrap();
    let fake = FakeGitHub::start();
    fake.state().has_graphql = true;
    let project = FlatProject::make(folder.path(), &fake.url(), ARTIFACTS, 0);
    let mut ledger = project.ledger();
    let (first, report) = apply(&project, &mut ledger).await;
    assert_eq!(fake.state().issues.len(), ARTIFACTS);
    println!("first sync: {:.0} creations a second, {} requests", rate(first), report.requests);
    // The label of a status that no issue has yet is made once: no update is to pay for it.
    fake.state().labels.insert("status:review".to_owned());
    (0..ARTIFACTS).for_each(|number| project.set_status(number, "review"));
    fake.take_asked();
    let (update, report) = apply(&project, &mut ledger).await;
    assert!(project.is_settled(&mut ledger));
    println!("updates: {:.0} a second, {} requests", rate(update), report.requests);
    let asked = fake.take_asked();
    assert_eq!(asked.len(), report.requests, "the worker counts what it asks");
    fake.state().labels.insert("status:done".to_owned());
    (0..ARTIFACTS).for_each(|number| project.set_status(number, "done"));
    let (closed, report) = apply(&project, &mut ledger).await;
    assert!(fake.state().issues.values().all(|issue| !issue.is_open));
    println!("closings: {:.0} a second, {} requests", rate(closed), report.requests);
    fake.take_asked();
    let (_, report) = apply(&project, &mut ledger).await;
    assert_eq!((report.requests, fake.take_asked().len()), (0, 0), "nothing is left to ask");
}

fn rate(time: Duration) -> f64 {
    ARTIFACTS as f64 / time.as_secs_f64()
}

/// One `sync apply`, planning included.
pub(crate) async fn apply(project: &FlatProject, ledger: &mut SqliteLedger) -> (Duration, Report) {
    let tracker = project.tracker();
    let started = Instant::now();
    let plan = project.plan(ledger);
    let clock = WallClock(Clock::System);
    let mut draw = || Jitter(7);
    let who = ("figures", &mut draw as &mut Chance<'_>);
    let mut worker = Worker::new(ledger, (&tracker, &project.settings), &clock, PROJECT, who);
    let report = worker.apply(&plan).await.unwrap();
    (started.elapsed(), report)
}
