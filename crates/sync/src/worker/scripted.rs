//! A tracker in memory that fails as it is told to, a clock that a test runs, and a project between them.

use std::{
    collections::{BTreeMap, VecDeque},
    future::poll_fn,
    path::Path,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    task::Poll,
    time::Duration,
};

use jiff::Timestamp;

use super::{Report, Worker, WorkerClock, WorkerSettings};
use crate::{
    BoxFuture, Error, ErrorKind, Result, TrackerName,
    breaker::{Failure, Reason, Route},
    configuration::{SyncConfiguration, TrackerSettings},
    ledger::{Ledger, LedgerReader, LedgerWriter, SqliteLedger, TrackerRecord},
    moment,
    pace::Cost,
    plan::{Plan, PlanInputs, Survey},
    retry::{Chance, Jitter},
    ticket::{
        Differences, FieldDifference, Marker, Observed, RemoteTicket, Snapshot, Ticket, TicketFacts,
        sample::{facts, observed},
    },
    tracker::{
        Answer, Change, Condition, Creation, Cursor, Delivered, Listing, Outcome, Page, Reply, RequestKind,
        Tracker,
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    Refused(Reason),
    /// It is not done, and no answer is read.
    LostBefore,
    /// It is done, and no answer is read.
    LostAfter,
    /// The first ticket of it is refused, the others are done.
    First(Reason),
    NoLabels,
}

#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) ticket: Ticket,
    pub(crate) parent: Option<String>,
    pub(crate) made_at: Timestamp,
    pub(crate) people: People,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct People {
    pub(crate) wrote: bool,
    pub(crate) took_marker: bool,
}

impl Kept {
    fn marker(&self) -> Option<Marker> {
        (!self.people.took_marker).then(|| self.ticket.marker.clone())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) tickets: BTreeMap<u32, Kept>,
    pub(crate) faults: VecDeque<Fault>,
    /// The sizes of the requests that were made, by kind.
    pub(crate) requests: Vec<(RequestKind, usize)>,
    last: u32,
    pub(crate) target: String,
    pub(crate) refuses: Option<Reason>,
}

/// A tracker in memory. Its list lags behind for `lag_ms`.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedTracker {
    name: TrackerName,
    pub(crate) content: Arc<Mutex<Content>>,
    clock: TestClock,
    pub(crate) lag_ms: u64,
    pub(crate) size: usize,
    pub(crate) credential: &'static str,
}

/// The clock of tokio, which stands still but for waits, as a clock of the day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestClock {
    began: tokio::time::Instant,
    /// The time by which it is ahead of the tracker's, in milliseconds.
    pub(crate) ahead_ms: u64,
}

impl WorkerClock for TestClock {
    fn now(&self) -> Timestamp {
        let passed = u64::try_from(self.began.elapsed().as_millis()).unwrap();
        moment::after(moment::at(1_700_000_000_000), passed + self.ahead_ms)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            tokio::time::sleep(duration).await;
        })
    }
}

fn remote(number: u32) -> RemoteTicket {
    let (id, key) = (number.to_string(), format!("#{number}"));
    RemoteTicket { id, key, url: String::new(), other_ids: BTreeMap::new() }
}

impl Content {
    pub(crate) fn put(&mut self, number: u32, kept: Kept) {
        self.last = self.last.max(number);
        self.tickets.insert(number, kept);
    }
}

impl ScriptedTracker {
    pub(crate) fn sibling(&self) -> Self {
        let content = Content { target: "other".to_owned(), ..Content::default() };
        Self { content: Arc::new(Mutex::new(content)), ..self.clone() }
    }

