//! A tracker that this crate does not know: the program opens it, with the settings that all trackers have,
//! and the worker keeps its tickets in step like all others. This one keeps its issues in memory; another
//! would ask a server.
//!
//! `cargo run -p stepmark-sync --example own_tracker -- PROJECT`

use std::{
    collections::BTreeMap,
    env,
    path::Path,
    sync::{Mutex, PoisonError},
};

use jiff::Timestamp;
use stepmark_store::workspace::{Clock, Workspace};
use stepmark_sync::{
    BoxFuture, TrackerName,
    breaker::{Failure, Reason, Route},
    configuration::SyncConfiguration,
    ledger::{Ledger, SqliteLedger},
    pace::Cost,
    plan::{Plan, PlanInputs},
    retry::{Chance, Jitter},
    ticket::{Differences, ManagedSection, Marker, Observed, RemoteTicket, Snapshot, Ticket},
    tracker::{
        Answer, Change, Creation, Cursor, Delivered, Listing, Outcome, Page, Reply, RequestKind, Tracker,
    },
    worker::{Report, WallClock, Worker, WorkerClock},
};

/// The part that a project would write into `.stepmark/config.yaml`.
const TRACKERS: &str = "trackers: {work: {kind: dry}}\n";

/// Its issues, in their order.
struct LinearTracker {
    name: TrackerName,
    team: String,
    issues: Mutex<Vec<Observed>>,
}

/// The number of characters that the text of an issue may have.
const BODY_LIMIT: usize = 65_536;

impl LinearTracker {
    fn issues<T>(&self, work: impl FnOnce(&mut Vec<Observed>) -> T) -> T {
        work(&mut self.issues.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The issue at `remote` as it should be.
    fn written(&self, remote: &RemoteTicket, ticket: &Ticket) -> Result<Observed, Failure> {
        let body = ManagedSection::of(ticket).alone(BODY_LIMIT);
        let body = body.map_err(|error| Failure::new(Reason::Invalid, &error.to_string()))?.body;
        Ok(Observed {
            remote: remote.clone(),
            marker: ticket.marker.clone(),
            created_at: Timestamp::UNIX_EPOCH,
            title: ticket.title.clone(),
            body,
            labels: ticket.labels.clone(),
            state: ticket.state,
            status: None,
            parent_id: None,
            fields: None,
            stamp: Default::default(),
            is_untouched: true,
        })
    }

    fn make(&self, ticket: &Ticket) -> Result<Delivered, Failure> {
        self.issues(|issues| {
            let key = format!("{}-{}", self.team, issues.len() + 1);
            let (id, url) = (issues.len().to_string(), format!("https://linear.example/{key}"));
            let remote = RemoteTicket { id, key, url, other_ids: BTreeMap::new() };
            issues.push(self.written(&remote, ticket)?);
            Ok(Delivered { remote, missing: Vec::new(), is_overwritten: false })
        })
    }

    fn change(&self, change: &Change) -> Result<Delivered, Failure> {
        let at: usize = change.remote.id.parse().unwrap_or(usize::MAX);
        self.issues(|issues| {
            let gone = || Failure::new(Reason::Gone, "there is no such issue");
            let issue = issues.get_mut(at).ok_or_else(gone)?;
            // Read in the same exchange: nothing is changed without its marker.
            if let Some(failure) = change.condition.refusal(std::slice::from_ref(&issue.marker), issue) {
                return Err(failure);
            }
            *issue = self.written(&change.remote, &change.desired)?;
            Ok(Delivered { remote: change.remote.clone(), missing: Vec::new(), is_overwritten: false })
        })
    }
}

fn outcome<T>(done: Result<T, Failure>) -> Outcome<T> {
    done.map_or_else(Outcome::Failed, Outcome::Done)
}

impl Tracker for LinearTracker {
    fn name(&self) -> &TrackerName {
        &self.name
    }

    fn batch(&self, _: RequestKind) -> usize {
        10
    }

    fn route(&self, kind: RequestKind, tickets: &[Marker]) -> Route {
        Route::new(&self.name, ("linear.example".to_owned(), "none"), kind.name(), tickets)
    }

    fn cost(&self, _: RequestKind, _: usize) -> Cost {
        Cost::READ
    }

    fn compare(&self, desired: &Ticket, before: Option<&Ticket>, observed: &Observed) -> Differences {
        observed.markdown_differences(desired, before, BODY_LIMIT)
    }

    fn target(&self) -> Reply<'_, String> {
        Box::pin(async { Ok(format!("linear {}", self.team)) })
    }

    fn create<'t>(&'t self, creations: &'t [Creation]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async {
            Answer::of(creations.iter().map(|creation| outcome(self.make(&creation.ticket))).collect())
        })
    }

    fn update<'t>(&'t self, changes: &'t [Change]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async { Answer::of(changes.iter().map(|change| outcome(self.change(change))).collect()) })
    }

    fn read<'t>(&'t self, tickets: &'t [RemoteTicket]) -> BoxFuture<'t, Answer<Option<Observed>>> {
        Box::pin(async {
            let issues = self.issues(|issues| issues.clone());
            let find = |remote: &RemoteTicket| issues.iter().find(|issue| issue.remote == *remote).cloned();
            Answer::of(tickets.iter().map(|remote| Outcome::Done(find(remote))).collect())
        })
    }

    fn list<'t>(&'t self, project: &'t str, _: Option<&'t Cursor>, _: Listing) -> Reply<'t, Page> {
        Box::pin(async move {
            let tickets = self.issues(|issues| issues.clone());
            let tickets = tickets.into_iter().filter(|issue| issue.marker.project() == project).collect();
            Ok(Page { tickets, unmarked: Vec::new(), next: None, budget: None })
        })
    }
}

