//! The state of a tracker, as the ledger of sync says; the tracker itself is not asked.

use std::{cmp::Reverse, collections::HashSet};

use jiff::Timestamp;
use stepmark_memory::{
    Memory, MemoryError, MemoryKind, MemoryRecord, NodeKind, draft::TOLD, store::Neighbourhood,
};
use stepmark_model::{
    artifact::{ProjectPath, natural_order},
    flows::FlowState,
    journal::Event,
    spelling::with_causes,
};
use stepmark_store::{
    asdd::{Asdd, AsddStatus},
    checking::Summaries,
    disk::StateFolder,
    flows::Flows,
    workspace::Workspace,
};
use stepmark_sync::{
    configuration::{SyncConfiguration, Target, TrackerSettings},
    ledger::{LEDGER_FILE, Ledger, LedgerReader, SqliteLedger},
    plan::{Plan, PlanInputs},
    run::leader_lease_name,
    ticket::{Marker, Snapshot},
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackerState {
    pub name: String,
    pub place: String,
    pub tickets: Vec<TicketLink>,
    /// The number of actions that are to be done, by their kind, in the order in which they are done.
    pub queue: Vec<(&'static str, usize)>,
    /// Artifacts whose ticket could not be delivered.
    pub deliveries: Vec<DeliveryState>,
    /// The number of requests that were begun and of which nobody knows the outcome.
    pub in_doubt: usize,
    pub breakers: Vec<BreakerState>,
    /// The time at which the tracker was last looked through.
    pub listed_at: Option<Timestamp>,
    pub leader: Option<LeaderState>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketLink {
    /// The artifact; `None` where it is gone.
    pub path: Option<ProjectPath>,
    pub key: String,
    pub url: String,
    /// Set where it says what it should.
    pub is_in_step: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryState {
    /// The path of the artifact; its marker where it is gone.
    pub name: String,
    pub attempts: u32,
    /// The time at which it is tried again; `None` where a person has to do something.
    pub until: Option<Timestamp>,
    pub why: String,
}

/// A breaker that lets nothing pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakerState {
    pub scope: String,
    pub since: Timestamp,
    pub until: Timestamp,
    pub why: String,
    pub remedy: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderState {
    pub holder: String,
    /// Until when it leads, unless it renews.
    pub until: Timestamp,
}

impl TrackerState {
    /// The state of every configured tracker; the error says why it cannot be told.
    pub(super) fn read_all(workspace: &Workspace, summaries: &Summaries<'_>) -> Result<Vec<Self>, String> {
        let configuration =
            SyncConfiguration::of(workspace.configuration()).map_err(|error| with_causes(&error))?;
        if configuration.trackers.is_empty() {
            return Ok(Vec::new());
        }
        let folder =
            workspace.root().state().folder(StateFolder::Sync).map_err(|error| with_causes(&error))?;
        let mut ledger =
            SqliteLedger::open_to_look(&folder.join(LEDGER_FILE)).map_err(|error| with_causes(&error))?;
        let project = workspace.configuration().project_id.as_deref().unwrap_or_default();
        let snapshot = Snapshot::of(project, summaries);
        let read = |ledger: &dyn LedgerReader| {
            let states = configuration.trackers.iter();
            states.map(|settings| Self::read(ledger, settings, &snapshot, workspace.now())).collect()
        };
        ledger.read().and_then(|ledger| read(&*ledger)).map_err(|error| with_causes(&error))
    }

    fn read(
        ledger: &dyn LedgerReader,
        settings: &TrackerSettings,
        snapshot: &Snapshot,
        now: Timestamp,
    ) -> Result<Self, stepmark_sync::Error> {
        let name = &settings.name;
        let plan = Plan::make(&PlanInputs { snapshot, settings, ledger, survey: None })?;
        let path_of = |marker: &Marker| snapshot.get(marker).map(|entry| entry.path.clone());
        let to_do = |marker: &Marker| plan.actions.iter().any(|action| action.marker == *marker);
        let mut tickets: Vec<TicketLink> = ledger
            .links(name)?
            .into_iter()
            .map(|link| TicketLink {
                path: path_of(&link.marker),
                is_in_step: !to_do(&link.marker),
                key: link.remote.key,
                url: link.remote.url,
            })
            .collect();
        tickets.sort_by(|one, other| {
            let path =
                |ticket: &TicketLink| ticket.path.as_ref().map(ToString::to_string).unwrap_or_default();
            natural_order(&path(one), &path(other)).then_with(|| natural_order(&one.key, &other.key))
        });
        let deliveries = ledger.deliveries(name)?;
        let failed = deliveries.iter().filter_map(|(marker, delivery)| {
            let last = delivery.last()?;
            Some(DeliveryState {
                name: path_of(marker).map_or_else(|| marker.to_string(), |path| path.to_string()),
                attempts: delivery.attempts(),
                until: delivery.until(),
                why: format!("{}: {}", last.reason, last.detail),
            })
        });
        let breakers = ledger.breakers()?;
        let open = breakers.iter().filter_map(|(scope, breaker)| {
            let outage = breaker.outage()?;
            Some(BreakerState {
                scope: scope.to_string(),
                since: outage.since,
                until: outage.until,
                why: format!("{}: {}", outage.cause.reason, outage.cause.detail),
                remedy: outage.cause.reason.remedy().map(str::to_owned),
            })
        });
        let leader = ledger.lease(&leader_lease_name(name))?.filter(|lease| lease.is_kept(now));
        Ok(Self {
            name: name.to_string(),
            place: place_of(&settings.target),
            queue: plan.counts().iter().map(|(kind, count)| (kind.name(), *count)).collect(),
            deliveries: failed.collect(),
            in_doubt: ledger.intents(name)?.len(),
            breakers: open.collect(),
            listed_at: ledger.record(name)?.listed_at,
            leader: leader.map(|lease| LeaderState { holder: lease.holder, until: lease.until }),
            tickets,
        })
    }
}

fn place_of(target: &Target) -> String {
    match target {
        Target::Github { repository, .. } => format!("GitHub {repository}"),
        Target::Jira { base_url, project, .. } => format!("Jira {project} at {base_url}"),
        Target::File { path } => format!("file {path}"),
        Target::Dry => "nowhere (dry)".to_owned(),
    }
}

const DECISIONS: usize = 100;
const OTHERS: usize = 20;
const GRAPHS: usize = 20;
const NODES: usize = 60;

#[derive(Clone, Debug)]
pub struct ObservedMemory {
    /// The kinds of which there are records: decisions first.
    pub kinds: Vec<RememberedKind>,
    pub graphs: Vec<Neighbourhood>,
    /// The number of artifacts that the records above are about and that have no graph here.
    pub more_artifacts: usize,
}

#[derive(Clone, Debug)]
pub struct RememberedKind {
    pub kind: MemoryKind,
    /// The newest, each with the ids of those that took its place.
    pub newest: Vec<(MemoryRecord, Vec<String>)>,
    pub total: usize,
}

impl ObservedMemory {
    /// Returns whether something is remembered in a project that uses memory: its configuration says so, it
    /// was asked before, or one of its latest `events` was told to it. Another project pays nothing. Memory
    /// that cannot be read is there: its page says why.
    pub(super) fn is_there(workspace: &Workspace, events: &[Event]) -> bool {
        let is_used = workspace.configuration().uses_memory()
            || Memory::is_there(workspace)
            || events.iter().any(|event| event.kind.as_str() == TOLD);
        is_used && !Memory::open(workspace).and_then(|memory| memory.is_empty()).unwrap_or(false)
    }

    pub fn read(workspace: &Workspace) -> Result<Self, MemoryError> {
        let memory = Memory::open(workspace)?;
        let mut kinds = Vec::new();
        for kind in MemoryKind::all() {
            let most = if kind == MemoryKind::Decision { DECISIONS } else { OTHERS };
            let newest = memory.newest_of(kind, most)?;
            if !newest.is_empty() {
                kinds.push(RememberedKind { kind, newest, total: memory.count_of(kind)? });
            }
        }
        let names = artifacts(&kinds);
        let graphs =
            names.iter().take(GRAPHS).map(|name| around(&memory, name)).filter_map(Result::transpose);
        let graphs = graphs.collect::<Result<Vec<_>, _>>()?;
        let more_artifacts = names.len().saturating_sub(GRAPHS);
        Ok(Self { kinds, graphs, more_artifacts })
    }
}

fn artifacts(kinds: &[RememberedKind]) -> Vec<&str> {
    let records = kinds.iter().flat_map(|kind| &kind.newest).map(|(record, _)| record);
    let mut records: Vec<&MemoryRecord> = records.filter(|record| record.source.artifact.is_some()).collect();
    records.sort_by_key(|record| Reverse((record.created_at, &record.id)));
    let names = records.iter().filter_map(|record| {
        let source = &record.source;
        source.key.as_deref().or(source.artifact.as_deref())
    });
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// Also the nodes beside the memories among them; `None` where memory does not know it.
fn around(memory: &Memory, name: &str) -> Result<Option<Neighbourhood>, MemoryError> {
    let mut found = match memory.neighbourhood(name, 2) {
        Err(MemoryError::NoNode { .. }) => return Ok(None),
        found => found?,
    };
    let near = found.nodes.iter().filter(|(node, _, steps)| *steps < 2 && node.kind == NodeKind::Memory);
    let near: HashSet<_> = near.map(|(node, ..)| node.clone()).collect();
    let ends = found.edges.iter().flat_map(|edge| [(&edge.from, &edge.to), (&edge.to, &edge.from)]);
    let beside: HashSet<_> =
        ends.filter(|(_, other)| near.contains(other)).map(|(one, _)| one.clone()).collect();
    found.nodes.retain(|(node, _, steps)| *steps < 2 || beside.contains(node));
    found.is_cut |= found.nodes.len() > NODES;
    found.nodes.truncate(NODES);
    let kept: HashSet<_> = found.nodes.iter().map(|(node, ..)| node).collect();
    found.edges.retain(|edge| kept.contains(&edge.from) && kept.contains(&edge.to));
    Ok(Some(found))
}

/// Shown whole. A record that cannot be read is left out: the findings tell of it.
#[derive(Clone, Debug, Default)]
pub struct ObservedSystems {
    /// The flows, in the order of their ids.
    pub flows: Vec<ObservedFlow>,
    pub asdd: Option<ObservedSlices>,
}

#[derive(Clone, Debug)]
pub struct ObservedFlow {
    pub path: ProjectPath,
    /// The artifacts of its executions, in the order of the tasks of the graph.
    pub task_paths: Vec<ProjectPath>,
    pub state: FlowState,
}

/// The slices of ASDD, and where their records stand.
#[derive(Clone, Debug)]
pub struct ObservedSlices {
    /// The artifacts of the slices, in their order.
    pub paths: Vec<ProjectPath>,
    /// The records, as `stepmark asdd status` shows them.
    pub status: AsddStatus,
}

impl ObservedSystems {
    pub(super) fn of(workspace: &Workspace) -> Self {
        let flows = workspace.flows();
        let seen = flows.iter().flat_map(|flows| flows.ids().into_iter().filter_map(|id| flow(flows, &id)));
        Self { flows: seen.collect(), asdd: workspace.asdd().and_then(|asdd| slices(&asdd)) }
    }
}

fn flow(flows: &Flows<'_>, id: &str) -> Option<ObservedFlow> {
    let state = flows.state(id).ok()?;
    let paths = state.graph.tasks.iter().map(|task| flows.task_path(id, &task.id).ok());
    Some(ObservedFlow { path: flows.flow_path(id).ok()?, task_paths: paths.collect::<Option<_>>()?, state })
}

fn slices(asdd: &Asdd<'_>) -> Option<ObservedSlices> {
    let status = asdd.status().ok()?;
    let path = |slice: &stepmark_model::asdd::Record| asdd.path_of(slice.kind, &slice.id).ok();
    Some(ObservedSlices { paths: status.state.slices.iter().map(path).collect::<Option<_>>()?, status })
}
