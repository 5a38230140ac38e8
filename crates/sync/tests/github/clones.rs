//! Several clones of a project, each with a ledger of its own, and one that is configured for another
//! repository.
#![expect(clippy::disallowed_methods, reason = "an edge: a clock of its own")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use stepmark_store::workspace::Clock;
use stepmark_sync::{
    configuration::Prune,
    ledger::Ledger as _,
    retry::{Chance, Jitter},
    ticket::Marker,
    worker::{Report, Worker, WorkerClock, WorkerSettings, wants_look},
};

use crate::{
    fake::{FakeGitHub, Issue},
    flat_project::{FlatProject, PROJECT},
};

/// A clock by which a second takes a millisecond.
pub(crate) struct FastClock(Instant);

impl WorkerClock for FastClock {
    fn now(&self) -> Timestamp {
        let passed = u64::try_from(self.0.elapsed().as_micros()).unwrap();
        Clock::System.now() + Duration::from_millis(passed)
    }

    fn sleep(&self, duration: Duration) -> stepmark_sync::BoxFuture<'_, ()> {
        Box::pin(async move {
            tokio::time::sleep(duration / 1000).await;
        })
    }
}

/// Plans and carries out until nothing is left to do.
pub(crate) async fn sync(project: &FlatProject, clock: &FastClock, seed: u64) -> Vec<Report> {
    let mut reports = Vec::new();
    let mut chance = seed;
    while reports.len() < 20 {
        match round(project, clock, &mut chance).await {
            Some(report) => reports.push(report),
            None => return reports,
        }
    }
    panic!("it never ends: {:?}", reports.last());
}

