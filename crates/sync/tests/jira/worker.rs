//! A worker on a real project and a server that does things wrong and whose index is late: whatever happens, an artifact has one ticket.
#![expect(clippy::disallowed_methods, reason = "an edge: a project is copied and edited here")]

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use stepmark_core::{Workspace, workspace::Clock};
use stepmark_sync::{
    configuration::{Duplicates, SyncConfiguration, TrackerSettings},
    ledger::{Ledger as _, MemoryLedger},
    plan::{ActionKind, Grounds, Plan, Survey},
    retry::Draw,
    ticket::{LabelFamilies, Observed, Snapshot, Ticket, TicketFacts},
    tracker::{JiraSettings, JiraTracker, Tracker as _},
    worker::{Report, Worker, WorkerClock},
};

use crate::{
    demo,
    fake::{FakeJira, Fault, Reply, Status, When, refused},
    project::{TOKEN, credential, settings},
};

/// A clock that does not let anybody wait. The server goes by it, too.
#[derive(Clone)]
struct JumpingClock(Arc<AtomicI64>);

impl WorkerClock for JumpingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::Relaxed)).unwrap()
    }

    async fn sleep(&self, duration: Duration) {
        self.0.fetch_add(duration.as_millis().try_into().unwrap(), Ordering::Relaxed);
    }
}

/// The demo project without what cannot be read, all of whose artifacts have ids.
struct Project {
    folder: tempfile::TempDir,
    settings: TrackerSettings,
    clock: JumpingClock,
    ledger: MemoryLedger,
}

impl Project {
    fn new(fake: &FakeJira) -> Self {
        let folder = demo::copied();
        fs::create_dir_all(folder.path().join(".stepmark")).unwrap();
        let configuration = format!(
            "project_id: demo\ntrackers:\n  jira:\n    base_url: {}\n    project: ABC\n    child_issue_type: Sub-task\n    prune: close\n",
            fake.url()
        );
        fs::write(folder.path().join(".stepmark/config.yaml"), configuration).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let settings = SyncConfiguration::of(workspace.configuration()).unwrap().trackers[0].clone();
        for (number, artifact) in workspace.artifacts().unwrap().artifacts.iter().enumerate() {
            let path = folder.path().join(artifact.path().as_str());
            let text = fs::read_to_string(&path).unwrap();
            if !TicketFacts::of(artifact).is_readable {
                fs::remove_file(path).unwrap();
                continue;
            }
            fs::write(path, text.replacen("---\n", &format!("---\nstepmark_id: A-{number}\n"), 1)).unwrap();
        }
        let clock = JumpingClock(Arc::new(AtomicI64::new(Clock::System.now().as_millisecond())));
        let project = Self { folder, settings, clock, ledger: MemoryLedger::default() };
        project.tell_time(fake);
        project
    }

    /// Lets a server go by the clock of the worker.
    fn tell_time(&self, fake: &FakeJira) {
        let served = self.clock.clone();
        fake.state().now = Box::new(move || served.now().as_millisecond());
    }

    fn tracker(&self, fake: &FakeJira) -> JiraTracker {
        let families = LabelFamilies::of(&self.settings.ticket);
        JiraTracker::new(JiraSettings { families, ..settings(&fake.url()) }, &credential(TOKEN)).unwrap()
    }

