//! The state of a tracker, as the ledger of sync says; the tracker itself is not asked.

use jiff::Timestamp;
use stepmark_model::artifact::{ProjectPath, natural_order};
use stepmark_model::spelling::with_causes;
use stepmark_store::{checking::Summaries, disk::StateFolder, workspace::Workspace};
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
    /// The tickets of artifacts, in the order of the paths.
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
    /// The state of every tracker that the configuration names; why not, where configuration or ledger cannot
    /// be read.
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
    ) -> Result<Self, stepmark_sync::ledger::LedgerError> {
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
