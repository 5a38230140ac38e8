//! A whole way on a real project: artifacts → tickets → plan → ledger → tracker, again with nothing changed,
//! after a change, after the ledger was lost, and after a crash between a creation and its acknowledgement.
#![expect(clippy::disallowed_methods, reason = "an edge: a project is copied and edited here")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod demo;

use std::{
    fs,
    future::Future,
    path::PathBuf,
    pin::pin,
    task::{Context, Poll, Waker},
};

use jiff::Timestamp;
use stepmark_store::workspace::{Artifacts, Clock, Workspace};
use stepmark_sync::{
    configuration::{SyncConfiguration, Target, TrackerSettings},
    ledger::{Intent, IntentAction, Lease, Ledger as _, Link, SqliteLedger, check_lease},
    plan::{Action, ActionKind, Plan, PlanInputs, Remark, Survey},
    ticket::{Observed, RemoteTicket, Snapshot, Ticket},
    tracker::{Change, Condition, Creation, Delivered, FileTracker, Line, LineKind, Outcome, Tracker as _},
};

const CONFIGURATION: &str =
    "project_id: demo\ntrackers:\n  file:\n    path: out/tickets.jsonl\n    prune: close\n";
const PRD: &str = "_bmad-output/planning-artifacts/prd.md";

const RESEARCH: &str = "_bmad-output/planning-artifacts/market-research-2026-01-13.md";

/// The demo project with a tracker that is a file.
struct Project {
    folder: tempfile::TempDir,
    settings: TrackerSettings,
    tracker: FileTracker,
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a file does not let anybody wait"),
    }
}

impl Project {
    fn new() -> Self {
        let folder = demo::copied();
        fs::create_dir_all(folder.path().join(".stepmark")).unwrap();
        fs::write(folder.path().join(".stepmark/config.yaml"), CONFIGURATION).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let configuration = SyncConfiguration::of(workspace.configuration()).unwrap();
        assert!(configuration.unknown_keys.is_empty() && workspace.configuration().unknown_keys().is_empty());
        let settings = configuration.trackers[0].clone();
        let Target::File { path } = &settings.target else { panic!("{settings:?}") };
        let root = workspace.root().clone();
        let tracker = FileTracker::new(settings.name.clone(), root, path.clone(), Clock::System);
        Self { folder, settings, tracker }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(self.path(file), text.replacen(from, to, 1)).unwrap();
    }

    fn artifacts(&self) -> Artifacts {
        Workspace::open(self.folder.path()).unwrap().artifacts().unwrap()
    }

    /// Gives every artifact an id, as `track` does. The one whose frontmatter is no YAML is fixed before.
    fn track_all(&self) -> usize {
        self.edit(RESEARCH, "'Lending' in cities", "Lending in cities");
        let artifacts = self.artifacts().artifacts;
        for (number, artifact) in artifacts.iter().enumerate() {
            self.edit(artifact.path().as_str(), "---\n", &format!("---\nstepmark_id: A-{number}\n"));
        }
        artifacts.len()
    }

    fn ledger(&self) -> SqliteLedger {
        SqliteLedger::open(&self.path(".stepmark/local/sync.db")).unwrap()
    }

    fn plan(&self, survey: Option<&[Observed]>) -> Plan {
        let workspace = Workspace::open(self.folder.path()).unwrap();
        let snapshot = Snapshot::of("demo", &workspace.checks().summaries().unwrap());
        let compare = |desired: &Ticket, before: Option<&Ticket>, observed: &Observed| {
            self.tracker.compare(desired, before, observed).unwrap()
        };
        let survey = survey.map(|tickets| Survey { tickets, compare: &compare });
        let mut ledger = self.ledger();
        let ledger = ledger.read().unwrap();
        Plan::make(&PlanInputs { snapshot: &snapshot, settings: &self.settings, ledger: &*ledger, survey })
            .unwrap()
    }

    fn survey(&self) -> Vec<Observed> {
        ready(self.tracker.list("demo", None, stepmark_sync::tracker::Listing::Labelled)).unwrap().tickets
    }