    pub(crate) fn content<T>(&self, work: impl FnOnce(&mut Content) -> T) -> T {
        work(&mut self.content.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn begin(&self, kind: RequestKind, size: usize) -> Fault {
        self.content(|content| {
            content.requests.push((kind, size));
            let is_write = matches!(kind, RequestKind::Create | RequestKind::Update);
            let refused = content.refuses.filter(|_| is_write).map_or(Fault::None, Fault::Refused);
            content.faults.pop_front().unwrap_or(refused)
        })
    }

    /// A request that reads, about no ticket by itself.
    fn reads(&self, kind: RequestKind) -> Result<(), Failure> {
        match self.begin(kind, 0) {
            Fault::None | Fault::NoLabels => Ok(()),
            Fault::Refused(reason) | Fault::First(reason) => Err(Failure::new(reason, "as told")),
            Fault::LostBefore | Fault::LostAfter => Err(Failure::new(Reason::Timeout, "no answer")),
        }
    }

    pub(crate) fn of(&self, id: &str) -> Vec<(u32, Kept)> {
        let marker = crate::ticket::sample::marker(id);
        self.content(|content| {
            let own = content.tickets.iter().filter(|(_, kept)| kept.ticket.marker == marker);
            own.map(|(number, kept)| (*number, kept.clone())).collect()
        })
    }

    async fn deliver(&self, kind: RequestKind, wanted: Vec<Wanted>) -> Answer<Delivered> {
        // A request takes a moment, in which whoever made it may die.
        tokio::task::yield_now().await;
        let fault = self.begin(kind, wanted.len());
        let timeout = || Failure::new(Reason::Timeout, "no answer");
        let failed = |reason| Outcome::Failed(Failure::new(reason, "as told"));
        let outcomes = wanted.into_iter().enumerate().map(|(at, wanted)| match fault {
            Fault::Refused(reason) => failed(reason),
            Fault::First(reason) if at == 0 => failed(reason),
            Fault::LostBefore => Outcome::InDoubt(timeout()),
            _ => {
                let outcome = self.keep(wanted, fault == Fault::NoLabels);
                if fault == Fault::LostAfter { Outcome::InDoubt(timeout()) } else { outcome }
            }
        });
        let answer = Answer::of(outcomes.collect());
        tokio::task::yield_now().await;
        answer
    }

    fn keep(&self, (known, ticket, parent): Wanted, loses_labels: bool) -> Outcome<Delivered> {
        let now = self.clock.now();
        self.content(|content| {
            let number = match known {
                Some((known, condition)) => {
                    let number = known.id.parse().unwrap();
                    if let Some(kept) = content.tickets.get(&number) {
                        let current = Observed { marker: ticket.marker.clone(), ..seen(number, kept) };
                        let markers: Vec<Marker> = kept.marker().into_iter().collect();
                        if let Some(failure) = condition.refusal(&markers, &current) {
                            return Outcome::Failed(failure);
                        }
                    }
                    number
                }
                None => {
                    content.last += 1;
                    content.last
                }
            };
            let before = content.tickets.get(&number);
            let (made_at, people) =
                before.map_or((now, People::default()), |kept| (kept.made_at, kept.people));
            let people = People { took_marker: false, ..people };
            let parent = parent.map(|parent| parent.id);
            content.tickets.insert(number, Kept { ticket, parent, made_at, people });
            let label = || FieldDifference::between("labels", serde_json::Value::Null, "x".into());
            let missing = loses_labels.then(label).flatten().into_iter().collect();
            Outcome::Done(Delivered { remote: remote(number), missing, is_overwritten: false })
        })
    }
}

type Wanted = (Option<(RemoteTicket, Condition)>, Ticket, Option<RemoteTicket>);

impl Tracker for ScriptedTracker {
    fn name(&self) -> &TrackerName {
        &self.name
    }

    fn list_lags(&self) -> bool {
        self.lag_ms > 0
    }

    fn credential_digest(&self) -> Option<&str> {
        Some(self.credential)
    }

    fn batch(&self, _: RequestKind) -> usize {
        self.size
    }

    fn route(&self, kind: RequestKind, tickets: &[Marker]) -> Route {
        Route::new(&self.name, ("h".to_owned(), "c"), &format!("{kind:?}"), tickets)
    }

    fn cost(&self, kind: RequestKind, tickets: usize) -> Cost {
        match kind {
            RequestKind::Create => Cost::create(u32::try_from(tickets).unwrap()),
            RequestKind::Update => Cost::WRITE,
            RequestKind::Read | RequestKind::List | RequestKind::Target => Cost::READ,
        }
    }

    fn compare(&self, desired: &Ticket, before: Option<&Ticket>, observed: &Observed) -> Differences {
        observed.markdown_differences(desired, before, 65_536)
    }

    fn target(&self) -> Reply<'_, String> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.reads(RequestKind::Target)?;
            Ok(self.content(|content| content.target.clone()))
        })
    }

    fn create<'t>(&'t self, creations: &'t [Creation]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async move {
            let wanted = creations.iter().map(|new| (None, new.ticket.clone(), new.parent.clone()));
            self.deliver(RequestKind::Create, wanted.collect()).await
        })
    }

    fn update<'t>(&'t self, changes: &'t [Change]) -> BoxFuture<'t, Answer<Delivered>> {
        Box::pin(async move {
            let wanted = changes.iter().map(|change| {
                (
                    Some((change.remote.clone(), change.condition)),
                    change.desired.clone(),
                    change.parent.clone(),
                )
            });
            self.deliver(RequestKind::Update, wanted.collect()).await
        })
    }

    fn read<'t>(&'t self, tickets: &'t [RemoteTicket]) -> BoxFuture<'t, Answer<Option<Observed>>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let fault = self.begin(RequestKind::Read, tickets.len());
            Answer::of(self.content(|content| {
                let outcomes = tickets.iter().map(|remote| match fault {
                    Fault::None | Fault::NoLabels => {
                        let number: u32 = remote.id.parse().unwrap();
                        let kept = content.tickets.get(&number).filter(|kept| kept.marker().is_some());
                        Outcome::Done(kept.map(|kept| seen(number, kept)))
                    }
                    _ => Outcome::Failed(Failure::new(Reason::ServerError, "as told")),
                });
                outcomes.collect()
            }))
        })
    }

    fn list<'t>(&'t self, project: &'t str, _: Option<&'t Cursor>, _: Listing) -> Reply<'t, Page> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let now = self.clock.now();
            self.reads(RequestKind::List)?;
            let tickets = self.content(|content| {
                let listed = content.tickets.iter().filter(|(_, kept)| {
                    kept.marker().is_some_and(|marker| marker.project() == project)
                        && (self.lag_ms == 0 || moment::after(kept.made_at, self.lag_ms) < now)
                });
                listed.map(|(number, kept)| seen(*number, kept)).collect()
            });
            Ok(Page { tickets, unmarked: Vec::new(), next: None, budget: None })
        })
    }
}

