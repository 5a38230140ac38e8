//! The stores of the configuration, with the ledger of what they were given.

use stepmark_memory::{
    Memory,
    context::plain,
    delivery::{Due, StoreState, state_of},
    target::{KuzuMemory, Ladybug, Target, Unit},
};
use stepmark_store::{
    configuration::{MemoryStoreKind, MemoryStoreSettings},
    disk::StateFolder,
    workspace::Workspace,
};
use stepmark_sync::TrackerName;

use crate::{
    commands::sharing::sync::ledger_to_read,
    exit::{Exit, Failure},
};

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
