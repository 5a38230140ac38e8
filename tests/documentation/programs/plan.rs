use stepmark_core::Workspace;
use stepmark_sync::{
    configuration::SyncConfiguration,
    ledger::{Ledger, SqliteLedger},
    plan::{PlanInputs, Plan},
    ticket::Snapshot,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace::open(".")?;
    let snapshot = Snapshot::of("my-project", &workspace.checks().summaries()?);
    let configuration = SyncConfiguration::of(workspace.configuration())?;
    let mut ledger = SqliteLedger::in_memory()?;
    let reader = ledger.read()?;
    for settings in &configuration.trackers {
        let plan = Plan::make(&PlanInputs { snapshot: &snapshot, settings, ledger: &*reader, survey: None })?;
        println!("{}: {} actions", settings.name, plan.actions.len());
    }
    Ok(())
}