/// Gives every artifact of the project at `root` a ticket, twice: nothing is left to do the second time.
async fn sync(root: &str) -> Result<[Report; 2], Box<dyn std::error::Error>> {
    let configuration = SyncConfiguration::read(Path::new("example"), TRACKERS.as_bytes())?;
    let configuration = configuration.ok_or("no tracker is configured")?;
    let settings = configuration.trackers.first().ok_or("no tracker is configured")?;
    let team = "ENG".to_owned();
    let issues = Mutex::default();
    let tracker: Box<dyn Tracker> = Box::new(LinearTracker { name: settings.name.clone(), team, issues });
    let clock: Box<dyn WorkerClock> = Box::new(WallClock(Clock::System));
    let snapshot = Snapshot::of("example", &Workspace::open(root)?.checks().summaries()?);
    let mut ledger = SqliteLedger::in_memory()?;
    let mut reports = [Report::default(), Report::default()];
    for report in &mut reports {
        let plan = Plan::make(&PlanInputs {
            snapshot: &snapshot,
            settings,
            ledger: &*ledger.read()?,
            survey: None,
        })?;
        let mut draw = || Jitter(0);
        let who = ("example", &mut draw as &mut Chance<'_>);
        let mut worker = Worker::new(&mut ledger, (&*tracker, settings), &*clock, "example", who);
        *report = worker.apply(&plan).await?;
    }
    Ok(reports)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let [first, _] = runtime.block_on(sync(&root))?;
    first.entries.iter().for_each(|entry| report(&format!("{}: {:?}", entry.marker, entry.outcome)));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example shows what it did")]
fn report(text: &str) {
    println!("{text}");
}

#[tokio::test]
async fn the_tickets_of_a_tracker_of_ones_own_are_kept_in_step() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/repos/demo");
    let [first, second] = sync(demo).await.unwrap();
    let keys: Vec<_> = first.entries.iter().map(|entry| format!("{:?}", entry.outcome)).collect();
    assert!(keys.len() == 1 && keys[0].contains("ENG-1"), "{keys:?}");
    assert_eq!((second.entries.len(), second.is_complete()), (0, true));
}
