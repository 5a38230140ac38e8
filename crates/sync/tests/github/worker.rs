//! A worker on a real project and a server that does things wrong: whatever happens, an artifact has one
//! ticket.
#![expect(clippy::disallowed_methods, reason = "an edge: a project is copied and edited here")]

use std::{
    collections::BTreeMap,
    fs,
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use stepmark_store::workspace::{Clock, Workspace};
use stepmark_sync::{
    breaker::Reason,
    configuration::{SyncConfiguration, TrackerSettings},
    ledger::{Ledger as _, SqliteLedger},
    plan::{Plan, PlanInputs, Survey},
    retry::{Chance, Jitter},
    ticket::{Marker, Observed, Snapshot, Ticket},
    tracker::{GitHubTracker, Tracker as _},
    worker::{ActionOutcome, Deferred, Report, Worker, WorkerClock},
};

use crate::{
    demo,
    fake::{FakeGitHub, Fault, Reply, When},
    project::{credential, settings},
};

/// A clock that does not let anybody wait.
struct JumpingClock(AtomicI64);

impl WorkerClock for JumpingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::Relaxed)).unwrap()
    }

    fn sleep(&self, duration: Duration) -> stepmark_sync::BoxFuture<'_, ()> {
        Box::pin(async move {
            self.0.fetch_add(duration.as_millis().try_into().unwrap(), Ordering::Relaxed);
        })
    }
}

/// The demo project, all of whose artifacts have ids.
struct Project {
    folder: tempfile::TempDir,
    settings: TrackerSettings,
    clock: JumpingClock,
}

