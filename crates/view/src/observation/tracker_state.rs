//! The state of a tracker, from the sync database alone, without requests.

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
    /// Pending actions per kind, in the order of execution.
    pub queue: Vec<(&'static str, usize)>,
    pub deliveries: Vec<DeliveryState>,
    /// Requests with an unknown outcome.
    pub in_doubt: usize,
    pub breakers: Vec<BreakerState>,
    /// Of the last complete scan.
    pub listed_at: Option<Timestamp>,
    pub leader: Option<LeaderState>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketLink {
    pub path: Option<ProjectPath>,
    pub key: String,
    pub url: String,
    pub is_in_step: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryState {
    pub name: String,
    pub attempts: u32,
    /// The next attempt; `None` if a person has to act.
    pub until: Option<Timestamp>,
    pub why: String,
}

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
    /// Unless it renews.
    pub until: Timestamp,
}

impl TrackerState {
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
    /// Decisions first.
    pub kinds: Vec<RememberedKind>,
    pub graphs: Vec<Neighbourhood>,
    /// Artifacts of the records above without a graph here.
    pub more_artifacts: usize,
}

#[derive(Clone, Debug)]
pub struct RememberedKind {
    pub kind: MemoryKind,
    /// Newest, each with the ids of the records that replaced it.
    pub newest: Vec<(MemoryRecord, Vec<String>)>,
    pub total: usize,
}

impl ObservedMemory {
    /// Used memory: configured, queried before, or the target of one of the latest `events`. Other projects
    /// pay nothing. Unreadable memory counts: its page says why.
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

/// Includes the nodes beside memories; `None` if unknown.
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

/// Unreadable records are left out: the findings report them.
#[derive(Clone, Debug, Default)]
pub struct ObservedSystems {
    pub flows: Vec<ObservedFlow>,
    pub asdd: Option<ObservedSlices>,
}

#[derive(Clone, Debug)]
pub struct ObservedFlow {
    pub path: ProjectPath,
    /// Executions, in the order of the tasks.
    pub task_paths: Vec<ProjectPath>,
    pub state: FlowState,
}

#[derive(Clone, Debug)]
pub struct ObservedSlices {
    /// In the order of the slices.
    pub paths: Vec<ProjectPath>,
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