    /// Does something as a new process would.
    async fn work<T>(
        &self,
        tracker: &JiraTracker,
        task: impl AsyncFnOnce(&mut Worker<'_, MemoryLedger, JiraTracker, JumpingClock>) -> T,
    ) -> T {
        let (mut ledger, mut draw) = (self.ledger.clone(), || Draw(0));
        let work = ("test", &mut draw as &mut dyn FnMut() -> Draw);
        let mut worker = Worker::new(&mut ledger, (tracker, &self.settings), &self.clock, "demo", work);
        task(&mut worker).await
    }

    /// Plans and carries out until nothing is left to do.
    async fn sync(&self, fake: &FakeJira) -> Vec<Report> {
        self.sync_snapshot(&self.tracker(fake), &self.snapshot()).await
    }

    async fn sync_snapshot(&self, tracker: &JiraTracker, snapshot: &Snapshot) -> Vec<Report> {
        let mut reports = Vec::new();
        while reports.len() < 30 {
            let plan = self.plan(tracker, snapshot, None);
            if plan.actions.is_empty() {
                return reports;
            }
            reports.push(self.work(tracker, async |worker| worker.apply(&plan).await.unwrap()).await);
            // Breakers and waits are over by then.
            self.clock.sleep(Duration::from_secs(3600)).await;
        }
        panic!("it never ends: {:?}", reports.last());
    }

    /// What is to be done after a look through the server.
    async fn surveyed_plan(&self, fake: &FakeJira) -> Plan {
        let tracker = self.tracker(fake);
        let tickets = self.work(&tracker, async |worker| worker.survey().await.unwrap()).await.unwrap();
        self.plan(&tracker, &self.snapshot(), Some(&tickets))
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::of("demo", &Workspace::open(self.folder.path()).unwrap().artifacts().unwrap())
    }

    fn plan(&self, tracker: &JiraTracker, snapshot: &Snapshot, survey: Option<&Vec<Observed>>) -> Plan {
        let compare = |desired: &Ticket, before: Option<&Ticket>, observed: &Observed| {
            tracker.compare(desired, before, observed).unwrap()
        };
        let survey = survey.map(|tickets| Survey { tickets, compare: &compare });
        let mut ledger = self.ledger.clone();
        let ledger = ledger.read().unwrap();
        Plan::make(&Grounds { snapshot, settings: &self.settings, ledger: &*ledger, survey }).unwrap()
    }

    fn lose_ledger(&mut self) {
        self.ledger = MemoryLedger::default();
    }

    /// The file of the artifact with an id.
    fn file(&self, id: &str) -> PathBuf {
        let artifacts = Workspace::open(self.folder.path()).unwrap().artifacts().unwrap().artifacts;
        let named = artifacts.iter().map(|artifact| self.folder.path().join(artifact.path().as_str()));
        let marked = format!("stepmark_id: {id}\n");
        named.into_iter().find(|path| fs::read_to_string(path).unwrap().contains(&marked)).unwrap()
    }
}

fn marker_of(properties: &serde_json::Map<String, serde_json::Value>) -> String {
    properties["stepmark"]["marker"].as_str().unwrap().to_owned()
}

/// How many issues each artifact has.
fn counts(fake: &FakeJira) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for issue in fake.state().issues.values() {
        *counts.entry(marker_of(&issue.properties)).or_default() += 1;
    }
    counts
}

#[tokio::test]
async fn one_ticket_an_artifact_whatever_happens() {
    let html = || Reply { status: 502, headers: Vec::new(), body: "<html>Bad gateway</html>".to_owned() };
    let limited = |reason: &str| Fault::Answer(refused(429, "slow").with("RateLimit-Reason", reason));
    let fake = FakeJira::start();
    // Longer than anything that is between two requests, and shorter than the wait of the worker.
    fake.state().index_lag_ms = 60_000;
    let mut project = Project::new(&fake);
    for fault in [
        limited("jira-burst-based"),
        limited("jira-quota-tenant-based"),
        Fault::Reset,
        Fault::Answer(html()),
        Fault::Answer(refused(500, "oops")),
        // All of them are made by the first of these.
        Fault::LoseReply,
        Fault::Scramble("<html>".to_owned()),
    ] {
        for (method, path) in [("POST", "/issue/bulk"), ("PUT", ""), ("POST", "/transitions")] {
            fake.fail(When::new(method, path), fault.clone());
        }
    }
    fake.fail(When::new("POST", "/search/jql"), Fault::Reset);
    fake.fail(When::new("GET", "/myself"), Fault::Answer(html()));
    project.sync(&fake).await;
    let first = counts(&fake);
    assert!(first.len() >= 5 && first.values().all(|count| *count == 1), "{first:?}");
    let left = |path: &str| fake.state().faults.iter().filter(|(when, _)| when.path == path).count();
    let [creations, moves, searches] = ["/issue/bulk", "/transitions", "/search/jql"].map(left);
    assert_eq!(
        (creations, moves, searches),
        (1, 0, 0),
        "all of it went wrong but what came after all were made"
    );
    assert!(
        fake.state().issues.values().any(|issue| issue.status == Status::InProgress),
        "issues were moved"
    );
    fake.state().faults.clear();
    // Nothing has changed: nothing is asked.
    fake.take_asked();
    assert!(project.sync(&fake).await.is_empty());
    assert!(fake.take_asked().is_empty());
    assert!(project.surveyed_plan(&fake).await.actions.is_empty(), "and nothing differs");
    project.lose_ledger();
    project.sync(&fake).await;
    assert_eq!(counts(&fake), first, "a lost ledger makes no second ticket");
}

