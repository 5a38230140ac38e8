//! A real project whose tickets a worker keeps in step on a server of ours.
#![expect(clippy::disallowed_methods, reason = "an edge: a project is copied here")]

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use stepmark_store::workspace::{Clock, Workspace};
use stepmark_sync::{
    configuration::{SyncConfiguration, TrackerSettings},
    ledger::{Ledger as _, SqliteLedger},
    plan::{Plan, PlanInputs, Survey},
    retry::{Chance, Jitter},
    ticket::{Observed, Snapshot, Ticket, TicketFacts},
    tracker::{JiraTracker, Tracker as _},
    worker::{Report, Worker, WorkerClock, wants_look},
};

use crate::{
    demo,
    fake::FakeJira,
    project::{TOKEN, credential, settings},
};

/// A clock that lets nobody wait, or only so long that others get on meanwhile. The server goes by it, too.
#[derive(Clone)]
pub(crate) struct JumpingClock(Arc<AtomicI64>, Duration);

impl WorkerClock for JumpingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::Relaxed)).unwrap()
    }

    fn sleep(&self, duration: Duration) -> stepmark_sync::BoxFuture<'_, ()> {
        Box::pin(async move {
            if !self.1.is_zero() {
                tokio::time::sleep(self.1).await;
            }
            self.0.fetch_add(duration.as_millis().try_into().unwrap(), Ordering::Relaxed);
        })
    }
}

static MACHINES: AtomicU64 = AtomicU64::new(0);

/// The demo project without what cannot be read, all of whose artifacts have ids.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    pub(crate) settings: TrackerSettings,
    clock: JumpingClock,
    /// The folder of the ledger.
    ledger: tempfile::TempDir,
    /// A chance of its own.
    chance: u64,
}

impl Project {
    pub(crate) fn new(fake: &FakeJira) -> Self {
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
        let clock =
            JumpingClock(Arc::new(AtomicI64::new(Clock::System.now().as_millisecond())), Duration::ZERO);
        let chance = MACHINES.fetch_add(1, Ordering::Relaxed);
        let project = Self { folder, settings, clock, ledger: tempfile::tempdir().unwrap(), chance };
        project.tell_time(fake);
        project
    }

    /// Another clone of the project, with a ledger of its own, which goes by the same clock.
    pub(crate) fn another(&self, fake: &FakeJira) -> Self {
        let mut other = Self::new(fake);
        other.clock = self.clock.clone();
        self.tell_time(fake);
        other
    }

    /// Lets others get on while this one waits.
    pub(crate) fn let_others_go_on(&mut self) {
        self.clock.1 = Duration::from_millis(50);
    }

    /// Plans, looks and carries out until nothing is left to do.
    pub(crate) async fn settle(&self, fake: &FakeJira) {
        let tracker = self.tracker(fake);
        for _ in 0..30 {
            let plan = self.plan(&tracker, &self.snapshot(), None);
            let mut ledger = self.ledger();
            let wants_look = wants_look(&*ledger.read().unwrap(), &self.settings, self.clock.now()).unwrap();
            if plan.actions.is_empty() && !wants_look {
                return;
            }
            self.work(&tracker, async |worker| worker.apply(&plan).await.unwrap()).await;
            self.clock.sleep(Duration::from_secs(3600)).await;
        }
        panic!("it never ends");
    }

    /// The issues that the ledger links, by marker.
    pub(crate) fn linked(&self) -> BTreeMap<String, u64> {
        let mut ledger = self.ledger();
        let links = ledger.read().unwrap().links(&self.settings.name).unwrap().into_iter();
        links.map(|link| (link.marker.to_string(), link.remote.id.parse().unwrap())).collect()
    }

    /// Lets a server go by the clock of the worker.
    pub(crate) fn tell_time(&self, fake: &FakeJira) {
        let served = self.clock.clone();
        fake.state().now = Box::new(move || served.now().as_millisecond());
    }

    pub(crate) fn tracker(&self, fake: &FakeJira) -> JiraTracker {
        JiraTracker::new(settings(&fake.url()), &credential(TOKEN)).unwrap()
    }