    fn lines(&self) -> Vec<Line> {
        let text = fs::read_to_string(self.path("out/tickets.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn created(&self) -> usize {
        self.lines().iter().filter(|line| line.done == LineKind::Created).count()
    }

    /// Takes the lease and notes an intent.
    fn begin(&self, action: &Action, kind: IntentAction) -> Lease {
        let mut ledger = self.ledger();
        let mut transaction = ledger.write().unwrap();
        let now = Timestamp::now();
        let current = transaction.lease(self.settings.name.as_str()).unwrap();
        let lease = Lease::acquire(current, self.settings.name.as_str(), "test", now, 60_000).unwrap();
        transaction.put_lease(&lease).unwrap();
        let intent = Intent {
            tracker: self.settings.name.clone(),
            marker: action.marker.clone(),
            action: kind,
            digest: action.digest.unwrap(),
            lease_number: lease.number,
            begun_at: now,
        };
        transaction.put_intent(&intent).unwrap();
        transaction.commit().unwrap();
        lease
    }

    /// Writes down what became of it.
    fn settle(&self, lease: &Lease, action: &Action, remote: RemoteTicket, says: Option<&Ticket>) {
        let mut ledger = self.ledger();
        let mut transaction = ledger.write().unwrap();
        check_lease(&*transaction, lease).unwrap();
        let link = Link {
            tracker: self.settings.name.clone(),
            marker: action.marker.clone(),
            remote,
            digest: says.map(Ticket::digest),
            linked_at: Timestamp::now(),
        };
        transaction.put_link(&link, says).unwrap();
        transaction.remove_intent(&link.tracker, &link.marker).unwrap();
        transaction.commit().unwrap();
    }

    fn ask(&self, action: &Action) -> Delivered {
        let ticket = action.ticket.clone().unwrap();
        let answer = match &action.remote {
            None => ready(self.tracker.create(&[Creation { ticket, parent: None }])),
            Some(remote) => {
                let change = Change {
                    remote: remote.clone(),
                    desired: ticket,
                    before: None,
                    parent: None,
                    condition: Condition::Marked,
                };
                ready(self.tracker.update(&[change]))
            }
        };
        match answer.outcomes.as_slice() {
            [Outcome::Done(done)] => done.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn execute(&self, action: &Action) {
        if action.kind == ActionKind::Adopt {
            let lease = self.begin(action, IntentAction::Update);
            return self.settle(&lease, action, action.remote.clone().unwrap(), None);
        }
        let kind = if action.remote.is_none() { IntentAction::Create } else { IntentAction::Update };
        let lease = self.begin(action, kind);
        let done = self.ask(action);
        self.settle(&lease, action, done.remote, action.ticket.as_ref());
    }

    fn sync(&self) -> Plan {
        let plan = self.plan(None);
        plan.actions.iter().for_each(|action| self.execute(action));
        plan
    }
}

#[test]
fn artifacts_without_an_id_are_asked_to_be_tracked() {
    let project = Project::new();
    let plan = project.sync();
    assert_eq!(plan.counts(), [(ActionKind::Create, 1)], "the story has an id of its own");
    let told = |word: &str| {
        let tells =
            |remark: &&Remark| matches!(remark, Remark::LeftOut { reason, .. } if reason.contains(word));
        plan.remarks.iter().filter(tells).count()
    };
    assert_eq!((told("stepmark track"), told("stepmark check"), plan.remarks.len()), (5, 1, 6));
}

#[test]
fn tickets_follow_artifacts_and_nothing_else() {
    let project = Project::new();
    let count = project.track_all();
    assert!(count >= 3, "{count}");
    assert_eq!(project.sync().counts(), [(ActionKind::Create, count)]);
    assert_eq!(project.created(), count);
    let own_file = format!("### Files\n\n- `{PRD}`");
    let prd = project.survey().into_iter().find(|ticket| ticket.body.contains(&own_file)).unwrap();
    assert!(prd.body.contains("- [x] 1 · Init"), "{}", prd.body);
    assert!(prd.body.contains("- [ ] 12 · Complete"), "{}", prd.body);

    let before = fs::metadata(project.path("out/tickets.jsonl")).unwrap().modified().unwrap();
    let again = project.sync();
    assert_eq!((again.actions.len(), again.unchanged), (0, count));
    assert_eq!(fs::metadata(project.path("out/tickets.jsonl")).unwrap().modified().unwrap(), before);

    project.edit(PRD, "---\n", "---\nscope: large\n");
    let plan = project.sync();
    assert_eq!(plan.counts(), [(ActionKind::Update, 1)]);
    let fields: Vec<_> = plan.actions[0].differences.iter().map(|told| told.field.as_str()).collect();
    assert_eq!(fields, ["body", "labels"]);

    fs::remove_file(project.path(PRD)).unwrap();
    project.edit(RESEARCH, "Lending in cities", "'Lending' in cities");
    let plan = project.sync();
    assert!(
        plan.actions.is_empty(),
        "while one artifact cannot be read, no ticket is closed: {:?}",
        plan.actions
    );
    project.edit(RESEARCH, "'Lending' in cities", "Lending in cities");
    assert_eq!(project.sync().counts(), [(ActionKind::Prune, 1)]);
    assert!(project.sync().actions.is_empty());
    assert_eq!(project.created(), count, "no second ticket");
}

#[test]
fn a_lost_ledger_is_found_again_by_markers() {
    let project = Project::new();
    let count = project.track_all();
    project.sync();
    fs::remove_dir_all(project.path(".stepmark/local")).unwrap();
    assert!(project.plan(None).needs_survey);
    let plan = project.plan(Some(&project.survey()));
    assert_eq!(plan.counts(), [(ActionKind::Adopt, count)]);
    assert!(plan.actions.iter().all(|action| action.differences.is_empty()));
    plan.actions.iter().for_each(|action| project.execute(action));
    assert_eq!(project.sync().counts(), [(ActionKind::Update, count)], "what was found is written once");
    assert!(project.sync().actions.is_empty());
    assert_eq!(project.created(), count, "no second ticket");
}

#[test]
fn a_creation_that_nobody_acknowledged_is_not_made_again() {
    for the_tracker_did_it in [true, false] {
        let project = Project::new();
        let count = project.track_all();
        let first = project.plan(None).actions.remove(0);
        project.begin(&first, IntentAction::Create);
        if the_tracker_did_it {
            project.ask(&first);
        }
        // The process dies here. The next one does not create: it looks.
        let plan = project.plan(None);
        assert_eq!(plan.counts(), [(ActionKind::LookUp, 1), (ActionKind::Create, count - 1)]);
        let survey = project.survey();
        let plan = project.plan(Some(&survey));
        let action = plan.actions.iter().find(|action| action.marker == first.marker).unwrap();
        match the_tracker_did_it {
            true => assert_eq!(action.kind, ActionKind::Adopt),
            // A file shows at once what it holds, so that it is not there is certain.
            false => assert_eq!(action.kind, ActionKind::LookUp),
        }
        plan.actions.iter().for_each(|action| project.execute(action));
        project.sync();
        assert!(project.sync().actions.is_empty());
        assert_eq!(project.created(), count, "one ticket an artifact");
    }
}
