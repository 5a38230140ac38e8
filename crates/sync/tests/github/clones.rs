//! Several clones of a project, each with a ledger of its own, and one that is configured for another repository.
#![expect(clippy::disallowed_methods, reason = "an edge: a clock of its own")]

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use stepmark_store::workspace::Clock;
use stepmark_sync::{
    ledger::Ledger as _,
    retry::{Chance, Draw},
    ticket::Marker,
    worker::{Report, Worker, WorkerClock, WorkerSettings, wants_look},
};

use crate::{
    fake::{FakeGitHub, Issue},
    flat_project::{FlatProject, PROJECT},
};

/// A clock by which a second takes a millisecond.
struct FastClock(Instant);

impl WorkerClock for FastClock {
    fn now(&self) -> Timestamp {
        let passed = u64::try_from(self.0.elapsed().as_micros()).unwrap();
        Clock::System.now() + Duration::from_millis(passed)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration / 1000).await;
    }
}

/// Plans and carries out until nothing is left to do.
async fn sync(project: &FlatProject, clock: &FastClock, seed: u64) -> Vec<Report> {
    let (tracker, mut reports) = (project.tracker(), Vec::new());
    let mut chance = seed;
    while reports.len() < 20 {
        let mut ledger = project.ledger();
        let plan = project.plan(&mut ledger);
        let wants_look = wants_look(&*ledger.read().unwrap(), &project.settings, clock.now()).unwrap();
        if plan.actions.is_empty() && !wants_look {
            return reports;
        }
        let mut draw = || {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Draw(chance)
        };
        let who = ("test", &mut draw as &mut Chance<'_>);
        let of = (&tracker, &project.settings);
        let worker = Worker::new(&mut ledger, of, clock, PROJECT, who);
        let settings = WorkerSettings { lease_ms: 3_600_000, patience_ms: 600_000 };
        reports.push(worker.with(settings).apply(&plan).await.unwrap());
    }
    panic!("it never ends: {:?}", reports.last());
}

fn clock() -> FastClock {
    FastClock(Instant::now())
}

/// A clone whose tickets are in the repository of `fake`.
fn clone(folder: &Path, name: &str, fake: &FakeGitHub, artifacts: usize) -> FlatProject {
    FlatProject::make(&folder.join(name), &fake.url(), artifacts, 1)
}

/// The open issues of each artifact.
fn open(fake: &FakeGitHub) -> BTreeMap<Marker, Vec<u64>> {
    let mut open: BTreeMap<Marker, Vec<u64>> = BTreeMap::new();
    for issue in fake.state().issues.values().filter(|issue| issue.is_open) {
        if let Some(marker) = Marker::in_body(&issue.body) {
            open.entry(marker).or_default().push(issue.number);
        }
    }
    open
}

fn linked(project: &FlatProject) -> BTreeMap<Marker, u64> {
    let mut ledger = project.ledger();
    let links = ledger.read().unwrap().links(&project.settings.name).unwrap().into_iter();
    links.map(|link| (link.marker, link.remote.id.parse().unwrap())).collect()
}

#[tokio::test]
async fn clones_that_apply_at_once_agree_on_one_ticket_an_artifact() {
    for has_graphql in [true, false] {
        let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
        fake.state().has_graphql = has_graphql;
        let clones = ["a", "b", "c"].map(|name| clone(folder.path(), name, &fake, 12));
        tokio::join!(
            async { sync(&clones[0], &clock, 1).await },
            async { sync(&clones[1], &clock, 2).await },
            async { sync(&clones[2], &clock, 3).await },
        );
        // What another machine made last is seen by the list that comes after.
        tokio::time::sleep(Duration::from_millis(20)).await;
        for project in &clones {
            sync(project, &clock, 9).await;
        }
        let open = open(&fake);
        assert!(open.len() == 12 && open.values().all(|same| same.len() == 1), "{open:?}");
        for project in &clones {
            let own: BTreeMap<Marker, Vec<u64>> =
                linked(project).into_iter().map(|(marker, number)| (marker, vec![number])).collect();
            assert_eq!(own, open);
        }
    }
}

#[tokio::test]
async fn what_another_clone_made_is_found_and_not_made_again() {
    let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
    let [a, b] = ["a", "b"].map(|name| clone(folder.path(), name, &fake, 3));
    sync(&a, &clock, 1).await;
    sync(&b, &clock, 2).await;
    a.set_status(3, "draft");
    sync(&a, &clock, 3).await;
    b.set_status(3, "draft");
    let reports = sync(&b, &clock, 4).await;
    assert_eq!(fake.state().issues.len(), 4, "{reports:?}");
    assert_eq!(linked(&a), linked(&b));
}

#[tokio::test]
async fn a_ledger_that_was_lost_needs_a_list_and_no_more() {
    let (fake, folder, clock) = (FakeGitHub::start(), tempfile::tempdir().unwrap(), clock());
    let mut project = clone(folder.path(), "a", &fake, 33);
    let milestone = ("milestone".to_owned(), "1.10".parse().unwrap());
    project.settings.ticket.fields = [milestone].into();
    sync(&project, &clock, 1).await;
    project.lose_ledger();
    fake.state().asked.clear();
    sync(&project, &clock, 2).await;
    assert_eq!(fake.state().asked, ["GET /repos/o/r", "GET /repos/o/r/issues"], "for 33 tickets");
    assert!(project.is_settled(&mut project.ledger()));
}

#[tokio::test]
async fn another_repository_is_not_the_former_one() {
    for has_graphql in [true, false] {
        let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
        let [former, other] = [FakeGitHub::start(), FakeGitHub::start()];
        for fake in [&former, &other] {
            fake.state().has_graphql = has_graphql;
        }
        other.state().repository_id = 7;
        people(&other, 3);
        let project = clone(folder.path(), "a", &former, 3);
        sync(&project, &clock, 1).await;
        let links = linked(&project);
        let (before, strangers) = (former.state().issues.clone(), other.state().issues.clone());
        // The same ledger, and another address.
        let project = clone(folder.path(), "a", &other, 3);
        project.set_status(0, "review");
        sync(&project, &clock, 2).await;
        let issues = other.state().issues.clone();
        assert!(
            strangers.iter().all(|(number, issue)| issues[number] == *issue),
            "people's issues were changed"
        );
        assert_eq!(issues.len(), 6, "ours were made beside them");
        assert_eq!(former.state().issues, before, "{has_graphql}: the former ones are left alone");
        // Back again: what was known of it is known again.
        let project = clone(folder.path(), "a", &former, 3);
        sync(&project, &clock, 3).await;
        assert_eq!((linked(&project), former.state().issues.len()), (links, 3));
    }
}

#[tokio::test]
async fn a_repository_that_moved_is_the_same() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), clock());
    let [former, moved] = [FakeGitHub::start(), FakeGitHub::start()];
    let project = clone(folder.path(), "a", &former, 3);
    sync(&project, &clock, 1).await;
    moved.state().issues = former.state().issues.clone();
    moved.state().labels = former.state().labels.clone();
    let links = linked(&project);
    // Its host has another name now.
    let project = clone(folder.path(), "a", &moved, 3);
    moved.state().asked.clear();
    sync(&project, &clock, 2).await;
    assert_eq!((linked(&project), moved.state().issues.len()), (links, 3));
}

/// Issues of people, with the numbers of ours.
fn people(fake: &FakeGitHub, count: u64) {
    let mut state = fake.state();
    for number in 1..=count {
        let issue = Issue {
            number,
            title: format!("Bug {number}"),
            body: "It hurts.".to_owned(),
            labels: ["bug".to_owned()].into(),
            is_open: true,
            reason: None,
            parent: None,
            is_pull_request: false,
            comments: 2,
            fields: Default::default(),
        };
        state.issues.insert(number, issue);
    }
}