fn seen(number: u32, kept: &Kept) -> Observed {
    let is_untouched = !kept.people.wrote;
    Observed {
        created_at: kept.made_at,
        is_untouched,
        parent_id: kept.parent.clone(),
        stamp: kept.ticket.stamp.clone(),
        ..observed(&kept.ticket, number)
    }
}

/// Polls `future` so many times; where it has not ended by then, whoever ran it may be taken for dead.
pub(crate) async fn poll_times<F: Future>(mut future: Pin<&mut F>, times: usize) -> Option<F::Output> {
    for _ in 0..times {
        match poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await {
            Poll::Ready(output) => return Some(output),
            Poll::Pending => tokio::task::yield_now().await,
        }
    }
    None
}

/// A ledger in memory. Its clones share what it holds, as processes share a file.
#[derive(Debug)]
pub(crate) struct SharedLedger(String, Mutex<SqliteLedger>);

static LEDGERS: AtomicU32 = AtomicU32::new(0);

impl Default for SharedLedger {
    fn default() -> Self {
        Self::named(format!(
            "file:ledger-{}?mode=memory&cache=shared",
            LEDGERS.fetch_add(1, Ordering::Relaxed)
        ))
    }
}

impl Clone for SharedLedger {
    fn clone(&self) -> Self {
        Self::named(self.0.clone())
    }
}

impl SharedLedger {
    fn named(name: String) -> Self {
        let ledger = SqliteLedger::of_memory(&name).unwrap();
        Self(name, Mutex::new(ledger))
    }
}

impl Ledger for SharedLedger {
    fn read(&mut self) -> Result<Box<dyn LedgerReader + '_>> {
        self.1.get_mut().unwrap().read()
    }

    fn write(&mut self) -> Result<Box<dyn LedgerWriter + '_>> {
        self.1.get_mut().unwrap().write()
    }
}

/// A ledger that fails once, after so many transactions.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlakyLedger {
    pub(crate) inner: SharedLedger,
    pub(crate) good: Arc<Mutex<Option<u32>>>,
}

impl Ledger for FlakyLedger {
    fn read(&mut self) -> Result<Box<dyn LedgerReader + '_>> {
        self.inner.read()
    }

    fn write(&mut self) -> Result<Box<dyn LedgerWriter + '_>> {
        let mut good = self.good.lock().unwrap();
        *good = match *good {
            Some(0) => {
                *good = None;
                return Err(Error::new(ErrorKind::Busy, "busy"));
            }
            left => left.map(|left| left - 1),
        };
        self.inner.write()
    }
}