    /// Does something as a new process would.
    pub(crate) async fn work<T>(
        &self,
        tracker: &JiraTracker,
        task: impl AsyncFnOnce(&mut Worker<'_>) -> T,
    ) -> T {
        let (mut ledger, mut draw) = (self.ledger(), || Jitter(self.chance));
        let work = ("test", &mut draw as &mut Chance<'_>);
        let mut worker = Worker::new(&mut ledger, (tracker, &self.settings), &self.clock, "demo", work);
        task(&mut worker).await
    }

    /// Plans and carries out until nothing is left to do.
    pub(crate) async fn sync(&self, fake: &FakeJira) -> Vec<Report> {
        self.sync_snapshot(&self.tracker(fake), &self.snapshot()).await
    }

    pub(crate) async fn sync_snapshot(&self, tracker: &JiraTracker, snapshot: &Snapshot) -> Vec<Report> {
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

    /// Returns what is to be done after a look through the server.
    pub(crate) async fn surveyed_plan(&self, fake: &FakeJira) -> Plan {
        let tracker = self.tracker(fake);
        let tickets = self.work(&tracker, async |worker| worker.survey().await.unwrap()).await.unwrap();
        self.plan(&tracker, &self.snapshot(), Some(&tickets))
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::of("demo", &Workspace::open(self.folder.path()).unwrap().checks().summaries().unwrap())
    }

    fn plan(&self, tracker: &JiraTracker, snapshot: &Snapshot, survey: Option<&Vec<Observed>>) -> Plan {
        let compare = |desired: &Ticket, before: Option<&Ticket>, observed: &Observed| {
            tracker.compare(desired, before, observed).unwrap()
        };
        let survey = survey.map(|tickets| Survey { tickets, compare: &compare });
        let mut ledger = self.ledger();
        let ledger = ledger.read().unwrap();
        Plan::make(&PlanInputs { snapshot, settings: &self.settings, ledger: &*ledger, survey }).unwrap()
    }

    fn ledger(&self) -> SqliteLedger {
        SqliteLedger::open(&self.ledger.path().join("sync.db")).unwrap()
    }

    pub(crate) fn lose_ledger(&mut self) {
        self.ledger = tempfile::tempdir().unwrap();
    }

    /// Writes an artifact with an id, in one step.
    pub(crate) fn create(&self, id: &str) {
        let (folder, staged) = (self.folder.path().join("docs"), self.folder.path().join(".staged"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(&staged, format!("---\nstepmark_id: {id}\nstatus: draft\n---\n\n# Made {id}\n")).unwrap();
        fs::rename(staged, folder.join(format!("{id}.md"))).unwrap();
    }

    /// The file of the artifact with an id.
    pub(crate) fn file(&self, id: &str) -> PathBuf {
        let artifacts = Workspace::open(self.folder.path()).unwrap().artifacts().unwrap().artifacts;
        let named = artifacts.iter().map(|artifact| self.folder.path().join(artifact.path().as_str()));
        let marked = format!("stepmark_id: {id}\n");
        named.into_iter().find(|path| fs::read_to_string(path).unwrap().contains(&marked)).unwrap()
    }
}

pub(crate) fn marker_of(properties: &serde_json::Map<String, serde_json::Value>) -> String {
    properties["stepmark"]["marker"].as_str().unwrap().to_owned()
}

/// Returns how many issues each artifact has.
pub(crate) fn counts(fake: &FakeJira) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for issue in fake.state().issues.values() {
        *counts.entry(marker_of(&issue.properties)).or_default() += 1;
    }
    counts
}

/// Returns what a person sees of each ticket.
pub(crate) fn seen(fake: &FakeJira) -> BTreeMap<String, String> {
    let state = fake.state();
    let issues = state.issues.values().map(|issue| {
        let told = format!("{} {:?} {:?} {}", issue.summary, issue.labels, issue.status, issue.description);
        (marker_of(&issue.properties), told)
    });
    issues.collect()
}
