//! `stepmark memory status` and `rebuild`, and the stores of the configuration, with the ledger of what they
//! were given.

use std::collections::BTreeMap;

use super::open;
use crate::{
    commands::sharing::sync::ledger_to_read,
    exit::{Exit, Failure},
    output::{Output, spinner, wire::Open},
    project::Project,
};
use stepmark_memory::{
    Memory,
    context::plain,
    delivery::{Due, StoreState, state_of},
    store::Counts,
    target::{KuzuMemory, Ladybug, Target, Unit},
};
use stepmark_store::{
    configuration::{MemoryStoreKind, MemoryStoreSettings, Track},
    disk::StateFolder,
    workspace::Workspace,
};
use stepmark_sync::TrackerName;

pub(super) fn status(project: &Project, output: &Output) -> Result<Exit, Failure> {
    let memory = open(project)?;
    let stores = Store::all(&project.workspace, None, &memory)?;
    let units = if stores.is_empty() { Vec::new() } else { memory.units()? };
    let states =
        stores.iter().map(|store| Ok((store.name.to_string(), store.state(&project.workspace, &units)?)));
    let states = states.collect::<Result<Vec<_>, Failure>>()?;
    told(memory.counts()?, &states, project, output)
}

pub(super) fn rebuild(project: &Project, output: &Output) -> Result<Exit, Failure> {
    told(Memory::rebuilt(&project.workspace)?.counts()?, &[], project, output)
}

fn told(
    counts: Counts,
    stores: &[(String, StoreState)],
    project: &Project,
    output: &Output,
) -> Result<Exit, Failure> {
    let track = project.workspace.configuration().memory.track;
    output.answer(|| Answer::Status {
        counts: Open(counts),
        track,
        stores: stores.iter().map(|(name, state)| (&**name, Open(state))).collect(),
    });
    let count = |number: u64, word| spinner::count(usize::try_from(number).unwrap_or(usize::MAX), word);
    output.line(format_args!(
        "{} ({} superseded), {}, {}; made of {}",
        count(counts.memories, "record"),
        counts.superseded,
        count(counts.nodes, "node"),
        count(counts.edges, "edge"),
        count(counts.events, "event"),
    ));
    stores.iter().for_each(|(name, state)| output.line(line(name, state)));
    Ok(Exit::Fine)
}

answers! { Answer<'a>
    /// `memory status`, `rebuild`: how much is remembered, where what is told is kept, and what other stores
    /// lack
    "stepmark.memory-status/1" Status {
        counts: Open<Counts>, track: Track, stores: BTreeMap<&'a str, Open<&'a StoreState>>,
    }
}

const MOST: usize = 5;

fn line(name: &str, state: &StoreState) -> String {
    let mut line = format!("{name}  {} of {} given", state.held, spinner::count(state.units, "unit"));
    if let Some(until) = state.open_until {
        line.push_str(&format!(", left alone until {until:.0}"));
    }
    if let Some(failure) = &state.failure {
        line.push_str(&format!("\n    failed last: {}", plain(failure, 300)));
    }
    for behind in state.behind.iter().take(MOST) {
        let when = match (behind.is_parked, behind.until, behind.attempts) {
            (true, ..) => format!(", tried {} times, no more", behind.attempts),
            (_, Some(until), _) => format!(", tried again from {until:.0} on"),
            (_, None, _) => String::new(),
        };
        let why =
            behind.failure.as_deref().map(|failure| format!(": {}", plain(failure, 200))).unwrap_or_default();
        line.push_str(&format!("\n    lacks {:.8}  {}{when}{why}", behind.key, plain(&behind.label, 60)));
    }
    if state.behind.len() > MOST {
        line.push_str(&format!(
            "\n    and {} more: `stepmark memory sync` gives them",
            state.behind.len() - MOST
        ));
    }
    line
}

pub(super) const LEDGER: &str = "memory-stores.db";

pub(super) struct Store {
    pub(super) name: TrackerName,
    pub(super) target: Box<dyn Target>,
    due: Due,
}

impl Store {
    pub(super) fn all(
        workspace: &Workspace,
        wanted: Option<&str>,
        memory: &Memory,
    ) -> Result<Vec<Self>, Failure> {
        let stores = &workspace.configuration().memory.stores;
        let own = stores.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name));
        let own = own.map(|(name, settings)| Self::open(workspace, (name, settings), memory));
        let own = own.collect::<Result<Vec<_>, Failure>>()?;
        match (own.is_empty(), wanted) {
            (true, Some(wanted)) => Err(Failure::new(Exit::Usage, format!("no store of memory is called `{wanted}`"))
                .with_help("`memory.stores` in `.stepmark/config.yaml` names them: `stores: {kuzu: {kind: kuzu-memory}}`")),
            _ => Ok(own),
        }
    }

    fn open(
        workspace: &Workspace,
        (name, settings): (&str, &MemoryStoreSettings),
        memory: &Memory,
    ) -> Result<Self, Failure> {
        let name: TrackerName = name.parse().map_err(|error| Failure::from_error(Exit::Usage, &error))?;
        let cache = workspace.root().state().folder(StateFolder::Cache)?;
        let target: Box<dyn Target> = match settings.kind {
            MemoryStoreKind::KuzuMemory => Box::new(KuzuMemory::new(cache.join(name.as_str()))),
            MemoryStoreKind::Ladybug => Box::new(Ladybug::new(cache.join(format!("{name}.lbug")))),
        };
        let tiers = settings.tiers.iter().map(|tier| (*tier).into()).collect();
        let due = Due { tiers, milestone: memory.last_milestone()?, now: workspace.now() };
        Ok(Self { name, target, due })
    }

    pub(super) fn due<'u>(&self, units: &'u [Unit]) -> Vec<&'u Unit> {
        units.iter().filter(|unit| self.due.has_come(unit)).collect()
    }

    pub(super) fn state(&self, workspace: &Workspace, units: &[Unit]) -> Result<StoreState, Failure> {
        let mut ledger = ledger_to_read(workspace, LEDGER)?;
        let reader = ledger.read()?;
        Ok(state_of(&*reader, (&self.name, &*self.target), project_id(workspace), &self.due(units))?)
    }
}

pub(super) fn project_id(workspace: &Workspace) -> &str {
    workspace.configuration().project_id.as_deref().unwrap_or("project")
}

pub(super) fn store_failed(name: &str, failure: &stepmark_sync::breaker::Failure) -> Failure {
    Failure::new(Exit::Remote, format!("the store `{name}` cannot be asked: {}", failure.reason))
        .with_help(plain(&failure.detail, 400))
}