pub(crate) struct World {
    pub(crate) artifacts: BTreeMap<String, TicketFacts>,
    pub(crate) tracker: ScriptedTracker,
    pub(crate) ledger: FlakyLedger,
    pub(crate) settings: TrackerSettings,
    pub(crate) clock: TestClock,
    chance: Mutex<u64>,
}

impl World {
    pub(crate) fn new(keys: &str, ids: &[&str]) -> Self {
        let mut world = Self::of(&format!("    kind: dry\n{keys}"));
        ids.iter().for_each(|id| world.add(id, None));
        world.know_target();
        world
    }

    /// A project without artifacts, whose tracker stands at `address`.
    pub(crate) fn at(address: &str, keys: &str) -> Self {
        Self::of(&format!("    kind: file\n    path: {address}\n{keys}"))
    }

    pub(crate) fn beside(&self) -> Self {
        Self {
            artifacts: self.artifacts.clone(),
            tracker: self.tracker.clone(),
            ledger: FlakyLedger::default(),
            settings: self.settings.clone(),
            clock: self.clock,
            chance: Mutex::new(self.chance.lock().unwrap().wrapping_add(2)),
        }
    }

    fn of(keys: &str) -> Self {
        let yaml = format!("trackers:\n  fake:\n{keys}");
        let configuration = SyncConfiguration::read(Path::new("c.yaml"), yaml.as_bytes()).unwrap().unwrap();
        let settings = configuration.trackers[0].clone();
        let clock = TestClock { began: tokio::time::Instant::now(), ahead_ms: 0 };
        let (name, content) = (settings.name.clone(), Arc::default());
        let tracker = ScriptedTracker { name, content, clock, lag_ms: 0, size: 3, credential: "one" };
        Self {
            artifacts: BTreeMap::new(),
            tracker,
            ledger: FlakyLedger::default(),
            settings,
            clock,
            chance: Mutex::new(7),
        }
    }

    /// Has the ledger know which target the tracker is, so that it is not asked.
    fn know_target(&mut self) {
        let [target, address] = [Some(String::new()), Some(self.settings.target.address())];
        let record =
            TrackerRecord { target, address, asked_at: Some(self.clock.now()), ..Default::default() };
        let mut transaction = self.ledger.inner.write().unwrap();
        transaction.put_record(&self.settings.name, &record).unwrap();
        transaction.commit().unwrap();
    }

    pub(crate) fn add(&mut self, id: &str, parent: Option<&str>) {
        let parent_id = parent.map(str::to_owned);
        self.artifacts.insert(id.to_owned(), TicketFacts { parent_id, ..facts(id) });
    }

    pub(crate) fn faults(&self, faults: &[Fault]) {
        self.tracker.content(|content| content.faults = faults.iter().copied().collect());
    }

    /// The requests since the last call.
    pub(crate) fn take_requests(&self) -> Vec<(RequestKind, usize)> {
        self.tracker.content(|content| std::mem::take(&mut content.requests))
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::of_facts("p", self.artifacts.values().cloned())
    }

    pub(crate) fn plan(&self, survey: Option<&[Observed]>) -> Plan {
        let snapshot = self.snapshot();
        let compare = |desired: &Ticket, before: Option<&Ticket>, observed: &Observed| {
            self.tracker.compare(desired, before, observed).unwrap()
        };
        let survey = survey.map(|tickets| Survey { tickets, compare: &compare });
        let mut ledger = self.ledger.inner.clone();
        let ledger = ledger.read().unwrap();
        let settings = &self.settings;
        Plan::make(&PlanInputs { snapshot: &snapshot, settings, ledger: &*ledger, survey }).unwrap()
    }

    /// Carries out `plan`, as `holder`, who waits for `patience_ms` at most.
    pub(crate) async fn apply(&self, plan: &Plan, (holder, patience_ms): (&str, u64)) -> Result<Report> {
        let mut ledger = self.ledger.clone();
        let mut draw = || {
            let mut chance = self.chance.lock().unwrap();
            *chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Jitter(*chance)
        };
        let who = (holder, &mut draw as &mut Chance<'_>);
        let worker = Worker::new(&mut ledger, (&self.tracker, &self.settings), &self.clock, "p", who);
        worker.with(WorkerSettings { lease_ms: 60_000, patience_ms }).apply(plan).await
    }

    pub(crate) async fn sync(&self) -> Report {
        self.apply(&self.plan(None), ("a", 0)).await.unwrap()
    }

    pub(crate) async fn pass(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
}