impl Project {
    fn new(fake: &FakeGitHub) -> Self {
        let folder = demo::copied();
        fs::create_dir_all(folder.path().join(".stepmark")).unwrap();
        let configuration = format!(
            "project_id: demo\ntrackers:\n  github:\n    base_url: {}\n    repository: o/r\n",
            fake.url()
        );
        fs::write(folder.path().join(".stepmark/config.yaml"), configuration).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let settings = SyncConfiguration::of(workspace.configuration()).unwrap().trackers[0].clone();
        for (number, artifact) in workspace.artifacts().unwrap().artifacts.iter().enumerate() {
            let path = folder.path().join(artifact.path().as_str());
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, text.replacen("---\n", &format!("---\nstepmark_id: A-{number}\n"), 1)).unwrap();
        }
        let clock = JumpingClock(AtomicI64::new(Clock::System.now().as_millisecond()));
        Self { folder, settings, clock }
    }

    fn tracker(&self, fake: &FakeGitHub) -> GitHubTracker {
        GitHubTracker::new(settings(&fake.url()), &credential()).unwrap()
    }

    fn ledger(&self) -> SqliteLedger {
        SqliteLedger::open(&self.folder.path().join("sync.db")).unwrap()
    }

    /// Does something as a new process would.
    async fn work<T>(&self, tracker: &GitHubTracker, task: impl AsyncFnOnce(&mut Worker<'_>) -> T) -> T {
        let (mut ledger, mut draw) = (self.ledger(), || Jitter(0));
        let work = ("test", &mut draw as &mut Chance<'_>);
        let mut worker = Worker::new(&mut ledger, (tracker, &self.settings), &self.clock, "demo", work);
        task(&mut worker).await
    }

    /// Looks, then plans and carries out until nothing is left to do.
    async fn sync(&self, fake: &FakeGitHub) -> Vec<Report> {
        let tracker = self.tracker(fake);
        let survey = self.work(&tracker, async |worker| worker.survey().await.unwrap()).await;
        let mut survey = survey.ok();
        let mut reports = Vec::new();
        while reports.len() < 30 {
            let plan = self.plan(&tracker, survey.take().as_ref());
            if plan.actions.is_empty() {
                return reports;
            }
            reports.push(self.work(&tracker, async |worker| worker.apply(&plan).await.unwrap()).await);
            // Breakers and waits are over by then.
            self.clock.sleep(Duration::from_secs(3600)).await;
        }
        panic!("it never ends: {:?}", reports.last());
    }

    fn plan(&self, tracker: &GitHubTracker, survey: Option<&Vec<Observed>>) -> Plan {
        let workspace = Workspace::open(self.folder.path()).unwrap();
        let snapshot = Snapshot::of("demo", &workspace.checks().summaries().unwrap());
        let compare = |desired: &Ticket, before: Option<&Ticket>, observed: &Observed| {
            tracker.compare(desired, before, observed).unwrap()
        };
        let survey = survey.map(|tickets| Survey { tickets, compare: &compare });
        let mut ledger = self.ledger();
        let ledger = ledger.read().unwrap();
        Plan::make(&PlanInputs { snapshot: &snapshot, settings: &self.settings, ledger: &*ledger, survey })
            .unwrap()
    }

    fn lose_ledger(&self) {
        for name in ["sync.db", "sync.db-wal", "sync.db-shm"] {
            let path = self.folder.path().join(name);
            if path.exists() {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

/// Returns how many issues each artifact has.
fn counts(fake: &FakeGitHub) -> BTreeMap<Marker, usize> {
    let mut counts = BTreeMap::new();
    for issue in fake.state().issues.values() {
        *counts.entry(Marker::in_body(&issue.body).unwrap()).or_default() += 1;
    }
    counts
}

#[tokio::test]
async fn one_ticket_an_artifact_whatever_happens() {
    let html = || Reply { status: 502, headers: Vec::new(), body: "<html>Bad gateway</html>".to_owned() };
    let secondary = || Reply::error(403, "You have exceeded a secondary rate limit.");
    for has_graphql in [false, true] {
        let fake = FakeGitHub::start();
        fake.state().has_graphql = has_graphql;
        let project = Project::new(&fake);
        for fault in [
            Fault::LoseReply,
            Fault::Answer(secondary()),
            Fault::Reset,
            Fault::Answer(html()),
            Fault::Scramble("<html>".to_owned()),
            Fault::Answer(Reply::error(500, "oops")),
            Fault::LoseReply,
        ] {
            fake.fail(When::new("POST", "/issues"), fault);
        }
        fake.fail(When::new("GET", "/issues"), Fault::Reset);
        project.sync(&fake).await;
        let first = counts(&fake);
        assert!(fake.state().faults.is_empty(), "all of it went wrong");
        assert!(first.len() >= 5 && first.values().all(|count| *count == 1), "{first:?}");
        // Nothing has changed: nothing is asked but for the survey.
        fake.take_asked();
        assert!(project.sync(&fake).await.is_empty());
        assert!(fake.take_asked().iter().all(|asked| asked.starts_with("GET /repos/o/r/issues")));
        project.lose_ledger();
        project.sync(&fake).await;
        assert_eq!(counts(&fake), first, "a lost ledger makes no second ticket");
    }
}

#[tokio::test]
async fn without_the_right_to_label_one_ticket_is_made_and_no_more() {
    for (tells_permissions, made) in [(false, 1), (true, 0)] {
        let fake = FakeGitHub::start();
        fake.state().has_push_access = false;
        fake.state().tells_permissions = tells_permissions;
        without_labels(&fake, made).await;
    }
}

async fn without_labels(fake: &FakeGitHub, made: usize) {
    let project = Project::new(fake);
    let tracker = project.tracker(fake);
    for _ in 0..2 {
        let plan = project.plan(&tracker, None);
        let report = project.work(&tracker, async |worker| worker.apply(&plan).await.unwrap()).await;
        let is_held = |outcome: &ActionOutcome| matches!(outcome, ActionOutcome::Deferred(Deferred::Refused { cause, .. }) if cause.reason == Reason::Forbidden);
        assert!(report.entries.iter().filter(|entry| is_held(&entry.outcome)).count() >= 4, "{report:?}");
        assert_eq!(fake.state().issues.len(), made, "it would not be found again");
    }
}