/// What a person sees of each ticket.
fn seen(fake: &FakeJira) -> BTreeMap<String, String> {
    let state = fake.state();
    let issues = state.issues.values().map(|issue| {
        let told = format!("{} {:?} {:?} {}", issue.summary, issue.labels, issue.status, issue.description);
        (marker_of(&issue.properties), told)
    });
    issues.collect()
}

/// Whatever is lost where, in the end there is one ticket an artifact, and it says what it would say had nothing been lost.
#[tokio::test]
async fn every_fault_at_every_request_is_survived() {
    let html = Reply { status: 502, headers: Vec::new(), body: "<html>Bad gateway</html>".to_owned() };
    let limited = |reason: &str| Fault::Answer(refused(429, "slow").with("RateLimit-Reason", reason));
    let fake = FakeJira::start();
    let mut project = Project::new(&fake);
    let (tracker, snapshot) = (project.tracker(&fake), project.snapshot());
    project.sync_snapshot(&tracker, &snapshot).await;
    let untouched = seen(&fake);
    for (method, path) in [
        ("GET", "/myself"),
        ("POST", "/search/jql"),
        ("POST", "/issue/bulk"),
        ("POST", "/issue/bulkfetch"),
        ("GET", "/transitions"),
        ("POST", "/transitions"),
    ] {
        for fault in [
            Fault::LoseReply,
            Fault::Reset,
            Fault::Scramble("<html>".to_owned()),
            Fault::Answer(html.clone()),
            Fault::Answer(refused(503, "maintenance").with("Retry-After", 3)),
            limited("jira-quota-tenant-based"),
            limited("jira-burst-based"),
            limited("jira-per-issue-on-write"),
        ] {
            fake.forget();
            fake.state().index_lag_ms = 60_000;
            project.tell_time(&fake);
            project.lose_ledger();
            let told = format!("{method} {path}: {fault:?}");
            fake.fail(When::new(method, path), fault.clone());
            fake.fail(When::new(method, path), fault);
            project.sync_snapshot(&tracker, &snapshot).await;
            assert!(counts(&fake).values().all(|count| *count == 1), "{told}: {:?}", counts(&fake));
            assert_eq!(seen(&fake), untouched, "{told}");
        }
    }
}

/// One request of five goes wrong, whichever; and the ledger is lost in between.
#[tokio::test]
async fn chaos_converges() {
    let fake = FakeJira::start();
    let mut project = Project::new(&fake);
    project.settings.retry.attempts = 100;
    let (tracker, snapshot) = (project.tracker(&fake), project.snapshot());
    project.sync_snapshot(&tracker, &snapshot).await;
    let untouched = seen(&fake);
    let mut mishaps = 0;
    for seed in 0..25 {
        fake.forget();
        project.tell_time(&fake);
        project.lose_ledger();
        {
            let mut state = fake.state();
            (state.index_lag_ms, state.chance) = (60_000, Some(seed));
        }
        for _ in 0..2 {
            project.sync_snapshot(&tracker, &snapshot).await;
            assert!(counts(&fake).values().all(|count| *count == 1), "{seed}: {:?}", counts(&fake));
            assert_eq!(seen(&fake), untouched, "{seed}");
            project.lose_ledger();
        }
        mishaps += fake.state().mishaps;
    }
    assert!(mishaps > 100, "{mishaps}");
}