/// Plans and carries out once; `None` where nothing is left to do.
pub(crate) async fn round(project: &FlatProject, clock: &FastClock, chance: &mut u64) -> Option<Report> {
    let (tracker, mut ledger) = (project.tracker(), project.ledger());
    let plan = project.plan(&mut ledger);
    let wants_look = wants_look(&*ledger.read().unwrap(), &project.settings, clock.now()).unwrap();
    if plan.actions.is_empty() && !wants_look {
        return None;
    }
    let mut draw = || {
        *chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Jitter(*chance)
    };
    let who = ("test", &mut draw as &mut Chance<'_>);
    let worker = Worker::new(&mut ledger, (&tracker, &project.settings), clock, PROJECT, who);
    let settings = WorkerSettings { lease_ms: 3_600_000, patience_ms: 600_000 };
    Some(worker.with(settings).apply(&plan).await.unwrap())
}

pub(crate) fn clock() -> FastClock {
    FastClock(Instant::now())
}

/// A clone whose tickets are in the repository of `fake`.
pub(crate) fn clone(folder: &Path, name: &str, fake: &FakeGitHub, artifacts: usize) -> FlatProject {
    FlatProject::make(&folder.join(name), &fake.url(), artifacts, 1)
}

/// The open issues of each artifact.
pub(crate) fn open(fake: &FakeGitHub) -> BTreeMap<Marker, Vec<u64>> {
    let mut open: BTreeMap<Marker, Vec<u64>> = BTreeMap::new();
    for issue in fake.state().issues.values().filter(|issue| issue.is_open) {
        if let Some(marker) = Marker::in_body(&issue.body) {
            open.entry(marker).or_default().push(issue.number);
        }
    }
    open
}

pub(crate) fn linked(project: &FlatProject) -> BTreeMap<Marker, u64> {
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

/// Two to five machines, which git brings every change of an artifact to, and two repositories.
struct Machines {
    folder: tempfile::TempDir,
    repositories: [FakeGitHub; 2],
    machines: Vec<FlatProject>,
    chance: u64,
    clock: FastClock,
    /// The artifacts that there are.
    artifacts: BTreeSet<usize>,
    made: usize,
}

impl Machines {
    fn new(seed: u64) -> Self {
        let repositories = [FakeGitHub::start(), FakeGitHub::start()];
        repositories[1].state().repository_id = 7;
        for fake in &repositories {
            fake.state().has_graphql = seed.is_multiple_of(2);
            people(fake, 3);
        }
        let (folder, machines) = (tempfile::tempdir().unwrap(), Vec::new());
        let mut own = Self {
            folder,
            repositories,
            machines,
            chance: seed,
            clock: clock(),
            artifacts: BTreeSet::new(),
            made: 0,
        };
        let count = 2 + own.below(4);
        (0..count).for_each(|at| own.target(at, 0));
        (0..3).for_each(|_| own.create());
        own
    }

    fn below(&mut self, bound: usize) -> usize {
        self.chance =
            self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.chance >> 33).unwrap() % bound
    }

    /// Configures a machine for a repository.
    fn target(&mut self, at: usize, repository: usize) {
        let mut project = clone(self.folder.path(), &format!("m{at}"), &self.repositories[repository], 0);
        project.settings.prune = Prune::Close;
        project.settings.prunes_many = true;
        match self.machines.get_mut(at) {
            Some(machine) => *machine = project,
            None => self.machines.push(project),
        }
    }

    fn create(&mut self) {
        self.machines.iter().for_each(|machine| machine.set_status(self.made, "draft"));
        self.artifacts.insert(self.made);
        self.made += 1;
    }

    async fn sync(&mut self, at: usize) {
        sync(&self.machines[at], &self.clock, self.chance).await;
    }

    async fn step(&mut self) {
        let (at, other) = (self.below(self.machines.len()), self.below(self.machines.len()));
        let picked = self.below(self.artifacts.len());
        let number = *self.artifacts.iter().nth(picked).unwrap();
        match self.below(11) {
            0 => self.create(),
            1 => {
                let name = ["a", "b", "c"][self.below(3)];
                self.machines.iter().for_each(|machine| machine.rename(number, name));
            }
            2 if self.artifacts.len() > 1 => {
                self.artifacts.remove(&number);
                self.machines.iter().for_each(|machine| machine.remove(number));
            }
            3 => self.machines[at].lose_ledger(),
            4 => {
                let repository = self.below(2);
                self.target(at, repository);
            }
            5 | 6 if at != other => {
                let (one, two, clock) = (&self.machines[at], &self.machines[other], &self.clock);
                tokio::join!(async { sync(one, clock, 1).await }, async { sync(two, clock, 2).await });
            }
            _ => self.sync(at).await,
        }
    }
}

/// Machines create, rename, delete, change their repository and lose their ledgers, alone or at once, in any
/// order.
#[tokio::test]
async fn whatever_machines_do_there_is_one_live_ticket_an_artifact() {
    for seed in 1..=5 {
        let mut machines = Machines::new(seed);
        let strangers = machines.repositories.each_ref().map(|fake| fake.state().issues.clone());
        for _ in 0..15 {
            machines.step().await;
        }
        // All look through one repository again.
        machines.create();
        let count = machines.machines.len();
        (0..count).for_each(|at| machines.target(at, 0));
        for at in (0..count).chain(0..count) {
            machines.sync(at).await;
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
        let open = open(&machines.repositories[0]);
        let wanted: BTreeSet<String> =
            machines.artifacts.iter().map(|number| format!("{PROJECT}/id:A-{number}")).collect();
        let live: BTreeSet<String> = open.keys().map(ToString::to_string).collect();
        assert!(
            live == wanted && open.values().all(|same| same.len() == 1),
            "seed {seed}: {open:?}, {wanted:?}"
        );
        for machine in &machines.machines {
            let links = linked(machine);
            assert!(open.iter().all(|(marker, same)| links.get(marker) == same.first()), "seed {seed}");
        }
        for (fake, strangers) in machines.repositories.iter().zip(strangers) {
            let issues = fake.state().issues.clone();
            assert!(strangers.iter().all(|(number, issue)| issues[number] == *issue), "seed {seed}");
        }
    }
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
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            fields: Default::default(),
        };
        state.issues.insert(number, issue);
    }
}