#[tokio::test]
async fn a_creation_in_doubt_is_looked_for_until_the_index_must_show_it() {
    for lag_ms in [0, 30_000, 110_000] {
        let fake = FakeJira::start();
        fake.state().index_lag_ms = lag_ms;
        let project = Project::new(&fake);
        fake.fail(When::new("POST", "/issue/bulk"), Fault::LoseReply);
        project.sync(&fake).await;
        let counts = counts(&fake);
        assert!(counts.values().all(|count| *count == 1), "{lag_ms}: {counts:?}");
    }
}

#[tokio::test]
async fn a_ticket_follows_its_artifact() {
    let fake = FakeJira::start();
    let project = Project::new(&fake);
    project.sync(&fake).await;
    let issue = |id: &str| {
        let marker = format!("demo/id:{id}");
        let state = fake.state();
        state.issues.values().find(|issue| marker_of(&issue.properties) == marker).unwrap().clone()
    };
    let path = project.file("A-0");
    let text = fs::read_to_string(&path).unwrap();
    let before = issue("A-0");
    // Edited, and a person wrote something beside.
    fake.state().issues.get_mut(&before.id).unwrap().labels.insert("urgent".to_owned());
    fs::write(&path, text.replacen("stepmark_id: A-0\n", "stepmark_id: A-0\nscope: tiny\n", 1)).unwrap();
    project.sync(&fake).await;
    let edited = issue("A-0");
    assert!(edited.labels.contains("scope:tiny") && edited.labels.contains("urgent"), "{:?}", edited.labels);
    assert_eq!(edited.summary, before.summary);
    // Gone, and back again.
    fs::remove_file(&path).unwrap();
    project.sync(&fake).await;
    assert_eq!(issue("A-0").status, Status::Done);
    fs::write(&path, text).unwrap();
    project.sync(&fake).await;
    let back = issue("A-0");
    assert_eq!((back.status, back.id), (before.status, before.id));
    // What a person changed is seen and written over.
    fake.state().issues.get_mut(&before.id).unwrap().summary = "Mine".to_owned();
    let plan = project.surveyed_plan(&fake).await;
    let fields: Vec<_> =
        plan.actions[0].differences.iter().map(|difference| difference.field.as_str()).collect();
    assert_eq!((plan.actions.len(), fields), (1, vec!["title"]));
}

#[tokio::test]
async fn a_duplicate_is_closed_and_the_oldest_stays() {
    let fake = FakeJira::start();
    let mut project = Project::new(&fake);
    project.settings.duplicates = Duplicates::Close;
    project.sync(&fake).await;
    let copy = {
        let mut state = fake.state();
        let mut copy = state.issues.values().find(|issue| issue.status != Status::Done).unwrap().clone();
        copy.id = state.issues.keys().last().unwrap() + 1;
        copy.made_at_ms += 1;
        state.issues.insert(copy.id, copy.clone());
        copy
    };
    let plan = project.surveyed_plan(&fake).await;
    assert_eq!(
        plan.actions.iter().map(|action| action.kind).collect::<Vec<_>>(),
        [ActionKind::CloseDuplicate]
    );
    let tracker = project.tracker(&fake);
    project.work(&tracker, async |worker| worker.apply(&plan).await.unwrap()).await;
    let marker = marker_of(&copy.properties);
    let state = fake.state();
    let same = state.issues.values().filter(|issue| marker_of(&issue.properties) == marker);
    let closed: Vec<bool> = same.map(|issue| issue.status == Status::Done).collect();
    assert_eq!(closed, [false, true]);
}
